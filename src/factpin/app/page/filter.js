// Filter: which facts, mentions and events are shown at the chosen thresholds. The server is asked once, for everything.

/** The facts that pass: by score (of their relation, or overall), by words, relation and status. */
export function shownFacts(doc, { least = 0, byRelation = {}, words = "", relation = "", status = "" } = {}) {
  const sought = words.trim().toLowerCase();
  return doc.facts.filter((fact) => {
    if (!passes(fact.score, byRelation[fact.relation] ?? least)) return false;
    if (relation && fact.relation !== relation) return false;
    if (status && (fact.assertion ?? "asserted") !== status) return false;
    return !sought || wordsOf(doc, fact).includes(sought);
  });
}

function wordsOf(doc, fact) {
  return [nameOf(doc, fact.head), fact.relation, nameOf(doc, fact.tail)].join(" ").toLowerCase();
}

/** Whether a score reaches the threshold; what has no score was set by hand and always does. */
export function passes(score, least) {
  return score === undefined || score === null || score >= least;
}

/** The score from which on facts and events are shown unless the reader chooses another. */
export const LIKELY = 0.5;

/** The same for mentions. */
export const usualLeast = (doc) => doc._unsure?.least ?? 0;

/**
 * The mentions that pass. Those that a person set always do. One that the models are not sure of is hidden unless the
 * reader asks for less than usual; all others are shown until the reader asks for more, of mentions or of facts: an
 * unlikely mention that only hidden facts need is hidden with them. least: null for what is usual.
 */
export function shownMentions(doc, facts, least = null, factsLeast = 0) {
  const usual = usualLeast(doc);
  const asked = least ?? usual;
  const unsure = new Set(doc._unsure?.mentions);
  const needed = new Set(facts.flatMap((fact) => [fact.head_mention, fact.tail_mention]));
  const shown = new Set(facts.map((fact) => fact._id));
  const idle = new Set();
  for (const fact of doc.facts) if (!shown.has(fact._id)) idle.add(fact.head_mention).add(fact.tail_mention);
  return doc.mentions.filter((m) => {
    if (m._hand || needed.has(m.id)) return true;
    const sure = !unsure.has(m.id);
    if (sure ? asked > usual && !passes(m.score, asked) : asked >= usual || !passes(m.score, asked)) return false;
    return (sure && factsLeast <= LIKELY) || !idle.has(m.id) || passes(m.score, factsLeast);
  });
}

/**
 * The document with nothing but these facts and mentions, and the events that reach `least`: what a person who corrected
 * it has seen. What they need stays.
 */
export function asShown(doc, facts, mentions, least = 0) {
  const likely = doc.events.filter((event) => passes(event.score, least));
  const known = new Set(likely.map((event) => event.id));
  const events = likely.map((event) => (event.arguments ? { ...event, arguments: event.arguments.filter((a) => !a.event || known.has(a.event)) } : event));
  const kept = new Set(mentions.map((m) => m.id));
  const keepAll = (id) => doc.entities.find((e) => e.id === id)?.mentions.forEach((m) => kept.add(m));
  for (const fact of facts) {
    for (const end of ["head", "tail"]) if (fact[`${end}_mention`]) kept.add(fact[`${end}_mention`]); else keepAll(fact[end]);
    for (const qualifier of fact.qualifiers ?? []) keepAll(qualifier.entity);
  }
  for (const event of events) for (const id of [event.trigger, ...(event.arguments ?? []).map((a) => a.mention)]) kept.add(id);
  const entities = doc.entities.map((e) => ({ ...e, mentions: e.mentions.filter((id) => kept.has(id)) })).filter((e) => e.mentions.length);
  return { ...doc, mentions: doc.mentions.filter((m) => kept.has(m.id)), entities, facts: [...facts], events };
}

/** The name of an entity, for people: never its id. */
export function nameOf(doc, id) {
  const entity = doc.entities.find((e) => e.id === id);
  if (!entity) return "";
  return entity.name || doc.mentions.find((m) => m.id === entity.mentions[0])?.text || "";
}

/** The least and greatest score among items, or null where none has one. */
export function scoreRange(items) {
  const scores = items.map((item) => item.score).filter((score) => typeof score === "number");
  return scores.length ? [Math.min(...scores), Math.max(...scores)] : null;
}

/** The share of the visible characters that a model read. */
export function readShare(doc) {
  const unread = doc.coverage?.unread ?? [];
  const lost = unread.reduce((sum, u) => sum + [...doc.text.slice(u.start, u.end)].filter((c) => c.trim()).length, 0);
  const all = [...doc.text].filter((c) => c.trim()).length;
  return all ? 1 - lost / all : 1;
}
