// Exporting: the kept documents as a file in any format, with the command that trains on it.

import { convert } from "./api.js";
import { byId, copy, download, fill, make, openDialog, say } from "./dom.js";
import { toServer } from "./offsets.js";
import { dropDocument, forgetAll, keptDocuments } from "./keep.js";
import { word } from "./words.js";

/** The command that trains on a file: facts if the documents have any, otherwise mentions. */
export function trainCommand(docs, file, format) {
  const task = docs.some((doc) => doc.facts.some((f) => f._hand !== "rejected")) ? "triples" : "spans";
  const chinese = docs.filter((doc) => doc.language === "zh").length * 2 > docs.length;
  const model = `${chinese ? "zh" : "en"}-${task === "triples" ? "facts" : "entities"}`;
  const held = Math.max(1, Math.round(docs.length / 5));
  return `factpin train ${task} --train ${file}${format === "jsonl" ? "" : ` --from ${format}`} --hold-out ${held} --initial ${model} --output runs/corrected`;
}

/** Open the dialog with what was kept; if nothing was, with the document that is open. */
export async function openExport(page) {
  const dialog = byId("export");
  const kept = await keptDocuments();
  const docs = kept.length ? kept : page.doc() ? [page.shown().kept()] : [];
  const formats = (page.store.get("server")?.formats ?? []).map((f) => (typeof f === "string" ? f : f.name));
  const select = make("select", { id: "format" }, (formats.length ? formats : ["jsonl"]).map((name) => make("option", { value: name, selected: name === "jsonl" }, name)));
  const lossy = make("input", { type: "checkbox", id: "lossy" });
  const command = make("pre", { class: "command", tabindex: 0, role: "region", "aria-label": word("command_label") });
  const show = () => (command.textContent = trainCommand(docs, fileName(select.value), select.value));
  select.onchange = show;
  show();
  const rows = kept.map((doc) => make("li", { class: "row" }, make("span", {}, doc.text.slice(0, 46)), make("button", { type: "button", class: "plain", on: { click: async () => { await dropDocument(doc); openExport(page); } } }, word("remove"))));
  fill(dialog, make("h2", { id: "export-title" }, word("export_title")), kept.length ? make("ul", { class: "list" }, rows) : make("p", { class: "note" }, word("export_empty")),
    make("div", { class: "row" }, make("label", { for: "format" }, word("export_format")), select, make("label", { class: "row" }, lossy, word("export_lossy")),
      make("button", { type: "button", class: "strong", id: "download", on: { click: () => save(docs, select.value, lossy.checked) } }, word("download"))),
    make("h3", {}, word("command_label")), command, make("p", { class: "note" }, word("too_few")),
    make("div", { class: "row" }, make("button", { type: "button", on: { click: async () => say(word((await copy(command.textContent)) ? "copied" : "copy_failed")) } }, word("copy")),
      make("button", { type: "button", on: { click: () => forget(dialog) } }, word("forget")), make("button", { type: "button", on: { click: () => dialog.close() } }, word("close"))));
  openDialog(dialog);
}

const fileName = (format) => (format === "jsonl" ? "corrected.jsonl" : `corrected.${format}`);

async function save(docs, format, lossy) {
  const named = docs.map((doc, i) => ({ ...doc, id: docs.length > 1 ? `${doc.id}-${i}` : doc.id }));
  try {
    if (format === "jsonl") return download("corrected.jsonl", new Blob([named.map((doc) => `${JSON.stringify(toServer(doc))}\n`).join("")], { type: "application/x-ndjson" }));
    const { blob, name, lost } = await convert(named, format, lossy);
    download(name || fileName(format), blob);
    if (lost) say(word("export_lost", { format, lost }));
  } catch (error) {
    say(error.kind === "FormatLoss" ? word("refused_format", { format, message: error.message }) : error.message, "error");
  }
}

async function forget(dialog) {
  if (!confirm(word("forget_sure"))) return;
  await forgetAll();
  dialog.close();
  say(word("forgotten"));
}
