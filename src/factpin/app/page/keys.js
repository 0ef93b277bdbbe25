// Keys: everything that the keyboard can do, and the list of it.

import { byId, fill, make, openDialog } from "./dom.js";
import { word } from "./words.js";

const LIST = [["Ctrl Enter", "key_read"], ["j k", "key_next"], ["Enter", "key_pin"], ["/", "key_filter"], ["g f  g e  g g  g v  g j", "key_tabs"], ["e", "key_correct"], ["1 … 9", "key_label"], ["Alt ← →", "key_border"],
  ["Del", "key_delete"], ["r", "key_link"], ["a x", "key_accept"], ["s", "key_status"], ["Ctrl Z  Ctrl Y", "key_undo"], ["q", "key_ask"], ["Esc", "key_escape"], ["?", "key_help"]];
const TABS = { f: "facts", t: "facts", e: "entities", g: "graph", v: "events", j: "json" };
let waiting = false; // after g

/** Listen to the keyboard. */
export function startKeys(page) {
  byId("help-button").onclick = () => showHelp();
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return letGo(page);
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && event.target.id === "write") return page.readText(event.target.value);
    if (document.querySelector("dialog[open]") || event.target.closest("input:not([type=range]), textarea, select, dialog[open]")) return;
    if (press(page, event)) event.preventDefault();
  });
  byId("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [...byId("tabs").children];
    const next = (tabs.indexOf(event.target) + step + tabs.length) % tabs.length;
    tabs[next].click();
    byId("tabs").children[next].focus();
  });
}

function press(page, event) {
  const { key } = event;
  const correct = page.store.get("mode") === "correct";
  if (event.ctrlKey || event.metaKey) {
    if (key.toLowerCase() === "z") return (event.shiftKey ? page.redo() : page.undo(), true);
    return key.toLowerCase() === "y" && (page.redo(), true);
  }
  if (event.altKey) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    return correct && step && (page.correct.move(event.shiftKey ? "start" : "end", step), true);
  }
  if (waiting) {
    waiting = false;
    if (TABS[key]) return (page.store.set({ tab: TABS[key] }), true);
  }
  if (key === "g") return (waiting = true);
  if (key === "j" || key === "k" || ((key === "ArrowDown" || key === "ArrowUp") && event.target.closest("tr"))) return step(key === "j" || key === "ArrowDown" ? 1 : -1);
  if (key === "Enter") return Boolean(event.target.matches?.("tr[tabindex]")) && (event.target.click(), true);
  if (key === "/") return (page.store.set({ tab: "facts" }), byId("filter")?.focus(), true);
  if (key === "?") return (showHelp(), true);
  if (key === "e") return (page.store.set({ mode: correct ? "read" : "correct" }), true);
  if (key === "q" && !document.querySelector('[data-view="ask"]').hidden) return (page.openView("ask"), byId("question").focus(), true);
  return correct && inCorrect(page, key);
}

function inCorrect(page, key) {
  if (/^[1-9]$/.test(key)) return (page.correct.label(+key), true);
  const actions = { Delete: page.correct.remove, Backspace: page.correct.remove, r: page.correct.link, s: page.correct.turn, a: () => page.correct.judge("accepted"), x: () => page.correct.judge("rejected"), n: () => nextMention(page, 1), p: () => nextMention(page, -1) };
  return key in actions && (actions[key](), true);
}

/** Choose the next mention of the text, for those who do not use a pointer. */
function nextMention(page, by) {
  const mentions = page.shown().mentions;
  const at = mentions.findIndex((m) => m.id === page.store.get("chosen"));
  if (mentions.length) page.store.set({ chosen: mentions[(at + by + mentions.length) % mentions.length].id });
}

function step(by) {
  const rows = [...byId("panels").querySelectorAll("tr[tabindex]")];
  if (!rows.length) return false;
  const at = rows.indexOf(document.activeElement.closest("tr[tabindex]"));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))];
  rows.forEach((row) => (row.tabIndex = row === next ? 0 : -1));
  next.focus();
  return true;
}

function letGo(page) {
  page.correct.release();
  page.store.set({ pinned: null, hover: null });
  document.querySelectorAll("details[open]").forEach((details) => (details.open = false));
}

function showHelp() {
  const keys = LIST.flatMap(([names, key]) => [make("dt", {}, names.split("  ").flatMap((part, i) => [i ? ", " : "", ...part.split(" ").flatMap((name, j) => [j ? " " : "", make("kbd", {}, name)])])), make("dd", {}, word(key))]);
  const close = make("button", { type: "button", on: { click: () => byId("help").close() } }, word("close"));
  openDialog(fill(byId("help"), make("p", {}, word("help_intro")), make("h2", { id: "help-title" }, word("help_title")), make("dl", {}, keys), close));
}
