// Editor: the correct mode. Select characters to mark them; choose a mention to relabel, move, link or remove it.

import { byId, fill, make, say } from "./dom.js";
import { hueOf } from "./colours.js";
import { STATUSES, canRedo, canUndo } from "./edit.js";
import { openExport } from "./exporting.js";
import { keepDocument, keptDocuments } from "./keep.js";
import { neighbour, settled } from "./offsets.js";
import { offsetAt, selectedSpan } from "./text.js";
import { typeName, word } from "./words.js";

let linking = null; // the mention a fact begins at, while its tail is chosen
let span = null; // selected characters

/** Listen to the text in correct mode and draw the bar below it. */
export function startEditor(page) {
  const text = byId("text");
  const correcting = () => page.store.get("mode") === "correct" && page.doc();
  text.addEventListener("pointerup", () => setTimeout(() => correcting() && take(page), 0));
  document.addEventListener("selectionchange", () => {
    if (!correcting() || !text.contains(getSelection().anchorNode)) return;
    const now = selectedSpan(text);
    if (now && String(now) !== String(span)) { span = outward(page.doc().text, now); page.store.set({ chosen: null }); drawCorrect(page); }
  });
  page.store.on(["mode", "history", "chosen", "language"], () => { if (page.store.get("mode") !== "correct") { span = null; linking = null; } drawCorrect(page); showChosen(page); });
  page.correct = {
    label: (number) => label(page, typesOf(page)[number - 1]), move: (side, step) => move(page, side, step), remove: () => remove(page),
    link: () => { linking = page.store.get("chosen"); drawCorrect(page); }, release: () => { span = null; linking = null; getSelection().removeAllRanges(); page.store.set({ chosen: null }); drawCorrect(page); },
    judge: (verdict) => onFact(page, (fact) => ({ kind: "judge_fact", fact, verdict })), turn: () => turn(page), busy: () => Boolean(span || linking || page.store.get("chosen")),
  };
}

/** A selection never cuts a character in two. */
const outward = (text, [start, end]) => [settled(text, start), settled(text, end) === end ? end : neighbour(text, end, 1)];

function take(page) {
  const chosen = selectedSpan(byId("text"));
  if (chosen) return;
  const target = document.querySelector("#text .m:hover:not(:has(.m:hover))");
  const id = target?.dataset.m ?? null;
  if (linking && id && id !== linking) return drawCorrect(page, id);
  span = null;
  page.store.set({ chosen: id });
  drawCorrect(page);
}

/** Types to choose from: of this document, then of the models. */
export function typesOf(page) {
  const known = (page.store.get("server")?.models ?? []).filter((m) => m.task === "spans").flatMap((m) => m.labels);
  return [...new Set([...known, ...page.doc().mentions.map((m) => m.type)])].filter(Boolean).slice(0, 20);
}

function label(page, type) {
  if (!type) return;
  const mention = page.store.get("chosen");
  if (mention) return page.perform({ kind: "relabel_mention", mention, type });
  if (!span) return;
  const [start, end] = span;
  span = null;
  getSelection().removeAllRanges();
  page.perform({ kind: "add_mention", start, end, type });
  page.store.set({ chosen: page.doc().mentions.find((m) => m.start === start && m.end === end && m.type === type)?.id ?? null });
}

function move(page, side, step) {
  const mention = chosenOf(page);
  if (!mention) return;
  const next = { start: mention.start, end: mention.end };
  next[side] = neighbour(page.doc().text, mention[side], step);
  page.perform({ kind: "move_mention", mention: mention.id, ...next });
}

function remove(page) {
  const mention = page.store.get("chosen");
  if (!mention) return;
  page.perform({ kind: "remove_mention", mention });
  page.store.set({ chosen: null });
}

const chosenOf = (page) => page.doc()?.mentions.find((m) => m.id === page.store.get("chosen"));

function onFact(page, operation) {
  const selection = page.store.get("hover") ?? page.store.get("pinned");
  if (selection?.kind === "fact") page.perform(operation(selection.id));
}

function turn(page, id) {
  const selection = id ? { kind: "fact", id } : (page.store.get("hover") ?? page.store.get("pinned"));
  const fact = selection?.kind === "fact" && page.doc().facts.find((f) => f._id === selection.id);
  if (fact) page.perform({ kind: "set_status", fact: fact._id, status: STATUSES[(STATUSES.indexOf(fact.assertion ?? "asserted") + 1) % STATUSES.length] });
}

/** The buttons at the end of a fact's row. */
export function verdicts(page) {
  return (fact) => make("div", { class: "row-tools" },
    [["accept", "accepted", "✓"], ["reject", "rejected", "✗"]].map(([key, verdict, sign]) => make("button", { type: "button", "aria-label": word(key), title: word(key), "aria-pressed": String(fact._hand === verdict), on: { click: () => page.perform({ kind: "judge_fact", fact: fact._id, verdict }) } }, sign)),
    make("button", { type: "button", "aria-label": word("edit_status"), title: word("edit_status"), on: { click: () => turn(page, fact._id) } }, "±"));
}

function drawCorrect(page, tail = null) {
  const box = byId("correct");
  if (page.store.get("mode") !== "correct" || !page.doc()) return;
  const history = page.store.get("history");
  const button = (key, click, more = {}) => make("button", { type: "button", ...more, on: { click } }, word(key));
  const end = [make("span", { class: "gap" }), button("undo", page.undo, { disabled: !canUndo(history) }), button("redo", page.redo, { disabled: !canRedo(history) }),
    button("done", () => done(page), { class: "strong" }), button("export", () => openExport(page))];
  fill(box, linking ? linkParts(page, tail, button) : partsOf(page, button), end);
  box.querySelector("#relation")?.focus();
}

function partsOf(page, button) {
  const mention = chosenOf(page);
  if (!mention && !span) return [make("span", { class: "note" }, word("correct_hint"))];
  const shown = mention ? mention.text : page.doc().text.slice(...span);
  const picks = typesOf(page).map((type, i) => make("button", { type: "button", class: "pick", vars: { hue: hueOf(type) }, "aria-pressed": String(mention?.type === type), data: { type }, on: { click: () => label(page, type) } }, i < 9 ? make("kbd", {}, String(i + 1)) : null, typeName(type)));
  const other = make("input", { type: "text", "aria-label": word("new_type"), placeholder: word("new_type"), on: { keydown: (event) => { if (event.key === "Enter") label(page, event.target.value.trim()); } } });
  const moves = [["start", -1, "border_start_less", "⇤"], ["start", 1, "border_start_more", "↦"], ["end", -1, "border_end_less", "↤"], ["end", 1, "border_end_more", "⇥"]].map(([side, step, key, sign]) => make("button", { type: "button", "aria-label": word(key), title: word(key), on: { click: () => move(page, side, step) } }, sign));
  return [make("strong", {}, `“${shown.slice(0, 40)}”`), picks, other, mention ? [moves, button("link", page.correct.link), button("remove", () => remove(page))] : []].flat();
}

function linkParts(page, tail, button) {
  const text = (id) => page.doc().mentions.find((m) => m.id === id)?.text ?? "";
  const cancel = button("cancel", page.correct.release);
  if (!tail) {
    const others = page.doc().mentions.filter((m) => m.id !== linking);
    const list = make("select", { "aria-label": word("link"), on: { change: (event) => drawCorrect(page, event.target.value) } }, make("option", { value: "" }, "…"), others.map((m) => make("option", { value: m.id }, `${m.text} (${typeName(m.type)})`)));
    return [make("span", {}, word("link_choose", { head: text(linking) })), list, cancel];
  }
  const known = [...new Set([...page.doc().facts.map((f) => f.relation), ...(page.store.get("server")?.models ?? []).filter((m) => m.task === "triples").flatMap((m) => m.labels)])];
  const input = make("input", { type: "text", id: "relation", list: "relations", "aria-label": word("relation") });
  const add = () => {
    if (!input.value.trim()) return input.focus();
    const before = page.doc();
    page.perform({ kind: "add_fact", head: linking, relation: input.value.trim(), tail });
    if (page.doc() === before) return say(word(sameEntity(before, linking, tail) ? "link_same" : "link_known"), "error");
    linking = null;
    drawCorrect(page);
  };
  input.addEventListener("keydown", (event) => event.key === "Enter" && add());
  return [make("label", { for: "relation" }, word("link_relation", { head: text(linking), tail: text(tail) })), input, make("datalist", { id: "relations" }, known.map((r) => make("option", { value: r }))), button("relation_add", add, { class: "strong" }), cancel];
}

const sameEntity = (doc, ...ids) => ids[0] === ids[1] || doc.entities.some((e) => ids.every((id) => e.mentions.includes(id)));

/** The chosen mention stands out and has grips to drag its borders. */
function showChosen(page) {
  const box = byId("text");
  for (const element of box.querySelectorAll(".chosen")) element.classList.remove("chosen");
  for (const element of box.querySelectorAll(".grip")) element.remove();
  const mention = page.store.get("mode") === "correct" && chosenOf(page);
  if (!mention) return;
  const runs = [...box.querySelectorAll(`[data-m="${CSS.escape(mention.id)}"]`)];
  runs.forEach((run) => run.classList.add("chosen"));
  if (!runs.length) return;
  const base = box.getBoundingClientRect();
  const rects = runs.flatMap((run) => [...run.querySelectorAll(".run")].flatMap((r) => [...r.getClientRects()]));
  for (const [side, rect, x] of [["start", rects[0], rects[0].left], ["end", rects.at(-1), rects.at(-1).right]]) {
    const grip = make("div", { class: "grip", "aria-hidden": "true", data: { side } });
    Object.assign(grip.style, { left: `${x - base.left}px`, top: `${rect.top - base.top}px`, height: `${rect.height}px` });
    grip.onpointerdown = (event) => { event.preventDefault(); event.stopPropagation(); drag(page, mention, side, grip); };
    box.append(grip);
  }
}

function drag(page, mention, side, grip) {
  grip.style.pointerEvents = "none";
  const drop = (event) => {
    const at = document.caretPositionFromPoint?.(event.clientX, event.clientY);
    const range = at ? { node: at.offsetNode, offset: at.offset } : (({ startContainer, startOffset }) => ({ node: startContainer, offset: startOffset }))(document.caretRangeFromPoint(event.clientX, event.clientY));
    if (!byId("text").contains(range.node)) return;
    const border = settled(page.doc().text, offsetAt(byId("text"), range.node, range.offset) ?? mention[side]);
    page.perform({ kind: "move_mention", mention: mention.id, start: mention.start, end: mention.end, [side]: border });
  };
  addEventListener("pointerup", drop, { once: true });
}

async function done(page) {
  const doc = page.shown().kept();
  await keepDocument({ ...doc, meta: { ...doc.meta, edited: true } });
  say(word("kept", { n: (await keptDocuments()).length }));
}
