"""Export a store for other programs, and import what they wrote: EXPORTS and IMPORTS by name."""

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Literal as OneOf
from typing import cast

from factpin.documents import from_json
from factpin.documents.schema import schema_of
from factpin.errors import BadDocument, BadInput, BadRecord, pick
from factpin.files import lines, plain_name, read_text
from factpin.memory.by_hand import TypedFact
from factpin.memory.export_rdf import STORE, write_jsonld, write_nquads, write_turtle
from factpin.memory.export_tables import write_csv, write_graphml, write_jsonl, write_neo4j
from factpin.memory.nouns import ALL, Decision, Filter, Source
from factpin.memory.rdf import BASE, Iri, Quad, id_of, name, read_quad
from factpin.memory.selection import Selection, select
from factpin.memory.store import Store

EXPORTS: dict[str, Callable[[Selection, Path], None]] = {
    "csv": write_csv,
    "graphml": write_graphml,
    "jsonl": write_jsonl,
    "jsonld": write_jsonld,
    "neo4j": write_neo4j,
    "nq": write_nquads,
    "ttl": write_turtle,
}
LOSSY: dict[str, Callable[[Selection, Path], None]] = {"graphml": partial(write_graphml, lossy=True)}
RELATION = f"{BASE}relation:"
NEEDED = ("head", "relation", "tail")
KNOWN = (*NEEDED, "head_type", "tail_type", "valid_from", "valid_to", "published")


def export(
    store: Store, path: Path, to: str, filter: Filter = ALL, *, min_score: float = 0.0, lossy: bool = False
) -> Selection:
    """Write the facts of a store in a format: a file, or a folder for neo4j. Returns what was written.

    min_score: write active facts with at least this confidence; with 0 every fact. N-Quads hold whole documents all the
    same, so that nothing is missing when they are imported.
    """
    write = pick({**EXPORTS, **(LOSSY if lossy else {})}, to, kind="export")
    with store.tables.reading():
        chosen = select(store, filter, min_score)
        write(chosen, path)
    return chosen


def import_quads(store: Store, path: Path) -> Counter[str]:
    """Import N-Quads, all or nothing, and count what was added, unchanged and replaced.

    Files written by `export` restore documents, decisions and schema. Triples from other programs are added as facts.
    """
    graphs: dict[str, list[Quad]] = defaultdict(list)
    for number, line in lines(path):
        quad = read_quad(line, str(path), number)
        if quad:
            graphs[quad.graph].append(quad)
    counts: Counter[str] = Counter()
    with store.together():
        for quad in graphs[""]:
            if quad.subject == STORE:
                _import_setting(store, quad)
        for graph in sorted(graphs):
            own = {quad.predicate: quad.object.value for quad in graphs[graph] if quad.subject == graph}
            if name("fp:record") in own:
                counts[_import_document(store, own)] += 1
                continue
            for fact in _plain_facts(graphs[graph]):
                store.add(fact)
                counts["typed"] += 1
    return counts


def _import_setting(store: Store, quad: Quad) -> None:
    if quad.predicate == name("fp:decision"):
        kind, *rest = json.loads(quad.object.value)
        store.tables.put_decision(Decision(cast(OneOf["same", "apart", "verdict"], kind), *rest))
        if kind == "apart":
            store.rewrite(rest[0])  # if the document is already in the store
    elif quad.predicate == name("fp:schema"):
        store.set_schema(schema_of(json.loads(quad.object.value)))


def _import_document(store: Store, said: Mapping[str, str]) -> str:
    source = Source(
        said[name("dcterms:identifier")],
        said.get(name("dcterms:title"), ""),
        said.get(name("dcterms:issued"), ""),
        said.get(name("fp:model"), ""),
    )
    return store.put(from_json(json.loads(said[name("fp:record")])), source)


def _plain_facts(quads: list[Quad]) -> list[TypedFact]:
    """The triples with a relation of ours between entities that have a label."""
    labels = {q.subject: q.object.value for q in reversed(quads) if q.predicate == name("rdfs:label")}
    types = {
        q.subject: id_of(q.object.value)
        for q in quads
        if q.predicate == name("rdf:type") and q.object.value.startswith(f"{BASE}type:")
    }
    found = {
        TypedFact(labels[q.subject], id_of(q.predicate), labels[q.object.value], types.get(q.subject, ""),
                  types.get(q.object.value, ""))
        for q in quads
        if q.predicate.startswith(RELATION) and isinstance(q.object, Iri)
        and q.subject in labels and q.object.value in labels
    }  # fmt: skip
    return sorted(found, key=repr)


def import_csv(store: Store, path: Path) -> Counter[str]:
    """Add the facts of a CSV file by hand, all or nothing.

    Columns: head, relation, tail; optional: head_type, tail_type, valid_from, valid_to, published.
    """
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True)
    missing = [column for column in NEEDED if column not in (reader.fieldnames or ())]
    if missing:
        raise BadInput(f"{path}: the column {missing[0]} is missing; expected a header line with {', '.join(NEEDED)}.")
    counts: Counter[str] = Counter()
    with store.together():
        try:
            for row in reader:
                store.add(TypedFact(**{column: (row.get(column) or "").strip() for column in KNOWN}))
                counts["typed"] += 1
        except (csv.Error, BadInput, BadDocument) as error:
            raise BadRecord(str(error), file=str(path), line=reader.line_num, kind="bad_fact") from None
    return counts


IMPORTS: dict[str, Callable[[Store, Path], Counter[str]]] = {".csv": import_csv, ".nq": import_quads}


def import_file(store: Store, path: Path) -> Counter[str]:
    """Import a file by its ending, all or nothing, and count what was done."""
    ending = Path(plain_name(path)).suffix.lower()
    if ending not in IMPORTS:
        raise BadInput(f"{path}: its ending is {ending or 'none'}; expected {' or '.join(IMPORTS)}.")
    return IMPORTS[ending](store, path)
