// Bar: thresholds and what was read.

import { fill, make } from "./dom.js";
import { readShare, scoreRange, usualLeast } from "./filter.js";
import { noteInWords } from "./notes.js";
import { word } from "./words.js";

/** The bar below the text: sliders, counts, notes. It is not drawn anew while one of its sliders is held. */
export function drawBar(box, page) {
  const { store } = page;
  const { doc, facts } = page.shown();
  const counts = countsOf(page, doc, facts);
  if (box.contains(document.activeElement) && document.activeElement.type === "range") return box.querySelector(".counts").replaceWith(counts);
  const range = scoreRange(doc.facts);
  const slider = range && rangeOf(word("least_score"), range, store.get("least"), (least) => store.set({ least }), "least");
  const about = scoreRange(doc.mentions);
  const second = about && rangeOf(word("least_score_mentions"), about, store.get("leastMentions") ?? usualLeast(doc), (leastMentions) => store.set({ leastMentions }), "least-mentions");
  return fill(box, slider, second, range && perRelation(page, doc), counts);
}

function rangeOf(name, [low, high], value, set, id) {
  const floor = Math.floor(low * 100) / 100;
  const output = make("output", { for: id }, Math.max(value, floor).toFixed(2));
  const on = { input: (event) => { output.textContent = (+event.target.value).toFixed(2); set(+event.target.value); } };
  const input = make("input", { type: "range", id, min: floor, max: Math.max(high, 0.99).toFixed(2), step: 0.01, title: word("score_from", { n: floor.toFixed(2) }), on });
  input.value = Math.max(value, floor);
  return make("label", {}, name, input, output);
}

function perRelation(page, doc) {
  const { store } = page;
  const rows = [...new Set(doc.facts.map((f) => f.relation))].sort().map((relation, i) => {
    const set = (least) => store.set({ byRelation: { ...store.get("byRelation"), [relation]: least } });
    return rangeOf(relation, scoreRange(doc.facts.filter((f) => f.relation === relation)) ?? [0, 1], store.get("byRelation")[relation] ?? store.get("least"), set, `least-${i}`);
  });
  return make("details", { open: Object.keys(store.get("byRelation")).length > 0 && document.activeElement?.closest(".bar details") !== null }, make("summary", {}, word("per_relation")), make("div", { class: "sheet" }, rows));
}

function countsOf(page, doc, facts) {
  const notes = doc.coverage?.notes ?? [];
  const [took, texts] = [page.store.get("took"), page.store.get("texts")];
  return make("div", { class: "counts" }, make("span", { id: "fact-count" }, word("fact_count", { shown: facts.length, all: doc.facts.length })),
    make("span", {}, word("read_share", { n: Math.round(100 * readShare(doc)) })), took ? make("span", {}, word("seconds", { n: Math.round(took) })) : null,
    texts > 1 ? make("span", { id: "one-of" }, word("first_of", { n: texts })) : null,
    notes.length ? make("details", { class: "notes" }, make("summary", {}, word("notes")), make("div", { class: "sheet" }, notes.map((note) => make("p", {}, note)))) : null);
}
