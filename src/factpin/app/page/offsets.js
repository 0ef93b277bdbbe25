// Offsets: the server counts code points, JavaScript counts UTF-16 units. Documents are converted once when they
// arrive (fromServer) and once when they leave (toServer); everything between counts UTF-16 units.

/** Whether every character of the text is one UTF-16 unit, so that both counts agree. */
export function isPlain(text) {
  return !/[\ud800-\udfff]/.test(text);
}

/** Code point index -> UTF-16 index, for 0 .. number of code points. */
export function unitsOf(text) {
  const units = new Uint32Array(text.length + 1);
  let point = 0;
  for (let unit = 0; unit < text.length; point += 1) {
    units[point] = unit;
    unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
  }
  units[point] = text.length;
  return units.subarray(0, point + 1);
}

/** UTF-16 index -> code point index; an index inside a surrogate pair has none and is an error. */
export function pointsOf(text) {
  const points = new Map();
  unitsOf(text).forEach((unit, point) => points.set(unit, point));
  return points;
}

/** A document of the server, with every offset in UTF-16 units, an id for every fact, and in _unsure what it marked. */
export function fromServer(record) {
  const facts = (record.facts ?? []).map((fact, i) => ({ _id: `f${i}`, ...fact }));
  const { unsure, ...meta } = record.meta ?? {};
  const doc = { sentences: [], mentions: [], entities: [], events: [], ...record, meta, facts, _unsure: unsure ?? null };
  if (isPlain(doc.text)) return doc;
  const units = unitsOf(doc.text);
  return moved(doc, (point) => units[Math.min(point, units.length - 1)]);
}

/** A document as the server wants it: offsets in code points, without the page's own fields and rejected facts. */
export function toServer(doc) {
  const facts = doc.facts.filter((fact) => fact._hand !== "rejected");
  const clean = JSON.parse(JSON.stringify({ ...doc, facts }, (key, value) => (key.startsWith("_") ? undefined : value)));
  if (isPlain(doc.text)) return clean;
  const points = pointsOf(doc.text);
  return moved(clean, (unit) => {
    if (!points.has(unit)) throw new RangeError(`offset ${unit} is inside a character`);
    return points.get(unit);
  });
}

/** The document with `to` applied to every offset in it. */
function moved(doc, to) {
  const pair = ([start, end]) => [to(start), to(end)];
  const span = (item) =>
    typeof item.start === "number" && typeof item.end === "number" ? { ...item, start: to(item.start), end: to(item.end) } : item;
  const cued = (item) => (item.cue ? { ...item, cue: pair(item.cue) } : item);
  const result = {
    ...doc,
    sentences: doc.sentences?.map(pair),
    mentions: doc.mentions?.map(span),
    facts: doc.facts?.map((fact) => cued(fact.evidence ? { ...fact, evidence: fact.evidence.map(span) } : fact)),
    events: doc.events?.map(cued),
  };
  if (doc.coverage) {
    result.coverage = { ...doc.coverage, read: doc.coverage.read?.map(pair), unread: doc.coverage.unread?.map(span) };
  }
  if (Array.isArray(doc.meta?.pages)) result.meta = { ...doc.meta, pages: doc.meta.pages.map(pair) };
  return result;
}

/** A citation or pin of the server, with offsets in UTF-16 units of the text of its document. */
export function spanFromServer(text, start, end) {
  if (isPlain(text)) return [start, end];
  const units = unitsOf(text);
  return [units[Math.min(start, units.length - 1)], units[Math.min(end, units.length - 1)]];
}

let segmenter;

/** The next place where a reader sees a border between characters, in the direction of `step` (1 or -1). */
export function neighbour(text, at, step) {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const from = Math.max(0, at - 64);
  const borders = [from];
  for (const part of segmenter.segment(text.slice(from, at + 64))) borders.push(from + part.index + part.segment.length);
  const found = step > 0 ? borders.find((border) => border > at) : borders.findLast((border) => border < at);
  return found ?? at;
}

/** The nearest border at or before `at` that does not cut a character. */
export function settled(text, at) {
  return at > 0 && at < text.length && neighbour(text, neighbour(text, at, -1), 1) !== at ? neighbour(text, at, -1) : at;
}
