"""What a document annotates decides what is learned from it and judged by it."""

import pytest

from factpin.documents import Document, Entity, Fact, Mention
from factpin.documents.annotated import keep_annotated
from factpin.errors import BadDocument
from factpin.scoring import align, spans
from factpin.scoring.counts import total

TEXT = "Anna lives in Rome."
MENTIONS = (Mention("m0", 0, 4, "Anna", "person"), Mention("m1", 14, 18, "Rome", "place"))


def document(annotated: object = None, mentions: tuple[Mention, ...] = MENTIONS) -> Document:
    meta = {} if annotated is None else {"annotated": annotated}
    return Document("d", TEXT, mentions=mentions, meta=meta)


def test_without_an_entry_everything_is_annotated() -> None:
    assert document().notes.annotated_types is None
    assert document({"relations": ["r"]}).notes.annotated_types is None
    assert document({"mentions": []}).notes.annotated_types == frozenset()
    assert keep_annotated(document(), document()) == document()


def test_types_that_gold_does_not_mark_count_neither_for_nor_against() -> None:
    gold = document({"mentions": ["person"]}, MENTIONS[:1])
    score = total(spans.score(align([document()], [gold]).pairs).rows["strict"])
    assert (score.tp, score.fp, score.fn) == (1, 0, 0)
    everything = document({"mentions": ["person"]})  # its place is marked, but not every place is: no recall by it
    score = total(spans.score(align([document(mentions=())], [everything]).pairs).rows["strict"])
    assert (score.tp, score.fp, score.fn) == (0, 0, 1)


def test_relations_that_gold_does_not_mark_are_not_judged_and_arguments_stay() -> None:
    entities = (Entity("e0", ("m0",)), Entity("e1", ("m1",)))
    facts = (Fact("e0", "lives in", "e1"), Fact("e0", "born in", "e1"))
    doc = Document("d", TEXT, mentions=MENTIONS, entities=entities, facts=facts)
    gold = document({"mentions": [], "relations": ["lives in"]})
    kept = keep_annotated(doc, gold)
    assert kept.facts == facts[:1] and kept.mentions == MENTIONS


@pytest.mark.parametrize("wrong", ["person", {"mentions": "person"}, {"mentions": [1]}, 3])
def test_an_entry_that_cannot_be_meant_is_refused(wrong: object) -> None:
    with pytest.raises(BadDocument, match="d: meta.annotated.*expected lists of names"):
        document(wrong).notes  # noqa: B018
