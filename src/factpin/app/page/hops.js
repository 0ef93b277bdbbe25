// Hops: what was considered on the way to an answer, as a graph. The way to the answer is lit; other facts are thin, and
// those that do not hold are dashed. An edge with a citation can be chosen, by pointer or keyboard, to see its source.

import { draw } from "./dom.js";
import { cardWidth } from "./graph.js";
import { place } from "./layout.js";
import { word } from "./words.js";

const [WIDTH, HEIGHT] = [560, 320]; // of the drawing, about
const MOST = 40; // edges; more cannot be told apart
const shorten = (name) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);

/** The edges of an answer without repetition, those of its path first: [{source, relation, target, lit, unsure, citation}]. */
export function hopsOf(found) {
  const searched = found.searched ?? {};
  const rows = [
    ...(found.path ?? []).map((hop) => ({ ...hop, lit: true })),
    ...(searched.hops ?? []),
    ...(searched.facts ?? []).map((fact) => ({ source: fact.head, relation: fact.relation, target: fact.tail, unsure: fact.status !== "active" })),
  ];
  const seen = new Map();
  for (const { source, relation, target, lit = false, unsure = false, citation = null } of rows) {
    const key = JSON.stringify([source, relation, target]);
    if (source && target && !seen.has(key)) seen.set(key, { source, relation, target, lit, unsure: unsure && !lit, citation });
  }
  return { hops: [...seen.values()].slice(0, MOST), hidden: Math.max(0, seen.size - MOST) };
}

/** Draw hops; `show(citation)` is called when an edge is chosen. */
export function drawHops(hops, show) {
  const names = [...new Set(hops.flatMap((hop) => [hop.source, hop.target]))];
  const width = cardWidth(WIDTH);
  const at = place(names.map((id) => ({ id })), hops, { distance: 130, flat: HEIGHT / width });
  const lit = new Set(hops.filter((hop) => hop.lit).flatMap((hop) => [hop.source, hop.target]));
  const points = [...at.values()];
  const [left, top] = [Math.min(...points.map((p) => p.x)) - 100, Math.min(...points.map((p) => p.y)) - 40];
  const [right, bottom] = [Math.max(...points.map((p) => p.x)) + 100, Math.max(...points.map((p) => p.y)) + 50];
  const nodes = names.map((name) => draw("g", { class: `node${lit.has(name) ? " lit" : ""}`, transform: `translate(${at.get(name).x},${at.get(name).y})`, vars: { hue: lit.has(name) ? 150 : 250 } },
    draw("circle", { r: lit.has(name) ? 12 : 8 }), draw("text", { y: 28 }, shorten(name))));
  const unit = Math.min(1.7, Math.max(1, (right - left) / width, (bottom - top) / HEIGHT)); // names stay legible
  return draw("svg", { class: "hops", viewBox: `${left} ${top} ${right - left} ${bottom - top}`, vars: { unit }, role: "group", "aria-label": word("considered") }, hops.map((hop) => edge(hop, at, show)), nodes);
}

function edge(hop, at, show) {
  const [a, b] = [at.get(hop.source), at.get(hop.target)];
  const [mx, my] = [(a.x + b.x) / 2 - (b.y - a.y) * 0.12, (a.y + b.y) / 2 + (b.x - a.x) * 0.12];
  const choose = hop.citation?.uri ? () => show(hop.citation) : null;
  const role = choose ? { tabindex: 0, role: "button", on: { click: choose, keydown: (event) => event.key === "Enter" && choose() } } : { role: "img" };
  return draw("g", { class: `edge${hop.lit ? " lit" : ""}${hop.unsure ? " unsure" : ""}`, "aria-label": `${hop.source} → ${hop.relation} → ${hop.target}`, ...role },
    draw("path", { d: `M${a.x},${a.y} Q${mx},${my} ${b.x},${b.y}` }), draw("text", { x: (a.x + b.x) / 4 + mx / 2, y: (a.y + b.y) / 4 + my / 2 }, shorten(hop.relation || "")));
}
