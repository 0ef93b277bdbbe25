// Ask: questions to the store. Citations light their characters in the source beside the answer.

import { ask, storedDocument } from "./api.js";
import { byId, fill, make, say } from "./dom.js";
import { LIKELY, shownFacts, shownMentions } from "./filter.js";
import { scoreOf } from "./found.js";
import { drawPath } from "./graph.js";
import { drawHops, hopsOf } from "./hops.js";
import { spanFromServer } from "./offsets.js";
import { drawText } from "./text.js";
import { word } from "./words.js";

let last = null;

/** Make the view, and make it again when the language changes. */
export function startAsk(page) {
  page.store.on(["language"], () => draw(page));
  draw(page);
}

function draw() {
  const box = byId("view-ask");
  const question = make("input", { type: "search", id: "question", "aria-label": word("ask_label"), placeholder: word("ask_placeholder"), value: last?.question ?? "" });
  const asOf = make("input", { type: "text", id: "as-of", size: 20, "aria-label": `${word("as_of")} (${word("as_of_hint")})`, placeholder: word("as_of_hint") });
  const form = make("form", { class: "askbar" }, question, asOf, make("button", { class: "strong" }, word("ask")));
  const answer = make("div", { class: "column", id: "answer", "aria-live": "polite" }, make("p", { class: "note" }, word("ask_empty")));
  const source = make("div", { class: "column", id: "cited" });
  form.onsubmit = async (event) => {
    event.preventDefault();
    if (!question.value.trim()) return;
    try {
      last = await ask(question.value.trim(), asOf.value.trim());
      showAnswer(answer, source, last);
    } catch (error) {
      say(error.kind === "Offline" ? word("cannot_reach") : error.message, "error");
    }
  };
  fill(box, make("div", { class: "wide column" }, make("p", { class: "note" }, word("ask_intro")), form), answer, source);
  if (last) showAnswer(answer, source, last);
}

function showAnswer(box, source, found) {
  const parts = found.abstained ? abstained(found, source) : answered(found, source);
  const notes = found.notes?.length ? make("div", { class: "card" }, make("h3", {}, word("notes")), found.notes.map((note) => make("p", { class: "note" }, note))) : null;
  fill(box, parts, path(found), considered(found, source), notes);
  fill(source);
  box.querySelector(".cite")?.click();
}

function answered(found, source) {
  const top = (one) => [make("p", { class: "answer" }, one.answer), make("p", { class: "note" }, scoreOf(one.score), ` · ${word(`answer_from_${one.mode}`)}`), citations(one.citations, source)];
  const others = found.alternatives?.filter((other) => other.answer) ?? [];
  if (found.conflict) return make("div", { class: "card conflict" }, make("p", { class: "warn" }, word("conflict")), make("div", { class: "sides" }, [found, ...others].map((one) => make("div", { class: "side" }, top(one)))));
  const more = others.length ? [make("h3", {}, word("also")), make("div", { class: "sides" }, others.slice(0, 4).map((one) => make("div", { class: "side" }, make("strong", {}, one.answer), " ", scoreOf(one.score), citations(one.citations, source))))] : [];
  return make("div", { class: "card" }, top(found), more);
}

function abstained(found, source) {
  const near = found.alternatives?.filter((other) => other.answer || other.citations.length) ?? [];
  return make("div", { class: "card abstained" }, make("p", { class: "answer" }, word("no_answer")),
    near.length ? [make("p", { class: "note" }, word("no_answer_near")), near.slice(0, 5).map((one) => make("div", { class: "side" }, one.answer ? make("strong", {}, one.answer) : null, " ", scoreOf(one.score), citations(one.citations, source)))] : null);
}

function path(found) {
  if (!found.path?.length) return null;
  return make("div", { class: "card path" }, make("h3", {}, word("path")), drawPath(found.path));
}

/** What else was looked at; nothing where that is the path alone. */
function considered(found, source) {
  const { hops, hidden } = hopsOf(found);
  if (hops.length <= (found.path?.length ?? 0)) return null;
  return make("div", { class: "card path" }, make("h3", {}, word("considered")), drawHops(hops, (citation) => showSource(source, citation)), hidden ? make("p", { class: "note" }, word("considered_hidden", { n: hidden })) : null);
}

/** Citations as buttons; each lights its characters in the source. */
export function citations(list, source) {
  return make("ol", { class: "list" }, (list ?? []).map((one, i) => {
    const button = make("button", { type: "button", class: "cite", "aria-pressed": "false" }, `[${i + 1}] `, make("mark", {}, one.quote), make("span", { class: "note" }, placeOf(one.uri), one.published ? ` · ${one.published}` : "", one.assertion && one.assertion !== "asserted" ? ` · ${word(one.assertion)}` : ""));
    button.onclick = () => {
      for (const other of document.querySelectorAll(".cite[aria-pressed='true']")) other.setAttribute("aria-pressed", "false");
      button.setAttribute("aria-pressed", "true");
      showSource(source, one);
    };
    return make("li", {}, button);
  }));
}

/** Where a document comes from; the keys of facts that were added by hand say nothing to a reader. */
export const placeOf = (uri) => (uri.startsWith("manual:") ? word("by_hand") : uri);

/** The cited document with the cited characters lit. */
export async function showSource(box, { uri, start, end }) {
  try {
    const { source, doc } = await storedDocument(uri);
    const text = make("div", { class: "text", tabindex: 0, role: "region", "aria-label": word("source") });
    const [from, to] = spanFromServer(doc.text, start ?? 0, end ?? 0);
    fill(box, make("div", { class: "card source" }, make("h3", {}, source.title || placeOf(uri)), make("p", { class: "note" }, placeOf(uri), source.published ? ` · ${word("published")} ${source.published}` : ""), text));
    drawText(text, doc, shownMentions(doc, shownFacts(doc, { least: LIKELY }), null, LIKELY), end ? [{ start: from, end: to, kind: "cited" }] : []);
    text.querySelector(".cited")?.scrollIntoView({ block: "nearest" });
  } catch (error) {
    say(error.message, "error");
  }
}
