// Main: the page as a whole. It makes the store, reads texts and keeps the views in step.

import * as api from "./api.js";
import { startAsk } from "./ask.js";
import { drawBar } from "./bar.js";
import { startBrowse } from "./browse.js";
import { byId, copy, fill, make, openDialog, say } from "./dom.js";
import { begin, current, perform, redo, undo } from "./edit.js";
import { startEditor, verdicts } from "./editor.js";
import { EXAMPLES } from "./examples.js";
import { LIKELY, asShown, shownFacts, shownMentions } from "./filter.js";
import { drawEntities, drawEvents, drawFacts, drawJson } from "./found.js";
import { drawGraph, forgetPlaces } from "./graph.js";
import { keepWork, keptWork } from "./keep.js";
import { startKeys } from "./keys.js";
import { textOfLink, linkOf } from "./share.js";
import { createStore, litOf, sameSelection } from "./state.js";
import { drawText, lightText } from "./text.js";
import { startTheme, switchTheme } from "./theme.js";
import { startUpload } from "./upload.js";
import { chooseLanguage, currentLanguage, speak, startLanguage, word } from "./words.js";

const TABS = ["facts", "entities", "graph", "events", "json"];
const store = createStore({
  language: startLanguage(), view: "read", mode: "read", tab: "facts", history: null, server: null, took: null, texts: 1, busy: false, hover: null, pinned: null,
  ...usualView(), models: [], textLanguage: "", chosen: null,
});
const page = { store, doc: () => (store.get("history") ? current(store.get("history")) : null), readText, showDocument, perform: change, undo: () => travel(undo), redo: () => travel(redo), choose, openView };

/** The filters at which a text is first shown: as `factpin extract` shows it. */
function usualView() {
  return { least: LIKELY, leastMentions: null, byRelation: {}, words: "", relation: "", status: "" };
}

/** What is shown now: facts and mentions that pass the filters; and the document as it is kept, with what passes the sliders. */
function shown() {
  const doc = page.doc();
  const get = store.get;
  const facts = shownFacts(doc, { least: get("least"), byRelation: get("byRelation"), words: get("words"), relation: get("relation"), status: get("status") });
  const scored = shownFacts(doc, { least: get("least"), byRelation: get("byRelation") });
  const mentions = shownMentions(doc, scored, get("leastMentions"), get("least"));
  return { doc, facts, mentions, kept: () => asShown(doc, scored, mentions, get("least")) };
}
page.shown = shown;

function change(operation) {
  store.set({ history: perform(store.get("history"), operation) });
}

function travel(step) {
  if (store.get("history")) store.set({ history: step(store.get("history")), chosen: null });
}

function choose(selection, pin) {
  if (pin) store.set({ pinned: sameSelection(selection, store.get("pinned")) ? null : selection, hover: null });
  else if (!sameSelection(selection, store.get("hover"))) store.set({ hover: selection });
}

let running = null;

async function busily(work) {
  running?.abort();
  running = new AbortController();
  const mine = running;
  store.set({ busy: true });
  try {
    await work(mine.signal);
  } catch (error) {
    if (error.name !== "AbortError") say(error.kind === "Offline" ? word("cannot_reach") : error.message, "error");
  } finally {
    if (running === mine) store.set({ busy: false });
  }
}
page.busily = busily;
page.options = () => ({ ...(store.get("models").length ? { models: store.get("models") } : {}), ...(store.get("textLanguage") ? { language: store.get("textLanguage") } : {}) });

function readText(text) {
  return busily(async (signal) => {
    const { doc, took } = await api.extract(text, page.options(), signal);
    showDocument(doc, took);
  });
}

/** Show another text. texts: how many were in its file. */
function showDocument(doc, took, texts = 1) {
  forgetPlaces();
  if (document.activeElement.closest(".bar, .filters")) document.activeElement.blur(); // what is held would not be drawn anew
  store.set({ ...usualView(), history: begin(doc), took, texts, pinned: null, hover: null, chosen: null, mode: store.get("mode") === "write" ? "read" : store.get("mode") });
}

/** What to light for the selection: mentions, evidence, cue and the arc between head and tail. */
function lights(doc, selection) {
  if (!selection) return null;
  if (selection.kind === "fact") {
    const fact = doc.facts.find((f) => f._id === selection.id);
    return fact && { mentions: [fact.head_mention, fact.tail_mention].filter(Boolean), sentences: (fact.evidence ?? []).map((e) => e.sentence), cue: fact.cue, arc: [fact.head_mention, fact.tail_mention, fact.relation] };
  }
  if (selection.kind === "event") {
    const event = doc.events.find((e) => e.id === selection.id);
    return event && { mentions: [event.trigger, ...(event.arguments ?? []).map((a) => a.mention)].filter(Boolean), cue: event.cue };
  }
  return { mentions: doc.entities.find((e) => e.id === selection.id)?.mentions ?? [] };
}

function light() {
  const doc = page.doc();
  const selection = litOf(store);
  if (!doc) return;
  lightText(byId("text"), doc, lights(doc, selection));
  const entity = selection?.kind === "entity" ? selection.id : null;
  for (const element of byId("panels").querySelectorAll("[data-fact], [data-entity], [data-event]")) {
    const fact = element.dataset.fact && doc.facts.find((f) => f._id === element.dataset.fact);
    const own = Object.entries(element.dataset).some(([kind, id]) => kind === selection?.kind && id === selection?.id);
    element.classList.toggle("lit", Boolean(own || (entity && fact && (fact.head === entity || fact.tail === entity))));
    if (element.hasAttribute("aria-selected")) element.setAttribute("aria-selected", String(Object.entries(element.dataset).some(([kind, id]) => kind === store.get("pinned")?.kind && id === store.get("pinned")?.id)));
  }
  if (selection && selection === store.get("pinned")) byId("text").querySelector(".m.lit")?.scrollIntoView({ block: "nearest", behavior: "smooth" });
}

function drawDocument() {
  if (!store.get("history")) return;
  const { doc, mentions } = shown();
  drawText(byId("text"), doc, mentions);
  drawPanel();
  drawBar(byId("bar"), page);
}

function drawPanel() {
  const tab = store.get("tab");
  const { doc, facts, mentions } = shown();
  const panel = make("div", { class: `panel ${tab === "graph" ? "graph" : ""}`, id: `panel-${tab}`, role: "tabpanel", tabindex: 0, "aria-labelledby": `tab-${tab}` });
  const old = byId("panels");
  const filters = tab === "facts" && doc.facts.length ? old.querySelector(".filters") ?? make("div", { class: "filters" }) : null;
  if (filters?.isConnected) old.querySelector(".panel").replaceWith(panel); // moving the field would take the focus away
  else fill(old, filters, panel);
  if (filters && !filters.contains(document.activeElement)) drawFilters(filters, doc);
  if (tab === "facts") drawFacts(panel, doc, facts, store.get("mode") === "correct" ? verdicts(page) : null);
  if (tab === "entities") drawEntities(panel, doc, mentions);
  if (tab === "graph") drawGraph(panel, doc, facts, choose);
  if (tab === "events") drawEvents(panel, doc, store.get("least"));
  if (tab === "json") drawJson(panel, doc);
  light();
}

function drawFilters(box, doc) {
  const relations = [...new Set(doc.facts.map((f) => f.relation))].sort();
  const statuses = [...new Set(doc.facts.map((f) => f.assertion ?? "asserted"))];
  const list = (key, none, label, values, name) => make("select", { "aria-label": word(label), on: { change: (event) => store.set({ [key]: event.target.value }) } },
    make("option", { value: "" }, word(none)), values.map((v) => make("option", { value: v, selected: store.get(key) === v }, name(v))));
  fill(box, make("input", { type: "search", id: "filter", "aria-label": word("filter"), placeholder: word("filter_hint"), value: store.get("words"), on: { input: (event) => store.set({ words: event.target.value }) } }),
    list("relation", "all_relations", "relation", relations, (v) => v), list("status", "all_statuses", "statuses", statuses, (v) => word(v)));
}

function drawFrame() {
  document.documentElement.lang = store.get("language") === "zh" ? "zh-CN" : "en";
  speak(document.body);
  byId("language").textContent = store.get("language") === "zh" ? "EN" : "中文";
  fill(byId("tabs"), TABS.map((tab) => make("button", { type: "button", role: "tab", id: `tab-${tab}`, "aria-selected": String(tab === store.get("tab")), "aria-controls": tab === store.get("tab") ? `panel-${tab}` : null, tabindex: tab === store.get("tab") ? 0 : -1, on: { click: () => store.set({ tab }) } }, word(`tab_${tab}`))));
  fill(byId("example"), make("option", { value: "" }, word("example_choose")), EXAMPLES.map((e) => make("option", { value: e.id }, e.name)));
  drawOptions();
}

function drawModes() {
  const mode = store.get("mode");
  for (const button of document.querySelectorAll("[data-mode]")) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
  byId("text").hidden = mode === "write";
  byId("writer").hidden = mode !== "write";
  byId("correct").hidden = mode !== "correct";
  if (mode === "write") { byId("write").value = page.doc()?.text ?? ""; byId("write").focus(); }
}

function drawOptions() {
  const server = store.get("server");
  const boxes = (server?.models ?? []).map((m) => make("label", {}, make("input", { type: "checkbox", value: m.name, checked: store.get("models").includes(m.name), on: { change: () => store.set({ models: [...byId("options-sheet").querySelectorAll("input:checked")].map((i) => i.value) }) } }), make("span", {}, m.name, make("span", { class: "note" }, ` ${m.finds ?? ""}`))));
  const languages = [["", "language_auto"], ["zh", ""], ["en", ""]].map(([value, key]) => make("option", { value, selected: store.get("textLanguage") === value }, key ? word(key) : value === "zh" ? "中文" : "English"));
  fill(byId("options-sheet"), make("label", {}, word("language"), make("select", { on: { change: (event) => store.set({ textLanguage: event.target.value }) } }, languages)),
    make("fieldset", {}, make("legend", {}, word("model_names")), make("p", { class: "note" }, word("all_models")), boxes));
}

function openView(view) {
  store.set({ view });
}

function drawView() {
  for (const button of document.querySelectorAll("[data-view]")) {
    if (button.dataset.view === store.get("view")) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
    byId(`view-${button.dataset.view}`).hidden = button.dataset.view !== store.get("view");
  }
}

function listen() {
  byId("language").onclick = () => { chooseLanguage(currentLanguage() === "zh" ? "en" : "zh"); store.set({ language: currentLanguage() }); };
  byId("theme").onclick = switchTheme;
  byId("read-it").onclick = () => readText(byId("write").value);
  byId("example").onchange = (event) => { const found = EXAMPLES.find((e) => e.id === event.target.value); if (found) readText(found.text); event.target.value = ""; };
  byId("share").onclick = async () => { const link = await linkOf(page.doc()?.text ?? ""); say(!link ? word("share_too_long") : (await copy(link)) ? word("linked_copied") : word("copy_failed")); };
  for (const button of document.querySelectorAll("[data-mode]")) button.onclick = () => store.set({ mode: button.dataset.mode });
  for (const button of document.querySelectorAll("[data-view]")) button.onclick = () => openView(button.dataset.view);
  const panels = byId("panels");
  const pickOf = (target) => { const row = target.closest?.("tr[data-fact], tr[data-entity], tr[data-event]"); const [kind, id] = row ? Object.entries(row.dataset)[0] : []; return kind ? { kind, id } : null; };
  for (const name of ["pointerover", "focusin"]) panels.addEventListener(name, (event) => !event.target.closest("svg") && choose(pickOf(event.target), false));
  for (const name of ["pointerleave", "focusout"]) panels.addEventListener(name, () => choose(null, false));
  panels.addEventListener("click", (event) => !event.target.closest("button, svg") && pickOf(event.target) && choose(pickOf(event.target), true));
  const text = byId("text");
  const entityOf = (target) => { const id = target.closest?.(".m")?.dataset.m; const found = id && page.doc().entities.find((e) => e.mentions.includes(id)); return found ? { kind: "entity", id: found.id } : null; };
  text.addEventListener("pointerover", (event) => store.get("mode") === "read" && choose(entityOf(event.target), false));
  text.addEventListener("pointerleave", () => choose(null, false));
  text.addEventListener("click", (event) => store.get("mode") === "read" && entityOf(event.target) && choose(entityOf(event.target), true));
  addEventListener("resize", light);
}

function follow() {
  store.on(["language"], () => { drawFrame(); drawView(); });
  store.on(["server"], drawOptions);
  store.on(["language", "history", "least", "leastMentions", "byRelation"], drawDocument);
  store.on(["mode"], () => { drawModes(); if (store.get("history")) drawDocument(); });
  store.on(["tab"], () => { drawFrame(); if (store.get("history")) drawPanel(); });
  store.on(["words", "relation", "status"], () => store.get("history") && (drawPanel(), drawBar(byId("bar"), page)));
  store.on(["hover", "pinned"], light);
  store.on(["view"], drawView);
  store.on(["busy"], () => { document.body.classList.toggle("busy", store.get("busy")); if (store.get("busy")) say(word("reading")); else if (byId("toast").textContent === word("reading")) say(""); });
  store.on(["history"], () => keepWork(store.get("history")));
}

async function start() {
  startTheme();
  listen();
  follow();
  drawFrame();
  drawModes();
  drawView();
  startEditor(page);
  startUpload(page);
  startKeys(page);
  api.onTokenNeeded(askForToken);
  try {
    const server = await api.models();
    store.set({ server });
    byId("file").accept = (server.files ?? []).join(",") || byId("file").accept;
    if (server.store) {
      document.querySelectorAll("[data-view]").forEach((button) => (button.hidden = false));
      startAsk(page);
      startBrowse(page);
    }
  } catch (error) {
    say(error.kind === "Offline" ? word("cannot_reach") : error.message, "error");
    return;
  }
  const linked = await textOfLink();
  const work = linked ? null : await keptWork();
  if (work) store.set({ history: work });
  else await readText(linked ?? EXAMPLES.find((e) => e.language === store.get("language")).text);
  document.body.dataset.ready = "true";
}

function askForToken(wrong) {
  return new Promise((resolve) => {
    const dialog = byId("token");
    const input = make("input", { type: "password", id: "token-input", autocomplete: "off" });
    fill(dialog, make("h2", { id: "token-title" }, word("token_title")), wrong ? make("p", { class: "warn" }, word("token_wrong")) : null,
      make("form", { method: "dialog", class: "row", on: { submit: () => resolve(input.value.trim()) } }, make("label", { for: "token-input" }, word("token_label")), input, make("button", { class: "strong" }, "OK")));
    dialog.onclose = () => resolve(input.value.trim());
    openDialog(dialog);
  });
}

start();
