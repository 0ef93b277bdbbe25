// Edit: corrections as a list of operations over a document. A document is never changed in place: `apply` returns a
// new one, so that undo and redo give exactly what was there. Offsets are UTF-16 units.

export const STATUSES = ["asserted", "negated", "hedged", "reported", "conditional"];

/** A history that starts at a document. */
export function begin(doc) {
  return { docs: [doc], operations: [], at: 0 };
}

/** The document of a history as it is now. */
export const current = (history) => history.docs[history.at];
export const canUndo = (history) => history.at > 0;
export const canRedo = (history) => history.at < history.operations.length;

/** The history after one more operation; what was undone before is given up. An operation without effect adds nothing. */
export function perform(history, operation) {
  const doc = current(history);
  const next = apply(doc, operation);
  if (next === doc) return history;
  const at = history.at + 1;
  return {
    docs: [...history.docs.slice(0, at), next],
    operations: [...history.operations.slice(0, history.at), operation],
    at,
  };
}

export const undo = (history) => (canUndo(history) ? { ...history, at: history.at - 1 } : history);
export const redo = (history) => (canRedo(history) ? { ...history, at: history.at + 1 } : history);

/** A history again from its first document and operations, as they were kept. */
export function replay(doc, operations, at = operations.length) {
  const history = operations.reduce(perform, begin(doc));
  return { ...history, at: Math.min(at, history.operations.length) };
}

/** The document after one operation. */
export function apply(doc, operation) {
  const next = OPERATIONS[operation.kind](doc, operation);
  return next === doc ? doc : { ...next, meta: { ...next.meta, edited: true } };
}

const OPERATIONS = {
  add_fact: addFact,
  add_mention: addMention,
  judge_fact: judgeFact,
  move_mention: moveMention,
  relabel_fact: (doc, { fact, relation }) => withFact(doc, fact, (old) => byHand({ ...old, relation })),
  relabel_mention: relabelMention,
  remove_mention: removeMention,
  set_status: setStatus,
};

/** A new mention; one that the models found on these characters, perhaps hidden, is sure from now on. */
function addMention(doc, { start, end, type }) {
  if (end <= start || end > doc.text.length) return doc;
  const same = doc.mentions.find((m) => m.start === start && m.end === end && m.type === type);
  if (same) return same._hand ? doc : { ...doc, mentions: doc.mentions.map((m) => (m === same ? byHand(m) : m)) };
  const mention = { id: freshId(doc.mentions, "m"), start, end, text: doc.text.slice(start, end), type, _hand: "added" };
  const twin = doc.entities.find((e) => e.type === type && nameIn(doc, e) === mention.text);
  const entities = twin
    ? doc.entities.map((e) => (e === twin ? { ...e, mentions: [...e.mentions, mention.id] } : e))
    : [...doc.entities, { id: freshId(doc.entities, "e"), type, name: mention.text, mentions: [mention.id] }];
  return { ...doc, mentions: inOrder([...doc.mentions, mention]), entities };
}

function relabelMention(doc, { mention, type }) {
  const old = doc.mentions.find((m) => m.id === mention);
  if (!old || old.type === type) return doc;
  const mentions = doc.mentions.map((m) => (m === old ? byHand({ ...m, type }) : m));
  const entities = doc.entities.map((e) => {
    if (!e.mentions.includes(mention)) return e;
    const types = new Set(mentions.filter((m) => e.mentions.includes(m.id)).map((m) => m.type));
    return types.size === 1 || e.mentions[0] === mention ? { ...e, type } : e;
  });
  return { ...doc, mentions, entities };
}

function moveMention(doc, { mention, start, end }) {
  const old = doc.mentions.find((m) => m.id === mention);
  if (!old || start < 0 || end > doc.text.length || end <= start) return doc;
  if (old.start === start && old.end === end) return doc;
  const text = doc.text.slice(start, end);
  const mentions = inOrder(doc.mentions.map((m) => (m === old ? byHand({ ...m, start, end, text }) : m)));
  const entities = doc.entities.map((e) => (e.mentions.includes(mention) && e.name === old.text ? { ...e, name: text } : e));
  return { ...doc, mentions, entities };
}

/** Without a mention; an entity that loses its last mention goes too, and the facts and arguments that need them. */
function removeMention(doc, { mention }) {
  if (!doc.mentions.some((m) => m.id === mention)) return doc;
  const gone = doc.mentions.find((m) => m.id === mention);
  const mentions = doc.mentions.filter((m) => m.id !== mention);
  const entities = doc.entities
    .map((e) => withoutMention(e, gone, mentions))
    .filter((e) => e.mentions.length > 0);
  const known = new Set(entities.map((e) => e.id));
  const facts = doc.facts
    .filter((f) => known.has(f.head) && known.has(f.tail) && f.head_mention !== mention && f.tail_mention !== mention)
    .map((f) => withoutQualifiers(f, known, mention));
  return { ...doc, mentions, entities, facts, events: eventsWithout(doc.events, mention) };
}

function withoutMention(entity, gone, mentions) {
  if (!entity.mentions.includes(gone.id)) return entity;
  const left = entity.mentions.filter((id) => id !== gone.id);
  const name = entity.name === gone.text ? mentions.find((m) => m.id === left[0])?.text : entity.name;
  return { ...entity, mentions: left, ...(name ? { name } : {}) };
}

function withoutQualifiers(fact, known, mention) {
  if (!fact.qualifiers?.length) return fact;
  return { ...fact, qualifiers: fact.qualifiers.filter((q) => known.has(q.entity) && q.mention !== mention) };
}

function eventsWithout(events, mention) {
  const left = events.filter((event) => event.trigger !== mention);
  const known = new Set(left.map((event) => event.id));
  const stays = (a) => a.mention !== mention && (!a.event || known.has(a.event));
  return left.map((event) => (event.arguments ? { ...event, arguments: event.arguments.filter(stays) } : event));
}

/** A fact between two mentions, with the sentences they are in as its evidence; one that the models found becomes sure. */
function addFact(doc, { head, relation, tail }) {
  const [first, last] = [head, tail].map((id) => doc.mentions.find((m) => m.id === id));
  if (!first || !last || first === last || !relation) return doc;
  const joined = withEntity(withEntity(doc, first), last);
  const ends = [first, last].map((m) => joined.entities.find((e) => e.mentions.includes(m.id)).id);
  const same = (f) => f.head === ends[0] && f.tail === ends[1] && f.relation === relation && f._hand !== "rejected";
  const twins = joined.facts.filter(same);
  if (ends[0] === ends[1] || twins.some((f) => f._hand)) return doc;
  if (twins.length) return withFact(joined, twins[0]._id, (f) => byHand(f));
  const evidence = [...new Set([first, last].map((m) => sentenceOf(doc, m.start)))].filter((s) => s >= 0).sort((a, b) => a - b);
  const fact = {
    _id: freshId(joined.facts, "f", "_id"),
    head: ends[0],
    relation,
    tail: ends[1],
    head_mention: head,
    tail_mention: tail,
    evidence: evidence.map((sentence) => ({ sentence })),
    assertion: "asserted",
    _hand: "added",
  };
  return { ...joined, facts: [...joined.facts, fact] };
}

function withEntity(doc, mention) {
  if (doc.entities.some((e) => e.mentions.includes(mention.id))) return doc;
  const entity = { id: freshId(doc.entities, "e"), type: mention.type, name: mention.text, mentions: [mention.id] };
  return { ...doc, entities: [...doc.entities, entity] };
}

/** Accept or reject a fact; the same verdict again takes it back. An accepted fact is sure: it has no score. */
function judgeFact(doc, { fact, verdict }) {
  return withFact(doc, fact, (old) => {
    if (old._hand === verdict) return withScore({ ...old, _hand: undefined }, old._score);
    return verdict === "accepted" ? byHand(old, "accepted") : { ...old, _hand: "rejected" };
  });
}

function setStatus(doc, { fact, status }) {
  return withFact(doc, fact, (old) => {
    if ((old.assertion ?? "asserted") === status) return old;
    const next = byHand({ ...old, assertion: status });
    if (status === "asserted") delete next.cue;
    return next;
  });
}

function withFact(doc, id, change) {
  const old = doc.facts.find((f) => f._id === id);
  const next = old && change(old);
  return !old || next === old ? doc : { ...doc, facts: doc.facts.map((f) => (f === old ? next : f)) };
}

/** An item that a person changed: without the model's score, which was for something else. */
function byHand(item, mark = item._hand === "added" ? "added" : "accepted") {
  const { score, ...rest } = item;
  return { ...rest, ...(score === undefined ? {} : { _score: score }), _hand: mark };
}

function withScore(item, score) {
  const { _score, _hand, ...rest } = item;
  return score === undefined ? rest : { ...rest, score };
}

function freshId(items, letter, key = "id") {
  const used = new Set(items.map((item) => item[key]));
  let number = items.length;
  while (used.has(`${letter}${number}`)) number += 1;
  return `${letter}${number}`;
}

const inOrder = (mentions) => mentions.sort((a, b) => a.start - b.start || a.end - b.end);
const nameIn = (doc, entity) => entity.name || doc.mentions.find((m) => m.id === entity.mentions[0])?.text;

/** The index of the sentence with the character at `at`, or -1. */
export function sentenceOf(doc, at) {
  return doc.sentences.findIndex(([start, end]) => start <= at && at < end);
}
