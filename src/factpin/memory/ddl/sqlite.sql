-- Tables of a store in SQLite. Everything but setting, decision and vector follows from the documents.
CREATE TABLE setting(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE document(id TEXT PRIMARY KEY, uri TEXT NOT NULL, digest TEXT NOT NULL, language TEXT NOT NULL,
  text TEXT NOT NULL, title TEXT NOT NULL, title_key TEXT NOT NULL, published TEXT NOT NULL, model TEXT NOT NULL,
  text_key TEXT NOT NULL, whole INTEGER NOT NULL, record TEXT NOT NULL);
CREATE TABLE passage(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  document TEXT NOT NULL REFERENCES document(id) ON DELETE CASCADE,
  start INTEGER NOT NULL, stop INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE TABLE entity(id TEXT PRIMARY KEY, key TEXT NOT NULL, type TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE mention(document TEXT NOT NULL REFERENCES document(id) ON DELETE CASCADE, start INTEGER NOT NULL,
  stop INTEGER NOT NULL, entity TEXT NOT NULL REFERENCES entity(id), surface TEXT NOT NULL, surface_key TEXT NOT NULL,
  type TEXT NOT NULL, score REAL, PRIMARY KEY(document, start, stop, entity)) WITHOUT ROWID;
CREATE TABLE fact(id TEXT PRIMARY KEY, head TEXT NOT NULL REFERENCES entity(id), relation TEXT NOT NULL,
  tail TEXT NOT NULL REFERENCES entity(id), valid_from TEXT NOT NULL, valid_to TEXT NOT NULL,
  qualifiers TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE evidence(fact TEXT NOT NULL REFERENCES fact(id),
  document TEXT NOT NULL REFERENCES document(id) ON DELETE CASCADE, start INTEGER NOT NULL, stop INTEGER NOT NULL,
  assertion TEXT NOT NULL, model TEXT NOT NULL, score REAL, head_start INTEGER, head_stop INTEGER, tail_start INTEGER,
  tail_stop INTEGER, PRIMARY KEY(fact, document, start, stop, assertion, model)) WITHOUT ROWID;
CREATE TABLE vector(passage TEXT NOT NULL REFERENCES passage(id) ON DELETE CASCADE, encoder TEXT NOT NULL,
  data BLOB NOT NULL, PRIMARY KEY(passage, encoder));
CREATE TABLE decision(kind TEXT NOT NULL, a TEXT NOT NULL, b TEXT NOT NULL, value TEXT NOT NULL, note TEXT NOT NULL,
  PRIMARY KEY(kind, a, b)) WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(terms, tokenize='ascii', columnsize=0);
CREATE VIRTUAL TABLE word_places USING fts5vocab(words, instance);

CREATE INDEX document_title ON document(title_key);
CREATE INDEX document_partly ON document(uri) WHERE whole = 0;
CREATE INDEX passage_document ON passage(document);
CREATE INDEX entity_name ON entity(key);
CREATE INDEX mention_entity ON mention(entity);
CREATE INDEX mention_name ON mention(surface_key);
CREATE INDEX fact_head ON fact(head, relation);
CREATE INDEX fact_tail ON fact(tail, relation);
CREATE INDEX fact_relation ON fact(relation);
CREATE INDEX evidence_document ON evidence(document);

-- What nothing supports any more goes with its last support.
CREATE TRIGGER evidence_gone AFTER DELETE ON evidence
  WHEN NOT EXISTS(SELECT 1 FROM evidence WHERE fact = OLD.fact)
  BEGIN DELETE FROM fact WHERE id = OLD.fact; END;
CREATE TRIGGER fact_gone AFTER DELETE ON fact
  BEGIN DELETE FROM entity WHERE id IN (OLD.head, OLD.tail)
    AND NOT EXISTS(SELECT 1 FROM mention WHERE entity = entity.id)
    AND NOT EXISTS(SELECT 1 FROM fact WHERE head = entity.id OR tail = entity.id); END;
CREATE TRIGGER mention_gone AFTER DELETE ON mention
  WHEN NOT EXISTS(SELECT 1 FROM mention WHERE entity = OLD.entity)
    AND NOT EXISTS(SELECT 1 FROM fact WHERE head = OLD.entity OR tail = OLD.entity)
  BEGIN DELETE FROM entity WHERE id = OLD.entity; END;
CREATE TRIGGER passage_gone AFTER DELETE ON passage
  BEGIN DELETE FROM words WHERE rowid = OLD.number; END;
