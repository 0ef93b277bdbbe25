// Found: the tables of facts, entities and events, and the JSON. Rows share one selection with the text and the graph.

import { copy, fill, make, say } from "./dom.js";
import { hueOf } from "./colours.js";
import { nameOf } from "./filter.js";
import { toServer } from "./offsets.js";
import { typeName, word } from "./words.js";

const LONGEST_JSON = 200000;

/** A type in its colour. */
export const typeChip = (type) => (type ? [" ", make("span", { class: "type", vars: { hue: hueOf(type) } }, typeName(type))] : null); // a line may end before it

/** A score as a small gauge and a number. */
export function scoreOf(score) {
  if (typeof score !== "number") return make("span", { class: "score" }, "");
  return make("span", { class: "score" }, make("span", { class: "gauge", vars: { at: score }, "aria-hidden": "true" }), score.toFixed(2));
}

/** The facts as a table, grouped by their head. `tools(fact)`: buttons at the end of a row, or nothing. */
export function drawFacts(box, doc, facts, tools) {
  if (!doc.facts.length) return fill(box, make("p", { class: "empty" }, word("facts_none")));
  if (!facts.length) return fill(box, make("p", { class: "empty" }, word("facts_none_at")));
  const heads = ["col_relation", "col_tail", "col_score", "col_status", "col_evidence", ...(tools ? ["verdict"] : [])];
  const groups = Map.groupBy ? Map.groupBy(facts, (f) => f.head) : grouped(facts);
  const bodies = [...groups].map(([head, rows]) => {
    const name = make("th", { class: "group", colspan: heads.length, scope: "rowgroup" }, nameOf(doc, head), typeChip(typeOf(doc, head)));
    return make("tbody", {}, make("tr", {}, name), rows.map((fact) => factRow(doc, fact, tools)));
  });
  const first = bodies[0].querySelector("[data-fact]");
  first.tabIndex = 0;
  const top = make("thead", {}, make("tr", {}, heads.map((key) => make("th", { scope: "col" }, word(key)))));
  return fill(box, make("table", { role: "grid", class: tools ? "judging" : "", "aria-label": word("facts") }, top, bodies));
}

function grouped(facts) {
  const groups = new Map();
  for (const fact of facts) groups.set(fact.head, [...(groups.get(fact.head) ?? []), fact]);
  return groups;
}

function factRow(doc, fact, tools) {
  const status = fact.assertion ?? "asserted";
  const hand = fact._hand ? word(fact._hand) : "";
  const qualifiers = (fact.qualifiers ?? []).map((q) => make("div", { class: "note" }, `${q.role}: ${nameOf(doc, q.entity)}`));
  const shown = [status === "asserted" ? "" : word(status), hand].filter(Boolean).join(" · ");
  return make("tr", { tabindex: -1, "aria-selected": "false", class: fact._hand === "rejected" ? "rejected" : "", data: { fact: fact._id } },
    make("td", {}, make("span", { class: `relation ${status}` }, fact.relation)),
    make("td", {}, make("span", { class: "tail" }, nameOf(doc, fact.tail)), typeChip(typeOf(doc, fact.tail)), qualifiers),
    make("td", {}, scoreOf(fact.score)),
    make("td", {}, make("span", { class: `status ${status}` }, shown || word("asserted"))),
    make("td", { class: "note" }, (fact.evidence ?? []).map((e) => e.sentence + 1).join(", ")),
    tools ? make("td", {}, tools(fact)) : null);
}

const typeOf = (doc, id) => doc.entities.find((e) => e.id === id)?.type ?? "";

/** The entities, those with most mentions first. */
export function drawEntities(box, doc, mentions) {
  const shown = new Set(mentions.map((m) => m.id));
  const rows = doc.entities.map((e) => ({ ...e, seen: e.mentions.filter((id) => shown.has(id)).length })).filter((e) => e.seen);
  if (!rows.length) return fill(box, make("p", { class: "empty" }, word("entities_none")));
  rows.sort((a, b) => b.seen - a.seen);
  const top = make("thead", {}, make("tr", {}, ["col_name", "col_type", "col_mentions"].map((key) => make("th", { scope: "col" }, word(key)))));
  const body = rows.map((e, i) => make("tr", { tabindex: i ? -1 : 0, "aria-selected": "false", data: { entity: e.id } },
    make("td", {}, nameOf(doc, e.id)), make("td", {}, typeChip(e.type)), make("td", {}, String(e.seen))));
  return fill(box, make("table", { role: "grid", "aria-label": word("entities") }, top, make("tbody", {}, body)));
}

/** The events with their triggers and arguments. */
export function drawEvents(box, doc, least) {
  const events = doc.events.filter((e) => typeof e.score !== "number" || e.score >= least);
  if (!events.length) return fill(box, make("p", { class: "empty" }, word("events_none")));
  const said = (id) => doc.mentions.find((m) => m.id === id)?.text ?? "";
  const body = events.map((e, i) => make("tr", { tabindex: i ? -1 : 0, "aria-selected": "false", data: { event: e.id } },
    make("td", {}, make("span", { class: `relation ${e.assertion ?? ""}` }, e.type), " ", said(e.trigger)),
    make("td", {}, (e.arguments ?? []).map((a) => make("div", {}, make("span", { class: "note" }, `${a.role} `), a.mention ? said(a.mention) : a.event))),
    make("td", {}, scoreOf(e.score)), make("td", {}, make("span", { class: "status" }, word(e.assertion ?? "asserted")))));
  const top = make("thead", {}, make("tr", {}, ["events", "event_arguments", "col_score", "col_status"].map((key) => make("th", { scope: "col" }, word(key)))));
  return fill(box, make("table", { role: "grid", "aria-label": word("events") }, top, make("tbody", {}, body)));
}

/** The document as the server would write it. */
export function drawJson(box, doc) {
  const whole = JSON.stringify(toServer(doc), null, 2);
  const button = make("button", { type: "button", on: { click: async () => say(word((await copy(whole)) ? "copied" : "copy_failed")) } }, word("copy"));
  fill(box, button, make("pre", { tabindex: 0, role: "region", "aria-label": "JSON" }, whole.length > LONGEST_JSON ? `${whole.slice(0, LONGEST_JSON)}\n…` : whole));
}
