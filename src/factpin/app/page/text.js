// Text: the read view. A document is drawn block by block; marks are filled in when a block comes into sight.

import { draw, fill, make } from "./dom.js";
import { hueOf } from "./colours.js";
import { blocksOf, lanesOf, piecesOf, runsOf } from "./marks.js";
import { typeName, word } from "./words.js";

const AT_ONCE = 40; // blocks that are marked before they are seen
const APART = 6; // pixels between two labels
const brush = document.createElement("canvas").getContext("2d");

/** Draw a document into `box`. `extra`: spans [{start, end, kind}] with a class of their own, such as a citation. */
export function drawText(box, doc, mentions, extra = []) {
  box.lang = doc.language ?? "";
  box.observer?.disconnect();
  const special = [...extra, ...(doc.coverage?.unread ?? []).map((u) => ({ ...u, kind: "unread", title: word("not_read", { reason: u.reason }) }))];
  const pages = new Map((doc.meta?.pages ?? []).map(([start], i) => [start, i + 1]));
  const fillIn = new Map();
  const room = roomFor(box);
  const blocks = blocksOf(doc.text, doc.sentences).map((block, i) => {
    const element = make("div", { class: "block" }, i < AT_ONCE ? "" : doc.text.slice(block.start, block.end));
    const mark = () => markBlock(element, doc, block, mentions, special, room);
    if (i < AT_ONCE) mark();
    else fillIn.set(element, mark);
    const number = [...pages].find(([start]) => start >= block.start && start <= block.end && pages.size > 1)?.[1];
    return number ? [make("div", { class: "page" }, word("page_number", { n: number })), element] : element;
  });
  fill(box, blocks.flat());
  box.fillAll = () => [...fillIn].forEach(([element, mark]) => fillIn.delete(element) && mark());
  if (!fillIn.size) return;
  box.observer = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) if (isIntersecting && fillIn.has(target)) {
      fillIn.get(target)();
      fillIn.delete(target);
    }
  }, { rootMargin: "800px" });
  for (const element of fillIn.keys()) box.observer.observe(element);
}

/** How many characters of a mention its label needs, by the fonts that are there. */
function roomFor(box) {
  const of = (element) => getComputedStyle(element);
  const width = (font, words) => Object.assign(brush, { font }).measureText(words).width;
  return (mention) => {
    const text = mention.text.slice(0, 40);
    const label = width(`600 10.5px ${of(document.body).fontFamily}`, typeName(mention.type)) * 1.03 + APART; // letters are spaced
    return Math.ceil(label * text.length / (width(`${of(box).fontSize} ${of(box).fontFamily}`, text) || 1));
  };
}

function markBlock(element, doc, block, mentions, special, room) {
  const inside = mentions.filter((m) => m.start < block.end && m.end > block.start);
  const lanes = lanesOf(inside, room);
  element.style.setProperty("--lanes", inside.length ? Math.max(...lanes.values()) + 1 : 0);
  const spans = special.filter((s) => s.start < block.end && s.end > block.start);
  const cuts = [...spans.flatMap((s) => [s.start, s.end]), ...doc.facts.filter((f) => f.cue).flatMap((f) => f.cue)];
  fill(element, piecesOf(block, doc.sentences).map((piece) => {
    const runs = runsOf(piece.start, piece.end, inside, lanes, cuts).map((run) => runElement(doc, run, lanes, spans));
    if (piece.sentence < 0) return make("span", {}, runs);
    const first = doc.sentences[piece.sentence][0] === piece.start;
    return make("span", { class: "s", data: { s: piece.sentence, ...(first ? { n: piece.sentence + 1 } : {}) } }, runs);
  }));
}

function runElement(doc, run, lanes, spans) {
  const over = spans.filter((s) => s.start <= run.start && s.end >= run.end);
  const kinds = over.map((s) => s.kind).join(" ");
  let element = make("span", { class: `run ${kinds}`.trim(), title: over.find((s) => s.title)?.title, data: { start: run.start, end: run.end } }, doc.text.slice(run.start, run.end));
  for (const m of [...run.mentions].reverse()) {
    const vars = { lane: lanes.get(m.id), hue: hueOf(m.type) };
    const label = typeName(m.type);
    const chip = m.start === run.start && label ? make("span", { class: "chip", vars, data: { type: label } }) : null;
    element = make("span", { class: "m", vars, data: { m: m.id } }, chip, element);
  }
  return element;
}

/** Light mentions, sentences and a cue; null lets go. `fact`: its two mentions are joined by an arc. */
export function lightText(box, doc, lit) {
  for (const element of box.querySelectorAll(".m.lit, .evidence, .cue")) element.classList.remove("lit", "evidence", "cue");
  for (const element of box.querySelectorAll(".margin, .arc")) element.remove();
  box.classList.toggle("dim", Boolean(lit?.sentences?.length));
  if (!lit) return;
  if ([...lit.mentions].some((id) => !box.querySelector(`[data-m="${CSS.escape(id)}"]`))) box.fillAll?.();
  for (const id of lit.mentions) for (const element of box.querySelectorAll(`[data-m="${CSS.escape(id)}"]`)) element.classList.add("lit");
  for (const number of lit.sentences ?? []) {
    const parts = [...box.querySelectorAll(`[data-s="${number}"]`)];
    parts.forEach((part) => part.classList.add("evidence"));
    if (parts.length) addMargin(box, parts);
  }
  if (lit.cue) for (const run of box.querySelectorAll(".run")) if (+run.dataset.start >= lit.cue[0] && +run.dataset.end <= lit.cue[1]) run.classList.add("cue");
  if (lit.arc) addArc(box, ...lit.arc);
}

/** The place of an element, counted from the corner of the box. */
function placeIn(box, rect) {
  const base = box.getBoundingClientRect();
  return { left: rect.left - base.left, top: rect.top - base.top, width: rect.width, height: rect.height };
}

function addMargin(box, parts) {
  const rects = parts.map((part) => placeIn(box, part.getBoundingClientRect()));
  const top = Math.min(...rects.map((r) => r.top));
  const bar = make("div", { class: "margin", "aria-hidden": "true" });
  bar.style.top = `${top}px`;
  bar.style.height = `${Math.max(...rects.map((r) => r.top + r.height)) - top}px`;
  box.append(bar);
}

function addArc(box, head, tail, relation) {
  const [from, to] = [head, tail].map((id) => box.querySelector(`[data-m="${CSS.escape(id)}"] .run`)?.getClientRects()[0]);
  if (!from || !to) return;
  const [a, b] = [placeIn(box, from), placeIn(box, to)];
  const [x1, x2] = [a.left + a.width / 2, b.left + b.width / 2];
  const [y1, y2] = [a.top, b.top];
  const lift = Math.min(y1, y2) - 12 - Math.min(8, Math.abs(x1 - x2) / 20);
  const path = `M${x1},${y1} C${x1},${lift} ${x2},${lift} ${x2},${y2 - 2}`;
  const tip = `M${x2 - 4},${y2 - 8} L${x2},${y2 - 1} L${x2 + 4},${y2 - 8}`;
  const name = draw("text", { x: (x1 + x2) / 2, y: Math.max(12, (y1 + y2) / 8 + lift * 0.75 + 3) }, relation);
  box.append(draw("svg", { class: "arc", width: "100%", height: "100%", "aria-hidden": "true" }, draw("path", { d: path }), draw("path", { d: tip }), name));
}

/** The selected characters of the box as [start, end], or null. */
export function selectedSpan(box) {
  const chosen = getSelection();
  if (!chosen.rangeCount || chosen.isCollapsed || !box.contains(chosen.anchorNode) || !box.contains(chosen.focusNode)) return null;
  const range = chosen.getRangeAt(0);
  const [start, end] = [offsetAt(box, range.startContainer, range.startOffset), offsetAt(box, range.endContainer, range.endOffset)];
  return start === null || end === null || end <= start ? null : [start, end];
}

/** The offset in the document of a place in the page. */
export function offsetAt(box, node, offset) {
  const run = (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest?.(".run");
  if (run && node.nodeType === Node.TEXT_NODE) return +run.dataset.start + offset;
  const probe = document.createRange();
  probe.setStart(node, offset);
  for (const element of box.querySelectorAll(".run")) if (probe.comparePoint(element, 0) >= 0) return +element.dataset.start;
  const runs = box.querySelectorAll(".run");
  return runs.length ? +runs[runs.length - 1].dataset.end : null;
}
