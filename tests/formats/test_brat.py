"""brat: every kind of line, offsets in odd texts, ids as paths, and the message about a faulty line."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factpin.documents import Argument, Document, Entity, Event, Fact, Mention, canonical
from factpin.errors import BadFile, BadRecord
from factpin.formats import Options, ReadContext, Report, brat
from factpin.formats._brat_lines import with_numbers, without_numbers

SAMPLE = Path(__file__).parent / "samples" / "brat"


def put(folder: Path, text: str, *lines: str, name: str = "a") -> Path:
    (folder / f"{name}.txt").write_bytes(text.encode())
    (folder / f"{name}.ann").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def only(folder: Path, options: Options | None = None, report: Report | None = None) -> Document:
    (doc,) = brat.read(ReadContext(folder, options or Options(), report or Report()))
    return doc


def returned(docs: list[Document], folder: Path) -> list[Document]:
    brat.write(docs, folder, Options())
    return list(brat.read(ReadContext(folder)))


def test_the_sample_says_what_its_lines_say() -> None:
    flood, graduate, plain = brat.read(ReadContext(SAMPLE))
    assert [flood.id, graduate.id, plain.id] == ["2024/flood", "graduate", "plain"]
    assert plain.mentions == () and plain.text.startswith("A text")
    assert flood.mention("T3").text == "Lindby\nBridge"
    assert [v.type for v in flood.events] == ["Close", "Cancel", "Delay"]
    assert [(a.role, a.mention or a.event) for a in flood.events[2].arguments] == [
        ("Cause", "T9"), ("Cause", "T10"), ("Theme", "T7"), ("Before", "E2")]  # fmt: skip
    assert flood.meta["attributes"] == [{"id": "A1", "type": "Negation", "target": "E2", "value": None}]
    assert flood.meta["arguments"] == {"R1": [["Cause", "E1"], ["Effect", "E3"]]}
    assert [e.mentions for e in graduate.entities] == [("T1", "T4"), ("T2",), ("T6",)]
    assert graduate.entities[1].link == "Wikidata:Q900001"
    assert [(f.head_mention, f.relation, f.tail_mention) for f in graduate.facts] == [
        ("T1", "毕业院校", "T2"), ("T4", "任职", "T6")]  # fmt: skip
    assert graduate.facts[0].head == graduate.facts[1].head


def test_a_single_file_of_either_kind_is_one_document() -> None:
    assert only(SAMPLE / "graduate.txt") == only(SAMPLE / "graduate.ann")


def test_crlf_counts_as_two_characters_and_a_byte_order_mark_as_none(tmp_path: Path) -> None:
    put(tmp_path, "a\r\nLindby", "T1\tPlace 3 9\tLindby")
    assert only(tmp_path).mentions[0].start == 3
    put(tmp_path, "\ufeffLindby", "T1\tPlace 0 6\tLindby")
    assert only(tmp_path).text == "Lindby"


def test_fragments_are_refused_or_merged_by_choice(tmp_path: Path) -> None:
    put(tmp_path, "left and right arm", "T1\tLimb 0 4;15 18\tleft arm")
    with pytest.raises(BadRecord, match="a: T1 has 2 fragments") as caught:
        only(tmp_path)
    assert (Path(caught.value.file).name, caught.value.line, caught.value.field) == ("a.ann", 1, "T1")
    report = Report()
    doc = only(tmp_path, Options(fragments="merge"), report)
    assert doc.mentions[0].text == doc.text
    assert report.counts == {"merged_fragments": 1}


def test_equivs_that_share_a_mention_are_one_entity(tmp_path: Path) -> None:
    lines = [f"T{i}\tX {i} {i + 1}\t{i}" for i in range(5)]
    put(tmp_path, "01234", *lines, "*\tEquiv T0 T1", "*\tEquiv T2 T3", "*\tEquiv T3 T1", "N1\tReference T2 W:1\tone")
    (entity,) = only(tmp_path).entities
    assert set(entity.mentions) == {"T0", "T1", "T2", "T3"}
    assert (entity.link, entity.name) == ("W:1", "one")


def test_attributes_notes_and_second_references_follow_their_targets(tmp_path: Path) -> None:
    lines = ["T7\tX 0 1\ta", "T3\tX 2 3\tb", "R9\tr Arg1:T7 Arg2:T3", "E5\tX:T3", "A1\tNegation R9", "M1\tSure T3 L1",
             "#1\tAnnotatorNotes E5\tfirst\tor second?", "N1\tReference T3 W:1\tB", "N2\tReference T3 W:2\tB",
             "# free words"]  # fmt: skip
    doc = only(put(tmp_path, "a b", *lines))
    assert [a["target"] for a in doc.meta["attributes"]] == ["R1", "T3"]
    assert doc.meta["notes"][0]["text"] == "first\tor second?"
    assert doc.meta["normalizations"][0]["reference"] == "W:2"
    assert returned([doc], tmp_path / "out") == [doc]
    renamed = replace(
        doc,
        mentions=tuple(replace(m, id=f"x{m.id}") for m in doc.mentions),
        entities=tuple(replace(e, mentions=tuple(f"x{id}" for id in e.mentions)) for e in doc.entities),
        facts=tuple(replace(f, head_mention="xT7", tail_mention="xT3") for f in doc.facts),
        events=(Event("v", "X", "xT3"),),
        meta={"attributes": [{"id": "A1", "type": "Negation", "target": "v", "value": None},
                             {"id": "A2", "type": "Sure", "target": "xT3", "value": "L 1"}]},
    )  # fmt: skip
    (back,) = returned([renamed], tmp_path / "renamed")
    assert [back.mention(back.meta["attributes"][1]["target"]).text] == ["b"]
    assert back.meta["attributes"][0]["target"] == back.events[0].id == "E1"
    assert back.meta["attributes"][1]["value"] == "L 1"


def test_numbers_of_roles_are_brats_own_only_where_they_count() -> None:
    assert without_numbers(["Theme", "Theme2", "Site2", "Theme3"]) == ["Theme", "Theme", "Site2", "Theme"]
    assert without_numbers(["Theme2", "Theme", "Arg1", "Arg2"]) == ["Theme2", "Theme", "Arg1", "Arg2"]
    assert with_numbers(["Theme", "Site", "Theme"]) == ["Theme", "Site", "Theme2"]


def test_what_standoff_cannot_say_is_counted_and_the_rest_is_written(tmp_path: Path) -> None:
    text = "a b c"
    mentions = (Mention("m0", 0, 1, "a", "Big Thing"), Mention("m1", 2, 3, "b", "X"), Mention("m2", 4, 5, "c", "_"))
    entities = (Entity("e0", ("m0",), "Big Thing", "a"), Entity("e1", ("m1", "m2"), "X", "other name"),
                Entity("e2", ("m2",), "_", "c", "has blank"))  # fmt: skip
    facts = (Fact("e0", "lives in", "e1"), Fact("e0", "r", "e1", "m0", "m0"))
    events = (Event("v0", "Y"), Event("v1", "Y", "m1", (Argument("r", event="v0"), Argument("r", "m0"))))
    doc = Document("d", text, mentions=mentions, entities=entities, facts=facts, events=events, meta={"page": 1})
    assert brat.lost(doc, Options()) == {
        "types": 2, "names": 1, "links": 1, "mentions of two entities": 1, "facts without mentions": 2,
        "relation names": 1, "events without trigger": 1, "arguments that are events without trigger": 1,
        "meta": 1}  # fmt: skip
    (back,) = returned([doc], tmp_path / "out")
    assert [m.type for m in back.mentions] == ["Big_Thing", "X", ""]
    assert [(back.mention(f.head_mention or "").text, f.relation) for f in back.facts] == [
        ("a", "lives_in"),
        ("a", "r"),
    ]
    assert [len(v.arguments) for v in back.events] == [1]


@pytest.mark.parametrize(
    ("lines", "line", "kind", "words"),
    [
        (["T1\tX 0 6\tLindby", "T2\tX 3 99\tx"], 2, "bad_record", "in a text of 10 characters"),
        (["T1\tX 0 5\tLindby"], 1, "offset_inclusive", "inclusive ends"),
        (["T1\tX 1 4\tLindby"], 1, "offset_mismatch", "is at 0:6"),
        (["T1\tX 0 6\tLindby", "T1\tX 0 6\tLindby"], 2, "bad_record", "second time"),
        (["T1\tX 0 " + "9" * 5000 + "\tLindby"], 1, "bad_record", "expected a type and offsets"),
        (["T1\tX 0 6"], 1, "bad_record", "the text is missing"),
        (["", "R1\tr Arg1:T1 Arg2:T2"], 2, "bad_record", "refers to T1"),
        (["R1\tr Arg1:T1"], 1, "bad_record", "two arguments"),
        (["T1\tX 0 6\tLindby", "E1\tX:T1 Who:T4"], 2, "bad_record", "refers to T4"),
        (["E1\t"], 1, "bad_record", "with its trigger"),
        (["*\tEquiv T1 T2"], 1, "bad_record", "refers to T1"),
        (["hello"], 1, "bad_record", "starts with T, R"),
        (["A1\tNegation"], 1, "bad_record", "has the attribute"),
        (["N1\tReference T1"], 1, "bad_record", "a reference"),
    ],
)
def test_a_faulty_line_is_named(lines: list[str], line: int, kind: str, words: str, tmp_path: Path) -> None:
    put(tmp_path, "Lindby\nbay", *lines)
    with pytest.raises(BadRecord, match=words) as caught:
        only(tmp_path)
    assert (Path(caught.value.file).name, caught.value.line, caught.value.kind) == ("a.ann", line, kind)


def test_an_ann_file_without_its_text_is_named_and_set_aside_by_choice(tmp_path: Path) -> None:
    put(tmp_path, "a", name="b")
    (tmp_path / "lonely.ann").write_text("T1\tX 0 1\ta\n")
    with pytest.raises(BadRecord, match=r"lonely\.ann.*lonely\.txt is missing"):
        list(brat.read(ReadContext(tmp_path)))
    report = Report()
    assert [d.id for d in brat.read(ReadContext(tmp_path, Options(skip_bad=True), report))] == ["b"]
    assert report.rejected == 1


def test_other_symmetric_lines_and_dangling_attributes_are_noted(tmp_path: Path) -> None:
    report = Report()
    put(tmp_path, "ab", "T1\tX 0 1\ta", "*\tOverlap T1 T1", "A1\tNegation T8")
    doc = only(tmp_path, report=report)
    assert report.counts == {"unknown_line": 1, "unknown_target": 1}
    assert doc.meta["attributes"][0]["target"] == "T8"


IDS = [
    "../../up",
    "/root",
    "a//b",
    "a/.hidden",
    "",
    ".",
    "50%",
    "a\\b:c",
    "文档/三",
    "x.txt",
    "x.txt/y",
    "nul\x00\n",
    "a b. ",
]


def test_ids_become_paths_inside_the_folder_and_come_back(tmp_path: Path) -> None:
    docs = [Document(id, f"text {i}") for i, id in enumerate(IDS)]
    back = returned(docs, tmp_path / "in" / "out")
    assert {(d.id, d.text) for d in back} == {(d.id, d.text) for d in docs}
    assert [p.name for p in tmp_path.iterdir()] == ["in"] and [p.name for p in (tmp_path / "in").iterdir()] == ["out"]


def test_equal_and_endless_ids_lose_no_document(tmp_path: Path) -> None:
    docs = [Document("d", "1"), Document("d", "2"), Document("长" * 900, "3"), Document("长" * 901, "4")]
    assert sorted(d.text for d in returned(docs, tmp_path / "out")) == ["1", "2", "3", "4"]


def test_a_folder_that_holds_files_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("keep")
    with pytest.raises(BadFile, match="folder is not empty"):
        brat.write([Document("d", "a")], tmp_path, Options())
    assert (tmp_path / "precious").read_text() == "keep"
    (tmp_path / "empty").mkdir()
    brat.write([Document("d", "a")], tmp_path / "empty", Options())
    assert len(list((tmp_path / "empty").iterdir())) == 2


@st.composite
def graphs(draw: st.DrawFn, odd: bool) -> Document:
    """Documents with everything that brat can hold; odd ones also with what it cannot."""

    def choose(usual: list[str], strange: list[str]) -> str:
        return draw(st.sampled_from(usual + strange if odd else usual))

    text = "\ufeffab\r\ncd\t文 e"
    pick = st.integers(0, len(text) - 1)
    spans = [sorted(draw(st.tuples(pick, pick))) for _ in range(draw(st.integers(1, 5)))]
    prefix = draw(st.sampled_from(["T", "m", "T0"]))
    mentions = [Mention(f"{prefix}{i}", s, e + 1, text[s : e + 1], choose(["A", "", "b-c"], ["_", "a b"]))
                for i, (s, e) in enumerate(spans)]  # fmt: skip
    ids = st.sampled_from([m.id for m in mentions])
    entities: list[Entity] = []
    for i, group in enumerate(draw(st.lists(st.lists(ids, min_size=1, max_size=3, unique=True), max_size=3))):
        if not odd:
            group = [id for id in group if all(id not in e.mentions for e in entities)]
        if group:
            first = next(m for m in mentions if m.id == group[0])
            name, link = choose([first.text, "n\tame"], []), choose(["Q5", "W:Q5"], ["", "_:x", "a b"])
            entities.append(Entity(f"e{i}", tuple(group), first.type, name, link))
    facts = []
    for _ in range(draw(st.integers(0, 3)) if entities else 0):
        head, tail = draw(st.sampled_from(entities)), draw(st.sampled_from(entities))
        pin = draw(st.sampled_from([tail.mentions[0], None] if odd else [tail.mentions[0]]))
        facts.append(Fact(head.id, choose(["r", "_"], ["s t"]), tail.id, head.mentions[-1], pin))
    events: list[Event] = []
    for i in range(draw(st.integers(0, 3))):
        roles = [choose(["", "Theme", "Site"], ["Theme2", "a b"]) for _ in range(draw(st.integers(0, 4)))]
        other = [Argument("Of", event=events[-1].id)] if events else []
        trigger = draw(st.one_of(ids, st.none()) if odd else ids)
        arguments = [Argument(role, draw(ids)) for role in roles] + other
        events.append(Event(f"E{i}", choose(["V", "", "a:b"], ["_"]), trigger, tuple(arguments)))
    return Document("d", text, None, (), tuple(mentions), tuple(entities), tuple(facts), tuple(events))


def test_what_is_not_counted_as_lost_comes_back(tmp_path: Path) -> None:
    tried: list[Document] = []
    seen: list[bool] = []

    @settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.one_of(graphs(odd=False), graphs(odd=True)))
    def check(doc: Document) -> None:
        lost = brat.lost(doc, Options())
        tried.append(doc)
        (back,) = returned([doc], tmp_path / f"{len(tried)}")
        assert not brat.lost(back, Options())
        assert len(back.mentions) == len(doc.mentions) and len(back.facts) == len(doc.facts)
        if not lost:
            assert canonical(back) == canonical(doc)
        seen.append(not lost)

    check()
    assert sum(seen) > 20, "hardly any generated document fits the format: this proves nothing"
