// Layout: places for the nodes of a graph by springs and charges, part by part; parts that no edge joins are put beside
// each other. No chance is involved, so the same graph always looks the same, and nodes that have a place keep near it.

const FAR = 3.5; // nodes farther apart than this many distances do not push each other
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const WIDER = 1.3; // names are wide, so parts are too
const ROOM = { x: 75, y: 42 }; // around a part, for the names of its nodes

/**
 * Place nodes. `nodes`: [{id, x?, y?}], `edges`: [{source, target}]. Returns a Map of id -> {x, y}.
 * Forces inside a part: k²/d between all nodes, d²/k along edges, and a light pull to its centre (Fruchterman and
 * Reingold 1991). Parts fill lines of a box that is `flat` times as tall as it is wide; new ones go below old ones.
 */
export function place(nodes, edges, { distance = 130, steps = 220, flat = 0.72 } = {}) {
  const found = new Map();
  const fresh = [];
  for (const part of parts(nodes, edges)) {
    const known = part.filter((node) => node.x !== undefined).length;
    const points = settle(part, edges, known, distance, steps);
    if (known) for (const { id, x, y } of points) found.set(id, { x, y });
    else fresh.push(points);
  }
  const old = found.size ? boxOf([...found.values()]) : null;
  const top = old ? old.bottom + ROOM.y : 0;
  for (const { id, x, y } of pack(fresh, flat, old?.left ?? 0, top)) found.set(id, { x, y });
  return new Map(nodes.map(({ id }) => [id, found.get(id)]));
}

/** The nodes by the parts of the graph that edges join. */
function parts(nodes, edges) {
  const leader = new Map(nodes.map(({ id }) => [id, id]));
  const first = (id) => (leader.get(id) === id ? id : first(leader.get(id)));
  for (const { source, target } of edges) if (leader.has(source) && leader.has(target)) leader.set(first(source), first(target));
  const found = new Map();
  for (const node of nodes) {
    const key = first(node.id);
    found.set(key, [...(found.get(key) ?? []), node]);
  }
  return [...found.values()];
}

/** The points of one part: new nodes start beside a neighbour, or on a spiral where none has a place. */
function settle(part, edges, known, distance, steps) {
  if (known === part.length) return part;
  const places = new Map(part.filter((node) => node.x !== undefined).map(({ id, x, y }) => [id, { x: x / WIDER, y }]));
  const middle = { x: 0, y: 0 };
  for (const { x, y } of places.values()) Object.assign(middle, { x: middle.x + x / known, y: middle.y + y / known });
  const beside = (id) => edges.filter((e) => e.source === id || e.target === id).map((e) => places.get(e.source === id ? e.target : e.source)).find(Boolean);
  const points = part.map(({ id }, i) => {
    const from = places.get(id) ?? beside(id) ?? middle;
    const out = places.has(id) ? 0 : distance * 0.6 * Math.sqrt(i + 0.5);
    return { id, x: from.x - middle.x + out * Math.cos(i * GOLDEN), y: from.y - middle.y + out * Math.sin(i * GOLDEN) };
  });
  const index = new Map(points.map((point, i) => [point.id, i]));
  const pairs = edges.map((e) => [index.get(e.source), index.get(e.target)]).filter(([a, b]) => a !== undefined && b !== undefined && a !== b);
  const links = [...new Map(pairs.map(([a, b]) => [`${Math.min(a, b)} ${Math.max(a, b)}`, [a, b]])).values()];
  const first = distance * (known ? 0.3 : 0.9);
  for (let step = 0; step < steps; step += 1) relax(points, links, distance, first * (1 - step / steps) + 0.5);
  return points.map(({ id, x, y }) => ({ id, x: (x + middle.x) * WIDER, y: y + middle.y }));
}

/** Parts beside each other, the tallest first, in lines from `left` and `top` on, as large as the box allows. */
function pack(all, flat, left, top) {
  const boxes = all.map((points) => ({ points, ...boxOf(points) })).map((box) => ({ ...box, width: box.right - box.left, height: box.bottom - box.top }));
  boxes.sort((a, b) => b.height - a.height || b.width - a.width);
  const widths = boxes.map((_, i) => boxes.slice(0, i + 1).reduce((sum, box) => sum + box.width, 0));
  const tries = widths.map((most) => inLines(boxes, most, left, top));
  const size = (found) => Math.max(found.width, found.height / flat);
  return tries.reduce((best, found) => (size(found) < size(best) ? found : best), tries[0] ?? { points: [] }).points;
}

/** Boxes in lines that are at most so wide, if no box is wider. */
function inLines(boxes, most, left, top) {
  let [x, y, tall, width] = [left, top, 0, 0];
  const points = boxes.flatMap((box) => {
    if (x > left && x + box.width > left + most + 1) [x, y, tall] = [left, y + tall, 0];
    tall = Math.max(tall, box.height);
    const [dx, dy] = [x - box.left, y + (tall - box.height) / 2 - box.top];
    x += box.width;
    width = Math.max(width, x - left);
    return box.points.map((point) => ({ id: point.id, x: point.x + dx, y: point.y + dy }));
  });
  return { points, width, height: y + tall - top };
}

/** The box around points, with room for names. */
function boxOf(points) {
  const [xs, ys] = [points.map((p) => p.x), points.map((p) => p.y)];
  return { left: Math.min(...xs) - ROOM.x, right: Math.max(...xs) + ROOM.x, top: Math.min(...ys) - ROOM.y, bottom: Math.max(...ys) + ROOM.y };
}

function relax(points, links, k, most) {
  const force = points.map(() => [0, 0]);
  for (let i = 0; i < points.length; i += 1) {
    for (let j = i + 1; j < points.length; j += 1) push(points, force, i, j, k);
    force[i][0] -= points[i].x * 0.05;
    force[i][1] -= points[i].y * 0.05;
  }
  for (const [a, b] of links) pull(points, force, a, b, k);
  points.forEach((point, i) => {
    const [fx, fy] = force[i];
    const size = Math.hypot(fx, fy) || 1;
    point.x += (fx / size) * Math.min(size, most);
    point.y += (fy / size) * Math.min(size, most);
  });
}

function push(points, force, i, j, k) {
  const dx = points[i].x - points[j].x || 0.01 * (i - j);
  const dy = points[i].y - points[j].y || 0.01 * (j - i);
  const square = dx * dx + dy * dy;
  if (square > FAR * FAR * k * k) return;
  const by = (k * k) / square;
  force[i][0] += dx * by;
  force[i][1] += dy * by;
  force[j][0] -= dx * by;
  force[j][1] -= dy * by;
}

function pull(points, force, a, b, k) {
  const dx = points[a].x - points[b].x;
  const dy = points[a].y - points[b].y;
  const by = Math.hypot(dx, dy) / k;
  force[a][0] -= dx * by;
  force[a][1] -= dy * by;
  force[b][0] += dx * by;
  force[b][1] += dy * by;
}

/** The nodes to draw, at most `most`: those with the most edges, and how many are left out. */
export function busiest(nodes, edges, most) {
  const degree = new Map();
  for (const edge of edges) for (const id of [edge.source, edge.target]) degree.set(id, (degree.get(id) ?? 0) + 1);
  const order = [...nodes].sort((a, b) => (degree.get(b.id) ?? 0) - (degree.get(a.id) ?? 0));
  const kept = new Set(order.slice(0, most).map((node) => node.id));
  return {
    nodes: nodes.filter((node) => kept.has(node.id)),
    edges: edges.filter((edge) => kept.has(edge.source) && kept.has(edge.target)),
    hidden: nodes.length - kept.size,
    degree,
  };
}

const LINE = 18; // the height of a name of an edge, where the graph is drawn small
const NARROW = 7.5; // the width of one character of it
const WIDE = 14; // of a Chinese one

/** How wide a name is, where the graph is drawn small. */
export const widthOf = (name) => [...name].reduce((sum, c) => sum + (c > "\u2e80" ? WIDE : NARROW), 0);

/** Where the name of an edge goes: the first of `spots` ([x, y]) at which it covers none of `taken`, or below the first. */
export function spotFor(name, spots, taken) {
  const width = widthOf(name);
  const isFree = ([x, y]) => taken.every((other) => Math.abs(other.x - x) >= (other.width + width) / 2 || Math.abs(other.y - y) >= LINE);
  const [x, y] = spots[0];
  const below = Array.from({ length: 6 }, (_, i) => [x, y + LINE * (i + 1)]);
  const [at, height] = [...spots, ...below].find(isFree) ?? spots[0];
  taken.push({ x: at, y: height, width });
  return { x: at, y: height };
}
