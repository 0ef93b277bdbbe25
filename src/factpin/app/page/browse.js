// Browse: the store. Documents, entities, facts with all their evidence, conflicts side by side, and a timeline.

import { judge, store as read } from "./api.js";
import { citations, placeOf, showSource } from "./ask.js";
import { byId, fill, make, say } from "./dom.js";
import { scoreOf, typeChip } from "./found.js";
import { word } from "./words.js";

const PARTS = { documents, entities, facts, conflicts, timeline };
let part = "documents";

/** Make the view; it is filled when it is first opened. */
export function startBrowse(page) {
  const draw = () => page.store.get("view") === "store" && drawStore(page);
  page.store.on(["language", "view"], draw);
  draw();
}

async function drawStore(page) {
  const list = make("div", { class: "column", id: "store-list" });
  const detail = make("div", { class: "column", id: "store-detail" });
  const open = async (name, query) => {
    part = name;
    for (const tab of tabs.children) tab.setAttribute("aria-pressed", String(tab.dataset.part === name));
    fill(list);
    fill(detail);
    try {
      await PARTS[name]({ list, detail, open, writable: page.store.get("server").writable }, query ?? {});
    } catch (error) {
      say(error.kind === "Offline" ? word("cannot_reach") : error.message, "error");
    }
  };
  const tabs = make("div", { class: "segments", role: "group", "aria-label": word("view_store") }, Object.keys(PARTS).map((name) => make("button", { type: "button", data: { part: name }, on: { click: () => open(name) } }, word(name))));
  fill(byId("view-store"), make("div", { class: "wide column" }, make("p", { class: "note" }, word("store_intro")), tabs), list, detail);
  await open(part);
}

/** Pages of a list of the store, with a button for more. */
async function pages(box, what, query, key, draw, none) {
  const rows = make("ul", { class: "list card" });
  const more = make("button", { type: "button" }, word("list_more"));
  const load = async (after) => {
    const answer = await read(what, { ...query, after });
    rows.append(...answer[key].map((item) => make("li", {}, draw(item))));
    more.hidden = !answer.next;
    more.onclick = () => load(answer.next);
    return answer;
  };
  const first = await load("");
  if (!first[key].length) fill(box, make("p", { class: "card" }, word(none)));
  else box.append(rows, more);
  return first;
}

async function documents({ list, detail }) {
  await pages(list, "documents", {}, "documents", (d) => make("button", { type: "button", class: "cite", on: { click: () => showSource(detail, d) } }, d.title || placeOf(d.uri), make("span", { class: "note" }, [d.title && placeOf(d.uri), d.published].filter(Boolean).join(" · "))), "documents_none");
}

async function entities({ list, detail, open }, query) {
  const name = make("input", { type: "search", "aria-label": word("search_name"), placeholder: word("search_name"), value: query.name ?? "" });
  list.append(make("form", { class: "askbar", on: { submit: (event) => { event.preventDefault(); open("entities", { name: name.value.trim() }); } } }, name));
  const show = async (e) => {
    const found = await read("entity", { id: e.id });
    fill(detail, make("div", { class: "card" }, make("h2", {}, found.entity.name, typeChip(found.entity.type)), make("p", { class: "note" }, found.names.join(", "))), found.facts.map((f) => factCard(f, detail, open)));
  };
  await pages(list, "entities", query, "entities", (e) => make("button", { type: "button", class: "cite", on: { click: () => show(e) } }, e.name, typeChip(e.type), make("span", { class: "note" }, `${e.mentions} ${word("mentions")}`)), query.name ? "no_such_entity" : "documents_none");
}

async function facts({ list, detail, open, writable }, query) {
  const field = (key) => make("input", { type: "search", name: key, "aria-label": word(`col_${key}`), placeholder: word(`col_${key}`), value: query[key] ?? "" });
  const form = make("form", { class: "askbar", on: { submit: (event) => { event.preventDefault(); open("facts", Object.fromEntries(new FormData(form))); } } }, ["head", "relation", "tail"].map(field), make("button", {}, word("filter_hint")));
  list.append(form);
  const first = await pages(list, "facts", query, "facts", (f) => make("button", { type: "button", class: "cite", on: { click: () => fill(detail, factCard(f, detail, open, writable)) } }, sentence(f), make("span", { class: "note" }, statusOf(f))), "facts_none_at");
  if (first.hidden) list.append(make("p", { class: "note" }, word("hidden_facts", { n: first.hidden, least: "0.5" })));
}

const sentence = (f) => [f.head.name, " – ", make("span", { class: "relation" }, f.relation), " → ", f.tail.name];
const statusOf = (f) => [word(`status_${f.status}`), word("confidence", { n: f.confidence.toFixed(2) }), dates(f)].filter(Boolean).join(" · ");
const dates = (f) => (f.valid_from || f.valid_to ? `${f.valid_from}–${f.valid_to}` : "");

/** A fact with all its evidence; the source opens below it. */
function factCard(f, detail, open, writable = false) {
  const source = make("div", {});
  const tools = writable ? make("div", { class: "row" }, [["confirm", "confirm"], ["reject", "reject"]].map(([key, verdict]) => make("button", { type: "button", on: { click: () => save(verdict, f, open) } }, word(key)))) : null;
  return make("div", { class: "card fact" }, make("h3", {}, sentence(f)), make("p", { class: `status ${f.status}` }, statusOf(f), " ", scoreOf(f.confidence)), make("p", { class: "note" }, word("who_says", { n: f.evidence.length })), citations(f.evidence, source), tools, source);
}

async function save(verdict, f, open) {
  try {
    await judge(verdict, f.id, false);
    say(word("verdict_saved"));
    open("facts");
  } catch (error) {
    say(error.message, "error");
  }
}

async function conflicts({ list, detail, open, writable }) {
  const found = (await read("conflicts")).conflicts;
  if (!found.length) return fill(list, make("p", { class: "card" }, word("conflicts_none")));
  return fill(list, found.map((c) => make("div", { class: "card conflict" }, make("h3", {}, c.head.name, " – ", c.relation), make("div", { class: "sides" }, c.facts.map((f) => make("div", { class: "side" }, make("p", { class: "answer" }, f.tail.name), make("p", { class: "note" }, statusOf(f)), citations(f.evidence, detail)))))));
}

/** Facts with a date, in order: when they hold, or a tail that is a date. It looks at a thousand facts, and at more on request. */
async function timeline({ list, detail, open }, { known = [], after = "" }) {
  const answer = await read("facts", { limit: 1000, after });
  const all = [...known, ...answer.facts];
  const dated = all.map((f) => ({ f, date: f.valid_from || (f.tail.type === "date" ? yearOf(f.tail.name) : "") })).filter((row) => row.date);
  const rest = answer.next ? make("div", { class: "column" }, make("p", { class: "note", id: "timeline-part" }, word("timeline_part", { n: all.length })), make("button", { type: "button", on: { click: () => open("timeline", { known: all, after: answer.next }) } }, word("list_more"))) : null;
  const hidden = answer.hidden ? make("p", { class: "note" }, word("hidden_facts", { n: answer.hidden, least: "0.5" })) : null;
  if (!dated.length) return fill(list, make("p", { class: "card" }, word(answer.next ? "timeline_none_yet" : "timeline_none")), rest, hidden);
  dated.sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
  return fill(list, make("dl", { class: "card time" }, dated.flatMap(({ f, date }) => [make("dt", {}, date), make("dd", {}, make("button", { type: "button", class: "cite", on: { click: () => fill(detail, factCard(f, detail, open)) } }, sentence(f)))])), rest, hidden);
}

/** A date as written, as a text that sorts: 2019年2月5日 -> 2019-02-05, 7 November 1867 -> 1867-11-07. */
export function yearOf(text) {
  const year = /(?<!\d)(1\d{3}|20\d{2})(?!\d)/.exec(text)?.[1];
  if (!year) return "";
  const chinese = /年(\d{1,2})月(?:(\d{1,2})日)?/.exec(text);
  const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
  const month = chinese ? +chinese[1] : months.findIndex((m) => new RegExp(`\\b${m}`, "i").test(text)) + 1;
  const day = chinese ? +(chinese[2] ?? 0) : +(/(?<!\d)(\d{1,2})(?!\d)/.exec(text.replace(year, ""))?.[1] ?? 0);
  return [year, month && String(month).padStart(2, "0"), month && day && String(day).padStart(2, "0")].filter(Boolean).join("-");
}
