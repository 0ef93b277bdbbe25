// Dom: elements made from names and text. Text is always set as text, never parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element: make("button", {class: "strong", on: {click: f}}, "Read"). Children are elements, strings, or lists of them. */
export function make(tag, given = {}, ...children) {
  return filled(document.createElement(tag), given, children);
}

/** The same in SVG. */
export function draw(tag, given = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), given, children);
}

function filled(element, given, children) {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, call] of Object.entries(value)) element.addEventListener(event, call);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "vars") for (const [key, v] of Object.entries(value)) element.style.setProperty(`--${key}`, v);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...flat(children));
  return element;
}

/** Children in nested lists as one list, without those that are missing. */
const flat = (children) => children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false);

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** Replace what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...flat(children));
  return element;
}

/** Say something for a short time, also to screen readers. */
export function say(message, kind = "note") {
  const toast = byId("toast");
  toast.dataset.kind = kind;
  toast.textContent = message;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (toast.textContent = ""), kind === "error" ? 9000 : 4000);
}

/** Open a dialog that closes by Escape, by its button and by a click beside it. */
export function openDialog(dialog) {
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close();
  };
  dialog.addEventListener("close", () => dialog.contains(document.activeElement) && document.activeElement.blur(), { once: true });
  if (!dialog.open) dialog.showModal();
}

/** Hand a file to the user. */
export function download(name, blob) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** Put text on the clipboard; false where the browser does not allow it. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
