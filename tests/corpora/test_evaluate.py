"""The report of an evaluation: promised keys, guesses, comparisons, and tables."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from factpin.app.show.evaluate_table import render
from factpin.corpora.evaluate import evaluate, guess_task
from factpin.documents import Document, Entity, Mention
from factpin.errors import BadInput, UnknownName
from factpin.scoring import document_relations, events, spans, triples
from factpin.tasks import TASKS
from tests.scoring import make

FIGURES = {"precision", "recall", "f1", "tp", "fp", "fn", "interval"}
PROMISED = {"task", "documents", "gold", "predicted", "strict", "macro", "conventions", "labels", "confusions"}


def shown(report) -> str:
    file = io.StringIO()
    Console(width=200, file=file).print(render(report))
    return file.getvalue()


def span_corpus(right: int, documents: int = 30) -> list[Document]:
    """Two gold spans a document; in all but `right` documents the second has the wrong label."""
    return [
        make.spans((0, 3, "org"), (5, 9, "org" if i < right else "loc"), id=str(i), scores=(0.9, 0.6))
        for i in range(documents)
    ]


def relation_document(*facts, id="d", pinned=False, **options):
    entities = {"a": [(0, 2), (10, 12)], "b": [(4, 6)], "c": [(20, 22)]}
    return make.relations(entities, facts, id=id, sentences=[(0, 8), (8, 36)], pinned=pinned, **options)


def test_spans_give_the_promised_keys_and_right_figures():
    report = evaluate(span_corpus(20), span_corpus(30), task="spans", samples=200)
    assert report.keys() >= PROMISED
    assert (report["task"], report["documents"], report["gold"], report["predicted"]) == ("spans", 30, 60, 60)
    assert report["strict"].keys() >= FIGURES
    assert (report["strict"]["tp"], report["strict"]["fp"], report["strict"]["fn"]) == (50, 10, 10)
    assert report["strict"]["interval"][0] < report["strict"]["f1"] < report["strict"]["interval"][1]
    assert report["conventions"].keys() == {"boundary", "partial", "type"}
    assert report["conventions"]["boundary"]["f1"] == report["conventions"]["partial"]["f1"] == 1
    assert report["labels"]["org"]["support"] == 60 and report["labels"]["loc"]["support"] == 0
    assert report["labels"]["org"].keys() >= {"precision", "recall", "f1", "support"}
    assert report["macro"]["f1"] == pytest.approx(report["labels"]["org"]["f1"] / 2)
    worst = report["confusions"][0]
    assert (worst["gold"], worst["predicted"], worst["count"], worst["kind"]) == ("org", "loc", 10, "label")
    assert worst["example"].startswith("abcde[fghi]")
    assert json.loads(json.dumps(report)) == report


def test_calibration_stands_where_predictions_carry_scores():
    report = evaluate(span_corpus(20), span_corpus(30))
    assert report["calibration"]["count"] == 60
    assert report["calibration"]["ece"] == pytest.approx((30 * 0.1 + 30 * (20 / 30 - 0.6)) / 60)
    plain = [replace(doc, mentions=tuple(replace(m, score=None) for m in doc.mentions)) for doc in span_corpus(20)]
    assert "calibration" not in evaluate(plain, span_corpus(30))


def test_two_predictions_are_compared_by_paired_bootstrap():
    better = evaluate(span_corpus(28), span_corpus(30), against=span_corpus(10))
    assert better["difference"] == pytest.approx(better["strict"]["f1"] - better["against"]["f1"])
    assert better["difference"] > 0 and better["p_value"] < 0.01
    same = evaluate(span_corpus(20), span_corpus(30), against=span_corpus(20))
    assert same["difference"] == 0 and same["p_value"] == 1
    assert "p = 1.0000" in shown(same)
    short = evaluate(span_corpus(20), span_corpus(30), against=span_corpus(20)[:25])
    assert len(short["missing_against"]) == 5 and "5 gold documents are missing in the second" in shown(short)


def test_triples_add_their_conventions():
    gold, predicted = relation_document(("a", "r", "b"), pinned=True), relation_document(("a", "s", "b"), pinned=True)
    report = evaluate([predicted], [gold])
    assert report["task"] == "triples" and report["conventions"].keys() == {"typed", "text", "last_word"}
    assert report["confusions"][0]["example"].startswith("[ab]cd[ef]")
    assert evaluate([gold], [gold])["conventions"]["text"]["f1"] == 1


def test_document_relations_add_ign_intra_inter_evidence_and_end_to_end():
    near, far = ("a", "r", "b"), ("b", "r", "c")
    gold = relation_document(near, far, evidence={near: [0], far: [0, 1]})
    predicted = relation_document(near, evidence={near: [0, 1]})
    train = relation_document(near, id="t")
    report = evaluate([predicted], [gold], train=[train])
    assert report["task"] == "document_relations"
    assert (report["intra"]["f1"], report["inter"]["f1"]) == (1, 0)
    assert (report["evidence"]["tp"], report["evidence"]["fp"], report["evidence"]["fn"]) == (1, 1, 2)
    assert report["ign"]["seen"] == 1 and report["ign"]["precision"] == 0
    assert report["end_to_end"]["all_mentions"]["f1"] == report["end_to_end"]["first_mention"]["f1"]
    assert report["coreference"]["mean_f1"] == pytest.approx(1)
    assert "ign" not in evaluate([predicted], [gold])
    text = shown(report)
    assert "Ign F1" in text and "first mention" in text and "coreference" in text


def test_the_task_is_guessed_from_gold():
    assert guess_task([make.spans((0, 2, "x"))]) == "spans"
    assert guess_task([relation_document(("a", "r", "b"), pinned=True)]) == "triples"
    assert guess_task([relation_document(("a", "r", "b"))]) == "document_relations"
    assert guess_task([make.relations({"a": [(0, 1)], "b": [(2, 3)]}, [("a", "r", "b")])]) == "triples"
    assert guess_task([]) == "spans"


@pytest.mark.parametrize(("alias", "task"), [("ner", "spans"), ("re", "triples"), ("docre", "document_relations"),
                                             ("document-relations", "document_relations")])  # fmt: skip
def test_tasks_have_aliases(alias, task):
    assert evaluate([], [], task=alias)["task"] == task


def test_unknown_tasks_and_useless_training_sets_are_refused():
    with pytest.raises(UnknownName, match="Did you mean 'spans'"):
        evaluate([], [], task="span")
    with pytest.raises(BadInput, match="Ign F1"):
        evaluate([], [], task="spans", train=[])


@pytest.mark.parametrize("task", TASKS)
def test_empty_corpora_give_zeros_and_say_so(task):
    for gold in ([], [Document("d", "text")]):
        report = evaluate([], gold, task=task, samples=10)
        assert report["strict"]["f1"] == 0 and report["strict"]["interval"] == [0, 0]
        assert any("gold has no annotation" in note for note in report["notes"])
        assert "gold has no annotation" in shown(report)


def test_missing_predictions_count_as_empty_and_are_reported():
    report = evaluate(span_corpus(30)[:20], span_corpus(30))
    assert report["missing"] == [str(i) for i in range(20, 30)]
    assert report["strict"]["recall"] == pytest.approx(2 / 3) and report["strict"]["precision"] == 1
    assert "10 gold documents have no prediction" in shown(report)


def test_the_order_of_documents_changes_nothing():
    gold, predicted = span_corpus(30), span_corpus(20)
    assert evaluate(predicted[::-1], gold) == evaluate(predicted, gold)


def test_every_convention_is_named_in_words():
    counted = {"coreference": ("strict", "linked"), "spans": spans.CONVENTIONS, "triples": triples.CONVENTIONS,
               "events": events.CONVENTIONS, "document_relations": document_relations.CONVENTIONS}  # fmt: skip
    assert counted.keys() == TASKS.keys()
    for task, conventions in counted.items():
        assert set(conventions) <= TASKS[task].conventions.keys()
        report = evaluate([], [], task=task, samples=10)
        for name, words in TASKS[task].conventions.items():
            assert name in ("ign", "filtered", "complex") or words in shown(report)


def test_the_table_shows_labels_and_examples_as_they_are():
    gold = [make.spans((0, 3, "[bold]"), id="1", text="[red]x")]
    text = shown(evaluate([], gold))
    assert "[bold]" in text and "[[re]d]x" in text
    assert "missed" in text


def test_missed_labels_do_not_crowd_out_the_confusions():
    labels = [f"l{i:02}" for i in range(15)]
    gold = [
        make.spans(*((i, i + 1, label) for i, label in enumerate(labels)), (20, 22, "org"), id=str(d)) for d in "12"
    ]
    predicted = [make.spans((20, 22, "loc"), id="1")]
    report = evaluate(predicted, gold)
    assert [c["kind"] for c in report["confusions"]] == ["missed"] * 10 + ["label"]
    assert "loc" in shown(report).split("worst mistakes")[1]


# ---- coreference ----------------------------------------------------------------------------------------------------


def gathered(*clusters: str) -> Document:
    """Mentions a b c d e, one character each, in these entities."""
    mentions = tuple(Mention(c, i, i + 1, c, "x") for i, c in enumerate("abcde"))
    return Document("d", "abcde", mentions=mentions, entities=tuple(Entity(c, tuple(c)) for c in clusters))


def test_entities_are_judged_by_all_their_mentions_and_those_of_none_are_alone() -> None:
    report = evaluate([gathered("ab", "cd")], [gathered("ab", "cde")], task="coref", samples=5)
    assert report["task"] == "coreference" and (report["gold"], report["predicted"]) == (2, 3)
    assert (report["strict"]["tp"], report["strict"]["fp"], report["strict"]["fn"]) == (1, 2, 1)
    linked = report["conventions"]["linked"]
    assert (linked["tp"], linked["fp"], linked["fn"]) == (1, 1, 1)
    assert report["labels"]["x"]["support"] == 2
    muc = report["coreference"]["muc"]
    assert (muc["precision"], muc["recall"]) == (1.0, pytest.approx(2 / 3))


def test_an_entity_of_one_mention_that_is_not_written_down_is_no_mistake() -> None:
    report = evaluate([gathered("ab", "c", "d", "e")], [gathered("ab")], task="coreference", samples=5)
    assert report["strict"]["f1"] == report["coreference"]["mean_f1"] == 1.0
    assert "exactly its mentions" in shown(report)
