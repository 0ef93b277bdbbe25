// Marks: which mention is drawn where. Mentions may nest and cross, so the text is cut at all their borders into runs,
// and every mention has a lane: the number of its line below the text. Nothing here touches the page.

/**
 * Lane of each mention, by id: interval colouring, short mentions first, so that an inner mention is nearer to its
 * text than the one around it. `room` is the least number of characters that a mention and its label need.
 */
export function lanesOf(mentions, room = () => 0) {
  const lanes = new Map();
  const taken = []; // for each lane, the occupied ranges
  const order = [...mentions].sort((a, b) => a.end - a.start - (b.end - b.start) || a.start - b.start);
  for (const mention of order) {
    const start = mention.start;
    const end = Math.max(mention.end, start + room(mention));
    let lane = taken.findIndex((ranges) => ranges.every((range) => range.end <= start || range.start >= end));
    if (lane < 0) lane = taken.push([]) - 1;
    taken[lane].push({ start, end });
    lanes.set(mention.id, lane);
  }
  return lanes;
}

/** The runs of start:end: each has its range and the mentions over it, the one drawn outermost first. */
export function runsOf(start, end, mentions, lanes, cuts = []) {
  const inside = mentions.filter((m) => m.start < end && m.end > start);
  const borders = new Set([start, end]);
  for (const m of inside) for (const border of [m.start, m.end]) if (border > start && border < end) borders.add(border);
  for (const cut of cuts) if (cut > start && cut < end) borders.add(cut);
  const places = [...borders].sort((a, b) => a - b);
  const runs = [];
  for (let i = 0; i + 1 < places.length; i += 1) {
    const over = inside.filter((m) => m.start <= places[i] && m.end >= places[i + 1]);
    over.sort((a, b) => lanes.get(b.id) - lanes.get(a.id));
    runs.push({ start: places[i], end: places[i + 1], mentions: over });
  }
  return runs;
}

/** The blocks of a text: its lines, and long lines cut between sentences. Line breaks belong to no block. */
export function blocksOf(text, sentences, longest = 3000) {
  const blocks = [];
  let start = 0;
  while (start <= text.length) {
    let end = text.indexOf("\n", start);
    if (end < 0) end = text.length;
    let from = start;
    while (end - from > longest) {
      const cut = sentences.findLast(([, stop]) => stop > from && stop <= from + longest)?.[1] ?? from + longest;
      blocks.push({ start: from, end: cut });
      from = cut;
    }
    blocks.push({ start: from, end });
    start = end + 1;
  }
  return blocks;
}

/** The pieces of a block: its sentences (with their number) and what lies between them (number -1). */
export function piecesOf(block, sentences) {
  const pieces = [];
  let at = block.start;
  const first = firstAfter(sentences, block.start);
  for (let i = first; i < sentences.length && sentences[i][0] < block.end; i += 1) {
    const start = Math.max(sentences[i][0], block.start);
    const end = Math.min(sentences[i][1], block.end);
    if (start > at) pieces.push({ start: at, end: start, sentence: -1 });
    if (end > start) pieces.push({ start, end, sentence: i });
    at = Math.max(at, end);
  }
  if (at < block.end) pieces.push({ start: at, end: block.end, sentence: -1 });
  return pieces;
}

/** The index of the first sentence that ends after `at`. */
function firstAfter(sentences, at) {
  let low = 0;
  let high = sentences.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sentences[middle][1] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
