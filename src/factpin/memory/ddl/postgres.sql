-- Tables of a store in PostgreSQL. Everything but setting, decision and vector follows from the documents.
-- Keys and terms are compared byte by byte (COLLATE "C"), as SQLite compares them.
CREATE TABLE setting(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE document(id TEXT COLLATE "C" PRIMARY KEY, uri TEXT COLLATE "C" NOT NULL, digest TEXT NOT NULL,
  language TEXT NOT NULL, text TEXT NOT NULL, title TEXT NOT NULL, title_key TEXT COLLATE "C" NOT NULL,
  published TEXT COLLATE "C" NOT NULL, model TEXT NOT NULL, text_key TEXT NOT NULL, whole INTEGER NOT NULL,
  record TEXT NOT NULL);
CREATE TABLE passage(number INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id TEXT COLLATE "C" NOT NULL UNIQUE,
  document TEXT COLLATE "C" NOT NULL REFERENCES document(id) ON DELETE CASCADE,
  start INTEGER NOT NULL, stop INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE TABLE posting(term TEXT COLLATE "C" NOT NULL, passage INTEGER NOT NULL REFERENCES passage(number)
  ON DELETE CASCADE, count INTEGER NOT NULL, PRIMARY KEY(term, passage) INCLUDE (count));
CREATE TABLE entity(id TEXT COLLATE "C" PRIMARY KEY, key TEXT COLLATE "C" NOT NULL, type TEXT COLLATE "C" NOT NULL);
CREATE TABLE mention(document TEXT COLLATE "C" NOT NULL REFERENCES document(id) ON DELETE CASCADE,
  start INTEGER NOT NULL, stop INTEGER NOT NULL, entity TEXT COLLATE "C" NOT NULL REFERENCES entity(id),
  surface TEXT COLLATE "C" NOT NULL, surface_key TEXT COLLATE "C" NOT NULL, type TEXT COLLATE "C" NOT NULL,
  score DOUBLE PRECISION, PRIMARY KEY(document, start, stop, entity));
CREATE TABLE fact(id TEXT COLLATE "C" PRIMARY KEY, head TEXT COLLATE "C" NOT NULL REFERENCES entity(id),
  relation TEXT COLLATE "C" NOT NULL, tail TEXT COLLATE "C" NOT NULL REFERENCES entity(id), valid_from TEXT NOT NULL,
  valid_to TEXT NOT NULL, qualifiers TEXT NOT NULL);
CREATE TABLE evidence(fact TEXT COLLATE "C" NOT NULL REFERENCES fact(id),
  document TEXT COLLATE "C" NOT NULL REFERENCES document(id) ON DELETE CASCADE, start INTEGER NOT NULL,
  stop INTEGER NOT NULL, assertion TEXT COLLATE "C" NOT NULL, model TEXT COLLATE "C" NOT NULL, score DOUBLE PRECISION,
  head_start INTEGER, head_stop INTEGER, tail_start INTEGER, tail_stop INTEGER,
  PRIMARY KEY(fact, document, start, stop, assertion, model));
CREATE TABLE vector(passage TEXT COLLATE "C" NOT NULL REFERENCES passage(id) ON DELETE CASCADE,
  encoder TEXT COLLATE "C" NOT NULL, data halfvec NOT NULL, PRIMARY KEY(passage, encoder));
CREATE TABLE decision(kind TEXT COLLATE "C" NOT NULL, a TEXT COLLATE "C" NOT NULL, b TEXT COLLATE "C" NOT NULL,
  value TEXT NOT NULL, note TEXT NOT NULL, PRIMARY KEY(kind, a, b));

CREATE INDEX document_title ON document(title_key);
CREATE INDEX document_partly ON document(uri) WHERE whole = 0;
CREATE INDEX passage_document ON passage(document);
CREATE INDEX posting_passage ON posting(passage);
CREATE INDEX entity_name ON entity(key);
CREATE INDEX mention_entity ON mention(entity);
CREATE INDEX mention_name ON mention(surface_key);
CREATE INDEX fact_head ON fact(head, relation);
CREATE INDEX fact_tail ON fact(tail, relation);
CREATE INDEX fact_relation ON fact(relation);
CREATE INDEX evidence_document ON evidence(document);

-- What nothing supports any more goes with its last support.
CREATE FUNCTION evidence_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM fact f WHERE f.id = OLD.fact AND NOT EXISTS(SELECT 1 FROM evidence e WHERE e.fact = f.id);
  RETURN NULL; END $$;
CREATE TRIGGER evidence_gone AFTER DELETE ON evidence FOR EACH ROW EXECUTE FUNCTION evidence_gone();
CREATE FUNCTION fact_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM entity n WHERE n.id IN (OLD.head, OLD.tail)
    AND NOT EXISTS(SELECT 1 FROM mention m WHERE m.entity = n.id)
    AND NOT EXISTS(SELECT 1 FROM fact f WHERE f.head = n.id OR f.tail = n.id);
  RETURN NULL; END $$;
CREATE TRIGGER fact_gone AFTER DELETE ON fact FOR EACH ROW EXECUTE FUNCTION fact_gone();
CREATE FUNCTION mention_gone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM entity n WHERE n.id = OLD.entity
    AND NOT EXISTS(SELECT 1 FROM mention m WHERE m.entity = n.id)
    AND NOT EXISTS(SELECT 1 FROM fact f WHERE f.head = n.id OR f.tail = n.id);
  RETURN NULL; END $$;
CREATE TRIGGER mention_gone AFTER DELETE ON mention FOR EACH ROW EXECUTE FUNCTION mention_gone();
