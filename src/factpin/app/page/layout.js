// Layout: places for the nodes of a graph by springs and charges. No chance is involved: nodes start on a spiral in
// their order, so the same graph always looks the same, and nodes that have a place keep near it.

const FAR = 3.5; // nodes farther apart than this many distances do not push each other
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/**
 * Place nodes. `nodes`: [{id, x?, y?, fixed?}], `edges`: [{source, target}]. Returns a Map of id -> {x, y} around 0, 0.
 * Forces: k²/d between all nodes, d²/k along edges, and a light pull to the centre (Fruchterman and Reingold 1991).
 */
export function place(nodes, edges, { distance = 130, steps = 220, flat = 0.72 } = {}) {
  const points = nodes.map((node, i) => ({
    id: node.id,
    x: node.x ?? distance * 0.6 * Math.sqrt(i + 0.5) * Math.cos(i * GOLDEN),
    y: node.y ?? distance * 0.6 * Math.sqrt(i + 0.5) * Math.sin(i * GOLDEN),
    fixed: node.fixed ?? false,
  }));
  const known = nodes.filter((node) => node.x !== undefined).length;
  const index = new Map(points.map((point, i) => [point.id, i]));
  const links = edges.map((e) => [index.get(e.source), index.get(e.target)]).filter(([a, b]) => a !== undefined && b !== undefined && a !== b);
  const first = distance * (nodes.length && known === nodes.length ? 0.05 : 0.9);
  for (let step = 0; step < steps; step += 1) {
    const most = first * (1 - step / steps) + 0.5;
    relax(points, links, distance, most, flat);
  }
  return new Map(points.map(({ id, x, y }) => [id, { x, y }]));
}

function relax(points, links, k, most, flat) {
  const force = points.map(() => [0, 0]);
  for (let i = 0; i < points.length; i += 1) {
    for (let j = i + 1; j < points.length; j += 1) push(points, force, i, j, k);
    force[i][0] -= points[i].x * 0.3;
    force[i][1] -= (points[i].y * 0.3) / flat;
  }
  for (const [a, b] of links) pull(points, force, a, b, k);
  points.forEach((point, i) => {
    if (point.fixed) return;
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
  if (square > FAR * FAR * k * k) return; // parts of the graph that no edge joins stay near each other
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

/** Where the name of an edge goes: the first of `spots` ([x, y]) at which it covers none of `taken`, or below the first. */
export function spotFor(name, spots, taken) {
  const width = [...name].reduce((sum, c) => sum + (c > "\u2e80" ? WIDE : NARROW), 0);
  const isFree = ([x, y]) => taken.every((other) => Math.abs(other.x - x) >= (other.width + width) / 2 || Math.abs(other.y - y) >= LINE);
  const [x, y] = spots[0];
  const below = Array.from({ length: 6 }, (_, i) => [x, y + LINE * (i + 1)]);
  const [at, height] = [...spots, ...below].find(isFree) ?? spots[0];
  taken.push({ x: at, y: height, width });
  return { x: at, y: height };
}
