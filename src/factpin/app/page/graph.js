// Graph: entities as nodes, facts as edges, in SVG. It can be moved, zoomed and used with the keyboard.

import { draw, fill, make } from "./dom.js";
import { hueOf } from "./colours.js";
import { busiest, place, spotFor, widthOf } from "./layout.js";
import { nameOf } from "./filter.js";
import { typeName, word } from "./words.js";

const MOST = 300;
const LARGEST_TEXT = 1.5; // times its size, where the graph is drawn small
const ALONG = [0.6, 0.7, 0.5, 0.8, 0.4]; // how far along an edge its name may be, from the end with more edges
let places = new Map(); // name -> place, kept while thresholds move

/** Draw the facts of a document. `choose(selection, pinned)` is called for hover (false) and click (true). */
export function drawGraph(box, doc, facts, choose, centre = null) {
  const ids = [...new Set(facts.flatMap((f) => [f.head, f.tail]))];
  if (!ids.length) return fill(box, make("p", { class: "empty" }, word("graph_none")));
  const all = ids.map((id) => ({ id, name: nameOf(doc, id), type: doc.entities.find((e) => e.id === id)?.type ?? "" }));
  const links = facts.map((fact) => ({ source: fact.head, target: fact.tail, fact }));
  const near = centre && new Set(links.filter((l) => l.source === centre || l.target === centre).flatMap((l) => [l.source, l.target]));
  const { nodes, edges, hidden, degree } = busiest(near ? all.filter((n) => near.has(n.id)) : all, links, MOST);
  const at = place(nodes.map((n) => ({ id: n.id, ...places.get(n.name) })), edges, { distance: nodes.length > 40 ? 90 : 125, flat: shape(box) });
  for (const node of nodes) places.set(node.name, at.get(node.id));
  const scene = draw("g", {});
  const svg = draw("svg", { role: "group", "aria-label": word("graph_label", { nodes: nodes.length, edges: edges.length }) }, scene);
  const redraw = () => fill(scene, drawEdges(nodes, edges, at, degree, choose), nodes.map((n) => nodeElement(n, at.get(n.id), degree.get(n.id) ?? 0, choose)));
  redraw();
  const view = frame(svg, nodes.map((n) => ({ ...at.get(n.id), width: widthOf(shorten(n.name)) })));
  movable(svg, view, at, redraw, nodes);
  const zoom = make("div", { class: "zoom" }, [["zoom_in", "+", 0.8], ["zoom_out", "−", 1.25]].map(([key, sign, by]) =>
    make("button", { type: "button", class: "icon", "aria-label": word(key), on: { click: () => view.scale(by) } }, sign)),
    make("button", { type: "button", on: { click: () => view.fit() } }, word("graph_fit")));
  fill(box, svg, zoom, hidden ? make("p", { class: "note hidden" }, word("graph_hidden", { n: hidden })) : null);
  view.show(); // its size is known now
}

/** How tall the box is for its width. */
const shape = (box) => Math.min(1.3, Math.max(0.6, box.clientHeight / box.clientWidth || 0.72));

/** Forget places: another document. */
export const forgetPlaces = () => (places = new Map());

function nodeElement(node, { x, y }, degree, choose) {
  const pick = { kind: "entity", id: node.id };
  const on = { pointerenter: () => choose(pick, false), pointerleave: () => choose(null, false), focus: () => choose(pick, false), blur: () => choose(null, false), click: () => choose(pick, true), keydown: (event) => event.key === "Enter" && choose(pick, true) };
  const size = radius(degree);
  const g = draw("g", { class: "node", tabindex: 0, role: "button", "aria-label": `${node.name} ${typeName(node.type)}`, vars: { hue: hueOf(node.type) }, data: { entity: node.id }, on },
    draw("circle", { r: size }), draw("text", { y: size + 3, dy: "1em" }, shorten(node.name)));
  g.setAttribute("transform", `translate(${x},${y})`);
  return g;
}

const radius = (degree) => 9 + 3 * Math.sqrt(degree);

/** The places that a node and its name take. */
function boxes({ id, name }, at, degree) {
  const [{ x, y }, size] = [at.get(id), radius(degree.get(id) ?? 0)];
  return [{ x, y, width: 2 * size }, { x, y: y + size + 12, width: widthOf(shorten(name)) }];
}

const shorten = (name) => (name.length > 24 ? `${name.slice(0, 23)}…` : name);

/** Edges as bows; several facts between two entities get bows of their own, and no name covers another or a node. */
function drawEdges(nodes, edges, at, degree, choose) {
  const count = new Map();
  const taken = nodes.flatMap((node) => boxes(node, at, degree));
  return edges.map(({ source, target, fact }) => {
    const [a, b] = [at.get(source), at.get(target)];
    const key = [source, target].sort().join(" ");
    const nth = count.get(key) ?? 0;
    count.set(key, nth + 1);
    const bend = (nth % 2 ? 1 : -1) * (14 + 22 * Math.ceil(nth / 2)) * (source < target ? 1 : -1);
    const size = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [mx, my] = [(a.x + b.x) / 2 - ((b.y - a.y) / size) * bend, (a.y + b.y) / 2 + ((b.x - a.x) / size) * bend];
    const pick = { kind: "fact", id: fact._id };
    const fromSource = (degree.get(source) ?? 0) > (degree.get(target) ?? 0);
    const on = (t, axis, middle) => (1 - t) ** 2 * a[axis] + 2 * t * (1 - t) * middle + t ** 2 * b[axis];
    const spots = ALONG.map((t) => (fromSource ? t : 1 - t)).map((t) => [on(t, "x", mx), on(t, "y", my)]);
    const relation = shorten(fact.relation);
    const sure = (fact.assertion ?? "asserted") === "asserted";
    return draw("g", { class: `edge${sure ? "" : " unsure"}`, data: { fact: fact._id }, on: { pointerenter: () => choose(pick, false), pointerleave: () => choose(null, false), click: () => choose(pick, true) } },
      draw("path", { d: `M${a.x},${a.y} Q${mx},${my} ${b.x},${b.y}` }), draw("text", spotFor(relation, spots, taken), relation));
  });
}

function frame(svg, points) {
  const [left, right] = [Math.min(...points.map((p) => p.x - p.width / 2)) - 20, Math.max(...points.map((p) => p.x + p.width / 2)) + 20];
  const [top, bottom] = [Math.min(...points.map((p) => p.y)) - 40, Math.max(...points.map((p) => p.y)) + 60];
  const whole = [left, top, right - left, bottom - top];
  let box = [...whole];
  const unit = () => (svg.clientWidth ? Math.max(box[2] / svg.clientWidth, box[3] / svg.clientHeight) : 1);
  const show = () => {
    svg.setAttribute("viewBox", box.join(" "));
    svg.style.setProperty("--unit", Math.min(LARGEST_TEXT, Math.max(1, unit()))); // names stay legible where all is small
  };
  show();
  return {
    show,
    unit,
    fit() { box = [...whole]; show(); },
    scale(by) { box = [box[0] + (box[2] * (1 - by)) / 2, box[1] + (box[3] * (1 - by)) / 2, box[2] * by, box[3] * by]; show(); },
    move(dx, dy) { box[0] -= dx; box[1] -= dy; show(); },
  };
}

function movable(svg, view, at, redraw, nodes) {
  let held = null;
  svg.addEventListener("wheel", (event) => { event.preventDefault(); view.scale(event.deltaY > 0 ? 1.1 : 0.9); }, { passive: false });
  svg.addEventListener("pointerdown", (event) => { held = { x: event.clientX, y: event.clientY, node: event.target.closest(".node")?.dataset.entity, moved: false }; });
  svg.addEventListener("pointermove", (event) => {
    if (!held || !event.buttons) return;
    const [dx, dy] = [(event.clientX - held.x) * view.unit(), (event.clientY - held.y) * view.unit()];
    if (!held.moved && Math.hypot(dx, dy) < 4) return;
    Object.assign(held, { x: event.clientX, y: event.clientY, moved: true });
    if (!held.node) return view.move(dx, dy);
    const point = at.get(held.node);
    Object.assign(point, { x: point.x + dx, y: point.y + dy });
    places.set(nodes.find((n) => n.id === held.node).name, point);
    redraw();
  });
  for (const name of ["pointerup", "pointerleave"]) svg.addEventListener(name, () => (held = null));
}

/** The width that a drawing has in a card, at most so many pixels: less on a phone. */
export const cardWidth = (most) => Math.min(most, innerWidth - 60);

/** A chain of hops as a row of nodes: [{source, relation, target}]. */
export function drawPath(hops) {
  const names = [hops[0].source, ...hops.map((hop) => hop.target)];
  const step = 190;
  const x = (i) => 80 + i * step;
  const edges = hops.map((hop, i) => draw("g", { class: "edge lit" }, draw("path", { d: `M${x(i) + 14},50 Q${x(i) + step / 2},22 ${x(i + 1) - 14},50` }), draw("text", { x: x(i) + step / 2, y: 26 }, shorten(hop.relation))));
  const nodes = names.map((name, i) => draw("g", { class: "node", transform: `translate(${x(i)},54)`, vars: { hue: i ? 150 : 25 } }, draw("circle", { r: 12 }), draw("text", { y: 32 }, shorten(name))));
  const width = 160 + hops.length * step;
  const unit = Math.min(1.4, Math.max(1, width / cardWidth(560))); // names stay legible
  return draw("svg", { viewBox: `0 0 ${width} 110`, vars: { unit }, role: "img", "aria-label": names.join(" → ") }, edges, nodes);
}
