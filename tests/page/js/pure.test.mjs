// Tests of the modules that need no browser. Run by tests/page/test_modules.py with `node --test`.
import assert from "node:assert/strict";
import { test } from "node:test";

const page = new URL("../../../src/factpin/app/page/", import.meta.url);
const [offsets, marks, edit, filter, layout, words, notes] = await Promise.all(
  ["offsets", "marks", "edit", "filter", "layout", "words", "notes"].map((name) => import(new URL(`${name}.js`, page))),
);
const TEXT = "👨‍👩‍👧 谷爱凌𠮷";

function sample() {
  const points = [...TEXT];
  const at = points.indexOf("谷");
  return {
    id: "d", text: TEXT, language: "zh", sentences: [[0, points.length]],
    mentions: [{ id: "m0", start: at, end: at + 3, text: "谷爱凌", type: "person", score: 0.9 }, { id: "m1", start: at + 3, end: at + 4, text: "𠮷", type: "other", score: 0.6 }],
    entities: [{ id: "e0", type: "person", name: "谷爱凌", mentions: ["m0"] }, { id: "e1", type: "other", name: "𠮷", mentions: ["m1"] }],
    facts: [{ head: "e0", relation: "r", tail: "e1", head_mention: "m0", tail_mention: "m1", score: 0.7, evidence: [{ sentence: 0 }], assertion: "negated", cue: [0, 5] }],
    events: [], coverage: { read: [[0, points.length]], unread: [{ start: 0, end: 5, reason: "x" }] }, meta: { pages: [[0, points.length]] },
  };
}

test("offsets of the server become UTF-16 units and come back", () => {
  const doc = offsets.fromServer(sample());
  for (const m of doc.mentions) assert.equal(doc.text.slice(m.start, m.end), m.text);
  assert.equal(doc.sentences[0][1], TEXT.length);
  assert.deepEqual(offsets.toServer(doc), sample());
});

test("an offset inside a character is refused", () => {
  const doc = offsets.fromServer(sample());
  doc.mentions[1] = { ...doc.mentions[1], start: doc.mentions[1].start + 1 };
  assert.throws(() => offsets.toServer(doc), RangeError);
});

test("borders move by what a reader sees as one character", () => {
  const family = "👨‍👩‍👧".length;
  assert.equal(offsets.neighbour(TEXT, 0, 1), family);
  assert.equal(offsets.neighbour(TEXT, family, -1), 0);
  assert.equal(offsets.settled(TEXT, 3), 0);
  assert.equal(offsets.neighbour(TEXT, TEXT.length, -1), TEXT.length - 2);
});

test("nested and crossing mentions get lanes of their own, the inner one nearest to the text", () => {
  const mentions = [{ id: "a", start: 0, end: 10 }, { id: "b", start: 2, end: 8 }, { id: "c", start: 3, end: 5 }, { id: "d", start: 9, end: 14 }];
  const lanes = marks.lanesOf(mentions);
  assert.deepEqual(["c", "b", "a"].map((id) => lanes.get(id)), [0, 1, 2]);
  assert.notEqual(lanes.get("a"), lanes.get("d"));
  for (const x of mentions) for (const y of mentions) if (x !== y && x.start < y.end && y.start < x.end) assert.notEqual(lanes.get(x.id), lanes.get(y.id));
});

test("runs cover a range without gaps and name every mention over them", () => {
  const mentions = [{ id: "a", start: 0, end: 6 }, { id: "b", start: 4, end: 9 }];
  const runs = marks.runsOf(0, 12, mentions, marks.lanesOf(mentions), [11]);
  assert.deepEqual(runs.map((r) => [r.start, r.end]), [[0, 4], [4, 6], [6, 9], [9, 11], [11, 12]]);
  assert.deepEqual(runs[1].mentions.map((m) => m.id).sort(), ["a", "b"]);
});

test("blocks and pieces give the text back", () => {
  const text = "一。二。\n\n三。 end";
  const sentences = [[0, 2], [2, 4], [6, 8], [9, 12]];
  const blocks = marks.blocksOf(text, sentences);
  const said = blocks.map((b) => marks.piecesOf(b, sentences).map((p) => text.slice(p.start, p.end)).join("")).join("\n");
  assert.equal(said, text);
  const long = "字".repeat(9000);
  assert.equal(marks.blocksOf(long, []).map((b) => long.slice(b.start, b.end)).join(""), long);
});

test("undo and redo give back exactly what was there", () => {
  const doc = offsets.fromServer(sample());
  const at = TEXT.indexOf("谷");
  const operations = [
    { kind: "add_mention", start: 0, end: at - 1, type: "other" }, { kind: "relabel_mention", mention: "m0", type: "work" },
    { kind: "move_mention", mention: "m0", start: at, end: at + 2 }, { kind: "set_status", fact: "f0", status: "asserted" },
    { kind: "add_fact", head: "m1", relation: "q", tail: "m0" }, { kind: "judge_fact", fact: "f0", verdict: "rejected" },
    { kind: "relabel_fact", fact: "f1", relation: "z" }, { kind: "remove_mention", mention: "m1" },
  ];
  let history = edit.begin(doc);
  const seen = [JSON.stringify(edit.current(history))];
  for (const operation of operations) { history = edit.perform(history, operation); seen.push(JSON.stringify(edit.current(history))); }
  assert.equal(history.operations.length, operations.length);
  for (let i = operations.length - 1; i >= 0; i -= 1) { history = edit.undo(history); assert.equal(JSON.stringify(edit.current(history)), seen[i]); }
  assert.equal(edit.current(history), doc);
  for (let i = 1; i <= operations.length; i += 1) { history = edit.redo(history); assert.equal(JSON.stringify(edit.current(history)), seen[i]); }
  assert.equal(JSON.stringify(edit.current(edit.replay(doc, operations))), seen.at(-1));
});

test("a removed mention takes what needs it along; a rejected fact is not exported", () => {
  const doc = offsets.fromServer(sample());
  const without = edit.apply(doc, { kind: "remove_mention", mention: "m1" });
  assert.deepEqual([without.mentions.length, without.entities.length, without.facts.length], [1, 1, 0]);
  const rejected = edit.apply(doc, { kind: "judge_fact", fact: "f0", verdict: "rejected" });
  assert.equal(offsets.toServer(rejected).facts.length, 0);
  const accepted = offsets.toServer(edit.apply(doc, { kind: "judge_fact", fact: "f0", verdict: "accepted" }));
  assert.equal("score" in accepted.facts[0], false);
  assert.equal(accepted.meta.edited, true);
});

test("an unlikely mention is hidden with the only fact that needs it", () => {
  const doc = offsets.fromServer(sample());
  doc.mentions[1].score = 0.4;
  const facts = filter.shownFacts(doc, { least: 0.8 });
  assert.deepEqual(filter.shownMentions(doc, facts, 0, 0.8).map((m) => m.id), ["m0"]);
  assert.equal(filter.shownMentions(doc, filter.shownFacts(doc), 0, 0).length, 2);
});

test("a mention that the models are not sure of is hidden until less than usual is asked for", () => {
  const record = { ...sample(), facts: [], meta: { pages: [], unsure: { least: 0.73, mentions: ["m1"] } } };
  const doc = offsets.fromServer(record);
  const at = (least) => filter.shownMentions(doc, [], least).map((m) => m.id);
  assert.deepEqual([at(null), at(0.73), at(0.95), at(0.5)], [["m0"], ["m0"], [], ["m0", "m1"]]);
  assert.equal("unsure" in offsets.toServer(doc).meta, false);
  const needed = offsets.fromServer({ ...sample(), meta: { pages: [], unsure: { least: 0.73, mentions: ["m1"] } } });
  assert.equal(filter.shownMentions(needed, needed.facts).length, 2);
});

test("what is kept for training is what was shown", () => {
  const record = { ...sample(), events: [{ id: "v0", type: "x", trigger: "m0", arguments: [], score: 0.3 }] };
  const doc = offsets.fromServer(record);
  const kept = (least) => { const facts = filter.shownFacts(doc, { least }); return filter.asShown(doc, facts, filter.shownMentions(doc, facts, 0.7, least), least); };
  assert.deepEqual(kept(0.2), doc);
  const fewer = kept(0.8);
  assert.deepEqual([fewer.mentions, fewer.entities, fewer.facts, fewer.events].map((list) => list.map((item) => item.id ?? item._id)), [["m0"], ["e0"], [], []]);
});

/** Merck is sure; of Darmstadt as a person the models are not. */
function unsureSample(more = {}) {
  return offsets.fromServer({
    id: "d", text: "Merck in Darmstadt said so", language: "en", sentences: [[0, 26]],
    mentions: [{ id: "m0", start: 0, end: 5, text: "Merck", type: "organization", score: 0.9 }, { id: "m1", start: 9, end: 18, text: "Darmstadt", type: "person", score: 0.6 }],
    entities: [{ id: "e0", type: "organization", mentions: ["m0"] }, { id: "e1", type: "person", mentions: ["m1"] }],
    facts: [], events: [], meta: { unsure: { least: 0.73, mentions: ["m1"] } }, ...more,
  });
}

/** What is shown and kept at the usual sliders: [start, end, type] of each mention. */
function keptUsually(doc) {
  const facts = filter.shownFacts(doc, { least: 0.5 });
  const mentions = filter.shownMentions(doc, facts, null, 0.5);
  assert.deepEqual(filter.asShown(doc, facts, mentions, 0.5).mentions, mentions);
  return mentions.map((m) => [m.start, m.end, m.type]);
}

test("a hidden mention that a person corrected is shown and kept at the usual slider", () => {
  const doc = unsureSample();
  assert.deepEqual(keptUsually(doc), [[0, 5, "organization"]]);
  const relabelled = edit.apply(doc, { kind: "relabel_mention", mention: "m1", type: "location" });
  assert.deepEqual(keptUsually(relabelled), [[0, 5, "organization"], [9, 18, "location"]]);
});

test("a mention that is added in place of a hidden one is shown, though it has the same id", () => {
  const removed = edit.apply(unsureSample(), { kind: "remove_mention", mention: "m1" });
  const added = edit.apply(removed, { kind: "add_mention", start: 9, end: 18, type: "location" });
  assert.deepEqual(added.mentions.map((m) => m.id), ["m0", "m1"]);
  assert.deepEqual(keptUsually(added), [[0, 5, "organization"], [9, 18, "location"]]);
});

test("to mark by hand what is hidden, a mention or a fact, makes it sure, and once is enough", () => {
  const history = edit.perform(edit.begin(unsureSample()), { kind: "add_mention", start: 9, end: 18, type: "person" });
  const doc = edit.current(history);
  assert.deepEqual([history.operations.length, doc.mentions.length, doc.entities.length], [1, 2, 2]);
  assert.deepEqual(keptUsually(doc), [[0, 5, "organization"], [9, 18, "person"]]);
  assert.equal(edit.apply(doc, { kind: "add_mention", start: 9, end: 18, type: "person" }), doc);
  assert.equal("score" in offsets.toServer(doc).mentions[1], false);

  const unlikely = unsureSample({ facts: [{ head: "e0", relation: "in", tail: "e1", head_mention: "m0", tail_mention: "m1", score: 0.2 }] });
  const operation = { kind: "add_fact", head: "m0", relation: "in", tail: "m1" };
  const stated = edit.apply(unlikely, operation);
  assert.deepEqual([stated.facts.length, filter.shownFacts(stated, { least: 0.5 }).length], [1, 1]);
  assert.deepEqual(keptUsually(stated), [[0, 5, "organization"], [9, 18, "person"]]);
  assert.equal(edit.apply(stated, operation), stated);
});

test("a lower slider never shows less", () => {
  const mentions = [["m0", 0, 5, 0.95], ["m1", 10, 15, 0.55], ["m2", 17, 21, 0.6], ["m3", 22, 26, 0.9]].map(([id, start, end, score]) => ({ id, start, end, text: "x", type: "o", score }));
  const doc = unsureSample({ text: "Merck and Merck, Bonn said", mentions, entities: [{ id: "e0", mentions: ["m0", "m1"] }], meta: { unsure: { least: 0.73, mentions: ["m2", "m3"] } } });
  const at = (least) => filter.shownMentions(doc, [], least, 0.5).map((m) => m.id);
  assert.deepEqual([at(null), at(0.73), at(0.72), at(0.5)], [["m0", "m1"], ["m0", "m1"], ["m0", "m1", "m3"], ["m0", "m1", "m2", "m3"]]);
  for (let least = 1; least >= 0.01; least -= 0.01) for (const id of at(least)) assert.ok(at(least - 0.01).includes(id), `${id} ${least}`);
});

test("a mention that the command line shows is not hidden with a fact that it hides", () => {
  const fact = { head: "e0", relation: "in", tail: "e1", head_mention: "m0", tail_mention: "m1", score: 0.2 };
  const mentions = unsureSample().mentions.map((m) => ({ ...m, score: 0.4 }));
  assert.equal(keptUsually(unsureSample({ mentions, facts: [fact], meta: {} })).length, 2);
});

test("an event that is kept does not point at one that is not", () => {
  const events = [{ id: "v0", type: "a", trigger: "m0", score: 0.9, arguments: [{ role: "r", event: "v1" }, { role: "s", mention: "m1" }] }, { id: "v1", type: "b", trigger: "m1", score: 0.2, arguments: [] }];
  const doc = unsureSample({ events });
  const kept = (least) => filter.asShown(doc, [], filter.shownMentions(doc, []), least).events;
  assert.deepEqual(kept(0.5), [{ ...events[0], arguments: [{ role: "s", mention: "m1" }] }]);
  assert.deepEqual(kept(0.1), events);
});

test("the same graph is always drawn the same, and nodes do not lie on each other", () => {
  const nodes = [..."abcdefgh"].map((id) => ({ id }));
  const edges = [["a", "b"], ["a", "c"], ["a", "d"], ["e", "f"]].map(([source, target]) => ({ source, target }));
  const [one, two] = [layout.place(nodes, edges), layout.place(nodes, edges)];
  assert.deepEqual([...one], [...two]);
  for (const [i, p] of one) for (const [j, q] of one) if (i !== j) assert.ok(Math.hypot(p.x - q.x, p.y - q.y) > 40, `${i} ${j}`);
  assert.equal(layout.busiest(nodes, edges, 3).hidden, 5);
});

test("parts that no edge joins are apart, use the box, and stay where they are when others come", () => {
  const nodes = [..."abcdefgh"].map((id) => ({ id }));
  const edges = [["a", "b"], ["b", "c"], ["c", "d"], ["e", "f"]].map(([source, target]) => ({ source, target }));
  const boxOf = (at, ids) => ["x", "y"].flatMap((axis) => [Math.min, Math.max].map((end) => end(...ids.map((id) => at.get(id)[axis]))));
  const at = layout.place(nodes, edges, { flat: 1 });
  const parts = [["a", "b", "c", "d"], ["e", "f"], ["g"], ["h"]].map((ids) => boxOf(at, ids));
  for (const [i, [left, right, top, bottom]] of parts.entries()) for (const other of parts.slice(0, i)) {
    assert.ok(right + 100 < other[0] || other[1] + 100 < left || bottom + 50 < other[2] || other[3] + 50 < top);
  }
  const [left, right, top, bottom] = boxOf(at, nodes.map(({ id }) => id));
  assert.ok((right - left) / (bottom - top) < 3 && (bottom - top) / (right - left) < 3);
  const again = layout.place([...nodes.map(({ id }) => ({ id, ...at.get(id) })), { id: "i" }], edges);
  for (const { id } of nodes) assert.deepEqual(again.get(id), at.get(id));
  assert.ok(again.get("i").y > bottom);
  const twice = layout.place(nodes.slice(0, 2), [...edges.slice(0, 1), { source: "b", target: "a" }]);
  const once = layout.place(nodes.slice(0, 2), edges.slice(0, 1));
  assert.deepEqual([...twice], [...once]);
});

test("the name of an edge goes where it covers no other, below its edge if there is no such place", () => {
  const taken = [];
  const spots = [[0, 0], [0, 5], [0, 40]];
  const found = ["born in", "died in", "lives in", "出生地"].map((name) => layout.spotFor(name, spots, taken));
  for (const [i, p] of found.entries()) for (const q of found.slice(0, i)) assert.ok(Math.abs(p.y - q.y) >= 15);
  assert.deepEqual([found[0], found[1]], [{ x: 0, y: 0 }, { x: 0, y: 40 }]);
  assert.deepEqual(layout.spotFor("far away", [[300, 0]], taken), { x: 300, y: 0 });
});

test("both languages have the same keys and the same places to fill", () => {
  const { en, zh } = words.WORDS;
  assert.deepEqual(Object.keys(en), Object.keys(zh));
  const places = (text) => [...text.matchAll(/\{\w+\}/g)].map((m) => m[0]).sort().join();
  for (const key of Object.keys(en)) assert.equal(places(en[key]), places(zh[key]), key);
});

test("every note that extraction writes has Chinese words", () => {
  const written = [
    "facts are looked for inside one sentence at a time",
    "facts are looked for in the whole document, between the entities that it was given",
    "1 fact left out with an argument that is not one name of its own",
    "2 facts left out that other mentions of the same names, closer to each other, state",
    "3 facts left out for a better one, where there can be one alone",
    "1 fact left out that the words of the sentence rule out",
    "1 fact left out of somebody or something that no name was found for",
    "1 fact left out between types that the relation does not join",
    "facts dropped because their two ends are one entity: 1",
    "1 fact or event that is less likely than 0.5 is hidden",
    "1,005 facts and events that are less likely than 0.5 are hidden",
    "2 mentions that are less likely than 0.73 are hidden",
    "1 mention that is no name, date or number is hidden",
    "mentions were not looked for in 3–9, 12–20: no such model reads the language there",
    "facts were not looked for: no such model reads fr",
    "mentions were grouped into entities by rules and a model, over the whole document",
  ];
  for (const note of written) {
    const chinese = notes.inChinese(note);
    assert.ok(chinese, note);
    assert.match(chinese, /[\u4e00-\u9fff]/);
    assert.doesNotMatch(chinese, /undefined| that | of somebody/, note);
    for (const number of note.match(/\d[\d,.]*\d|\d/g) ?? []) if (!note.includes("one")) assert.ok(chinese.includes(number), `${note}: ${number}`);
  }
  assert.equal(notes.inChinese("something new"), null);
});
