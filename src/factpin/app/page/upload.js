// Upload: files by button or by dropping them. The server reads them; the page shows the text the server read.

import { extractFile } from "./api.js";
import { byId, fill, make, openDialog, say } from "./dom.js";
import { word } from "./words.js";

/** Listen to the button, the file field and files dropped anywhere. */
export function startUpload(page) {
  const input = byId("file");
  byId("open").onclick = () => input.click();
  input.onchange = () => { if (input.files[0]) read(page, input.files[0]); input.value = ""; };
  let depth = 0;
  const show = (on) => document.body.classList.toggle("dropping", on);
  const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  addEventListener("dragenter", (event) => { if (holdsFiles(event)) { depth += 1; show(true); } });
  addEventListener("dragleave", () => { depth = Math.max(0, depth - 1); if (!depth) show(false); });
  addEventListener("dragover", (event) => holdsFiles(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    depth = 0;
    show(false);
    const { files } = event.dataTransfer;
    if (files[0]) read(page, files[0], files.length);
  });
}

/** Read one file and show its first text; say so if there are more of either. */
function read(page, file, files = 1) {
  page.openView("read");
  return page.busily(async (signal) => {
    const { docs, took } = await extractTable(file, page.options(), signal);
    if (docs.length) page.showDocument(docs[0], took, docs.length);
    const left = [files > 1 && word("one_file", { name: file.name }), !docs.length && word("no_text"), docs.length > 1 && word("first_of", { n: docs.length })].filter(Boolean);
    if (left.length) say(left.join(" "), docs.length ? "note" : "error");
  });
}

/** Read a file; of a table, ask for the column with the texts until there is such a one. */
async function extractTable(file, options, signal, column = "") {
  try {
    return await extractFile(file, options, signal, column);
  } catch (error) {
    const named = error.kind === "UnknownColumn" ? await askForColumn(error.message) : "";
    if (!named) throw error;
    return extractTable(file, options, signal, named);
  }
}

function askForColumn(message) {
  return new Promise((resolve) => {
    const dialog = byId("column");
    const input = make("input", { type: "text", id: "column-input", autocomplete: "off" });
    fill(dialog, make("h2", { id: "column-title" }, word("column_title")), make("p", { class: "note" }, message),
      make("form", { method: "dialog", class: "row", on: { submit: () => resolve(input.value.trim()) } }, make("label", { for: "column-input" }, word("column_label")), input, make("button", { class: "strong" }, "OK")));
    dialog.onclose = () => resolve("");
    openDialog(dialog);
  });
}
