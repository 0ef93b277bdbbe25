"""Links against gold, counted by hand."""

import io

from rich.console import Console

from factpin.app.show.linking_table import render_linking
from factpin.documents import Document, Entity, Mention
from factpin.scoring import align
from factpin.scoring.counts import total
from factpin.scoring.linking import known_names, score_linking

TEXT = "Ann met Bob and Ann in Rome on Monday."


def doc(linked: dict[int, str | None], **meta: object) -> Document:
    """Mentions by their start; None: NIL."""
    mentions = tuple(
        Mention(f"m{start}", start, TEXT.index(" ", start), TEXT[start : TEXT.index(" ", start)]) for start in linked
    )
    entities = tuple(
        Entity(f"e{start}", (f"m{start}",), link=link or "") for start, link in linked.items() if link != "date"
    )
    return Document("d", TEXT, mentions=mentions, entities=entities, meta=meta)


GOLD = doc({0: "Q1", 8: None, 16: "Q2", 23: "Q3", 31 - 3: "date"})


def test_counts_by_hand() -> None:
    predicted = doc({0: "Q1", 8: "Q9", 16: "Q1"})
    found = score_linking(align([predicted], [GOLD]).pairs)
    linked, nil = total(found.rows["linked"]), total(found.rows["nil"])
    assert (linked.tp, linked.fp, linked.fn) == (1, 2, 2)
    assert (nil.tp, nil.fp, nil.fn) == (0, 0, 1)
    assert found.accuracy == 1 / 4
    assert found.on_ambiguous == (1 / 2, 2)  # Ann is Q1 and Q2
    assert found.on_nil == (0.0, 1)


def test_what_has_no_mention_has_no_figure() -> None:
    rows = {"precision": 1.0, "recall": 1.0, "f1": 1.0, "interval": (1.0, 1.0)}
    report = {"documents": 1, "mentions": 3, "linked": rows, "nil": rows, "accuracy": 1.0, "notes": []}
    report |= {"ambiguous": {"accuracy": 0.0, "mentions": 0}, "nil_accuracy": {"accuracy": 0.0, "mentions": 3}}
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(render_linking(report))
    lines = {line.split()[1]: line for line in console.export_text().splitlines() if "of them" in line}
    assert "0 of them" in lines["ambiguous"] and "0.00" not in lines["ambiguous"]
    assert "3 of them" in lines["nil_accuracy"] and "0.00" in lines["nil_accuracy"]


def test_gold_against_itself_is_perfect() -> None:
    found = score_linking(align([GOLD], [GOLD]).pairs)
    assert found.accuracy == 1.0 and total(found.rows["linked"]).f1 == 1.0 and total(found.rows["nil"]).f1 == 1.0


def test_links_that_the_knowledge_base_lacks_are_nil() -> None:
    predicted = doc({0: "Q1", 8: None, 16: None, 23: None})
    assert score_linking(align([predicted], [GOLD]).pairs, known={"Q1"}).accuracy == 1.0
    assert score_linking(align([predicted], [GOLD]).pairs).accuracy == 1 / 2


def test_only_the_evaluated_part_counts() -> None:
    gold = doc({0: "Q1", 16: "Q2"}, evaluation_span=[10, 30])
    found = score_linking(align([doc({0: "Q7", 16: "Q2"})], [gold]).pairs)
    assert len(found.right) == 1 and found.accuracy == 1.0 and total(found.rows["linked"]).fp == 0


def test_either_entity_of_a_span_is_right() -> None:
    mentions = (Mention("a", 23, 27, "Rome"), Mention("b", 23, 27, "Rome"))
    gold = Document(
        "d", TEXT, mentions=mentions, entities=(Entity("x", ("a",), link="Q1"), Entity("y", ("b",), link="Q2"))
    )
    found = score_linking(align([doc({23: "Q2"})], [gold]).pairs)
    assert found.accuracy == 1.0 and len(found.right) == 1


def test_scores_are_read_from_the_record() -> None:
    predicted = doc({0: "Q1", 16: "Q1"}, links=[{"mention": "m0", "score": 0.9}, {"mention": "m16", "score": 0.6}])
    assert score_linking(align([predicted], [GOLD]).pairs).outcomes == [(0.9, True), (0.6, False)]


def test_names_of_a_corpus() -> None:
    assert known_names([GOLD])["ann"] == {"Q1", "Q2"}
