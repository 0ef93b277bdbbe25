import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import networkx
import pyoxigraph
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from factpin.documents import Document
from factpin.errors import BadInput, BadRecord, FormatLoss, UnknownName
from factpin.memory import Filter, Pattern, Source, Store, open_store
from factpin.memory.export import EXPORTS, export, import_csv, import_quads
from factpin.memory.rdf import PREFIXES, Iri, Literal, Quad, name, quads, read_quad, resources
from factpin.memory.selection import select
from tests.memory.conformance import assert_equal
from tests.memory.histories import SCHEMA, SMALL, Step, answers, histories, live
from tests.memory.world import Said, tell


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("memory:", passages=SMALL) as store:
        store.set_schema(SCHEMA)
        store.put(tell(Said("谷爱凌", "出生地", "旧金山", score=0.9), Said("A<b> & \"c\"", "is 'x'", "\\d\t\n")),
                  Source("a b/ü.txt", "标题", "2020-05", "zh-facts"))  # fmt: skip
        store.put(tell(Said("谷爱凌", "出生地", "北京", assertion="negated"), Said("苹果", "CEO", "库克", date="2011",
                                                                        frame="{h}的{r}自{d}是{t}。")),
                  Source("b"))  # fmt: skip
        yield store


def content(quad: str) -> pyoxigraph.Quad:
    (parsed,) = pyoxigraph.parse(quad.encode(), format=pyoxigraph.RdfFormat.N_QUADS)
    return parsed


def test_other_programs_read_the_quads(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "kb.nq", "nq")
    lines = (tmp_path / "kb.nq").read_text().splitlines()
    parsed = list(pyoxigraph.parse(path=str(tmp_path / "kb.nq"), format=pyoxigraph.RdfFormat.N_QUADS))
    assert len(parsed) == len(lines)
    for line, theirs in zip(lines, parsed, strict=True):
        ours = read_quad(line, "kb.nq", 1)
        assert ours is not None
        assert (ours.subject, ours.predicate, ours.object.value) == (
            theirs.subject.value, theirs.predicate.value, theirs.object.value)  # fmt: skip


def test_the_document_is_the_graph_and_only_assertions_are_triples(store: Store) -> None:
    triples = [line for resource in resources(select(store)) for line in quads(resource) if "relation:" in line]
    plain = [content(line) for line in triples if "rdf-syntax-ns#predicate" not in line]
    assert {q.graph_name.value for q in plain} <= {r.graph for r in resources(select(store))} - {""}
    assert len(plain) == 3  # 出生地 旧金山, is 'x', CEO; what is negated is none
    assert len([line for line in triples if "rdf-syntax-ns#predicate" in line]) == 4


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated")  # rdflib's own reader of JSON-LD
@pytest.mark.parametrize("to, format", [("ttl", "turtle"), ("jsonld", "json-ld")])
def test_turtle_and_jsonld_say_what_the_quads_say(store: Store, tmp_path: Path, to: str, format: str) -> None:
    path = tmp_path / f"kb.{to}"
    export(store, path, to)
    graph = rdflib.Graph().parse(path, format=format)
    lines = [line for resource in resources(select(store)) for line in quads(resource)]
    expected = {(q.subject.value, q.predicate.value, q.object.value) for q in map(content, lines)}
    assert {(str(s), str(p), str(o)) for s, p, o in graph} == expected
    starts = graph.query("SELECT ?start ?exact WHERE { ?t oa:hasSelector ?p, ?q . ?p oa:start ?start . "
                         "?q oa:exact ?exact . ?f prov:wasDerivedFrom ?t ; fp:status 'denied' }",
                         initNs=PREFIXES)  # fmt: skip
    assert [(row[0].toPython(), str(row[1])) for row in starts] == [(0, "谷爱凌的出生地是北京。")]


@settings(max_examples=15)
@given(histories)
def test_a_store_comes_back_from_its_quads(tmp_path_factory: pytest.TempPathFactory, history: list[Step]) -> None:
    path = tmp_path_factory.mktemp("nq") / "kb.nq"
    with open_store("memory:", passages=SMALL) as old, open_store("memory:", passages=SMALL) as new:
        old.set_schema(SCHEMA)
        live(old, history)
        export(old, path, "nq")
        import_quads(new, path)
        assert_equal(answers(old), answers(new))
        assert set(import_quads(new, path)) <= {"unchanged"}


def test_a_split_that_is_imported_holds_for_documents_that_are_there(tmp_path: Path) -> None:
    doc, source = tell(Said("李娜", "住", "武汉")), Source("a")
    with open_store("memory:") as old, open_store("memory:") as new:
        for store in (old, new):
            store.put(doc, source)
        old.split("a", "李娜")
        export(old, tmp_path / "kb.nq", "nq")
        assert import_quads(new, tmp_path / "kb.nq") == {"unchanged": 1}
        assert new.check() == [] and new.facts() == old.facts()


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_literal_comes_back(text: str, other: str) -> None:
    from factpin.memory.rdf import Resource, resource_of

    resource = Resource(
        resource_of("document", other), resource_of("entity", text), ((name("rdfs:label"), Literal(text)),)
    )
    (line,) = quads(resource)
    quad = read_quad(line, "f", 1)
    assert quad == Quad(resource.subject, name("rdfs:label"), Literal(text), resource.graph)
    assert content(line).object.value == text


def test_lines_of_quads_by_others() -> None:
    assert read_quad("# a comment", "f", 1) is None and read_quad("  ", "f", 1) is None
    quad = read_quad('<a:b>\t<c:d> "x\\u00e9\\"y"@en-GB <g:h> . # end', "f", 1)
    assert quad == Quad("a:b", "c:d", Literal('xé"y'), "g:h")
    assert read_quad("_:b <c:d> <e:f> .", "f", 1) == Quad("_:b", "c:d", Iri("e:f"), "")
    with pytest.raises(BadRecord, match="f:7"):
        read_quad("<a> <b> .", "f", 7)


def test_triples_without_a_document_are_typed_facts(tmp_path: Path) -> None:
    (tmp_path / "x.nq").write_text(
        '<e:1> <http://www.w3.org/2000/01/rdf-schema#label> "Ann" .\n'
        '<e:2> <http://www.w3.org/2000/01/rdf-schema#label> "Rome" .\n'
        "<e:1> <urn:factpin:relation:lives%20in> <e:2> .\n<e:1> <urn:factpin:relation:knows> <e:3> .\n"
    )
    with open_store("memory:") as store:
        assert import_quads(store, tmp_path / "x.nq") == {"typed": 1}
        assert [f.pins[0].quote for f in store.facts()] == ["Ann lives in Rome"]


def test_csv_has_a_row_for_each_pin_and_can_be_imported(store: Store, tmp_path: Path) -> None:
    store.put(tell(Said("谷爱凌", "出生地", "旧金山"), extra="又。"), Source("c"))
    export(store, tmp_path / "f.csv", "csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "f.csv").read_bytes().decode(), newline="")))
    assert len(rows) == sum(len(fact.pins) for fact in store.facts()) == 5
    born = [row for row in rows if row["tail"] == "旧金山"]
    assert [(r["uri"], r["start"], r["status"]) for r in born] == [("a b/ü.txt", "0", "active"), ("c", "0", "active")]
    with open_store("memory:") as other:
        assert import_csv(other, tmp_path / "f.csv") == {"typed": 5}
        assert {(f.head.name, f.relation, f.tail.name) for f in other.facts(Pattern(relations=("出生地", "CEO")))} == {
            ("谷爱凌", "出生地", "旧金山"), ("谷爱凌", "出生地", "北京"), ("苹果", "CEO", "库克")}  # fmt: skip


@pytest.mark.parametrize(
    "text, words",
    [("head,tail\na,b\n", "column relation is missing"), ("head,relation,tail\na,r,b\n,r,b\n", ":3: .*head is empty"),
     ("head,relation,tail,valid_from\na,r,b,soon\n", ":2: 'soon' is not a date"),
     ('head,relation,tail\n"a,r,b', "unexpected end")],
)  # fmt: skip
def test_a_bad_row_is_named_and_nothing_is_kept(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "f.csv").write_text(text)
    with open_store("memory:") as store:
        with pytest.raises((BadInput, BadRecord), match=words):
            import_csv(store, tmp_path / "f.csv")
        assert store.sources() == []


def test_jsonl_shows_each_fact_with_its_citations(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "f.jsonl", "jsonl", Filter("2019"))
    records = [json.loads(line) for line in (tmp_path / "f.jsonl").read_text().splitlines()]
    ceo = next(record for record in records if record["relation"] == "CEO")
    assert len(records) == 2 and ceo["valid_from"] == "2011" and ceo["head"]["name"] == "苹果"
    doc, _ = store.document("b")
    for cited in ceo["evidence"]:
        assert doc.text[cited["start"] : cited["end"]] == cited["quote"]


def test_graphml_is_read_by_networkx(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "g.graphml", "graphml")
    graph = networkx.read_graphml(tmp_path / "g.graphml")
    facts = store.facts()
    assert graph.number_of_edges() == len(facts) == 4
    assert {graph.nodes[n]["name"] for n in graph} == {e.name for f in facts for e in (f.head, f.tail)}
    edge = next(data for _, _, data in graph.edges(data=True) if data["relation"] == "CEO")
    assert edge["confidence"] == 1.0 and json.loads(edge["evidence"])[0]["uri"] == "b"


def test_graphml_refuses_what_xml_cannot_hold(tmp_path: Path) -> None:
    with open_store("memory:") as store:
        store.put(tell(Said("a\x01b", "r", "c")), Source("a"))
        with pytest.raises(FormatLoss, match=r"U\+0001.*--lossy"):
            export(store, tmp_path / "g.graphml", "graphml")
        assert not (tmp_path / "g.graphml").exists()
        export(store, tmp_path / "g.graphml", "graphml", lossy=True)
        assert "a\ufffdb" in (tmp_path / "g.graphml").read_text()


def test_neo4j_gets_nodes_and_relationships(store: Store, tmp_path: Path) -> None:
    export(store, tmp_path / "neo", "neo4j")
    nodes, edges = (list(csv.reader(io.StringIO((tmp_path / "neo" / f).read_bytes().decode(), newline="")))
                    for f in ("entities.csv", "facts.csv"))  # fmt: skip
    assert nodes[0] == ["id:ID", "name", ":LABEL"] and edges[0][:3] == [":START_ID", ":END_ID", ":TYPE"]
    ids = {row[0] for row in nodes[1:]}
    assert len(edges) == 5 and all({row[0], row[1]} <= ids for row in edges[1:])


def test_exports_are_known_by_name(store: Store, tmp_path: Path) -> None:
    assert set(EXPORTS) == {"nq", "ttl", "jsonld", "csv", "neo4j", "graphml", "jsonl"}
    with pytest.raises(UnknownName, match="Did you mean 'jsonl'"):
        export(store, tmp_path / "x", "json")


def test_an_empty_store_is_exported(tmp_path: Path) -> None:
    with open_store("memory:") as store:
        store.put(Document("d", "No facts."), Source("a"))
        for to in EXPORTS:
            export(store, tmp_path / to, to)
        assert len(rdflib.Graph().parse(tmp_path / "ttl", format="turtle")) == 2
