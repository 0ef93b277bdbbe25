"""Pairing gold with predictions."""

import pytest

from factpin.documents import Document
from factpin.errors import BadInput
from factpin.scoring import align


def docs(**texts: str) -> list[Document]:
    return [Document(id, text) for id, text in texts.items()]


def test_pairs_are_found_by_id_and_stand_in_the_order_of_gold():
    found = align(docs(b="two", a="one"), docs(a="one", b="two"))
    assert [(p.gold.id, p.predicted.id) for p in found.pairs] == [("a", "a"), ("b", "b")]
    assert not found.missing and not found.by_order


def test_a_missing_prediction_is_empty_and_named():
    found = align(docs(a="one"), docs(a="one", b="two"))
    assert found.missing == ("b",)
    assert found.pairs[1].predicted.text == "two" and not found.pairs[1].predicted.mentions


def test_unknown_ids_are_refused_with_examples():
    with pytest.raises(BadInput, match="1 predicted document is not in gold: 'c'"):
        align(docs(a="one", c="three"), docs(a="one", b="two"))


def test_documents_without_own_ids_are_paired_by_order_when_all_texts_agree():
    found = align(docs(pred_1="one", pred_2="two"), docs(gold_1="one", gold_2="two"))
    assert found.by_order and [p.predicted.id for p in found.pairs] == ["pred_1", "pred_2"]
    with pytest.raises(BadInput, match="same texts in the same order"):
        align(docs(pred_1="two", pred_2="one"), docs(gold_1="one", gold_2="two"))


def test_a_differing_text_is_refused_with_the_place():
    with pytest.raises(BadInput, match="a: the predicted text differs from gold at character 3: 'X tail'"):
        align(docs(a="oneX tail"), docs(a="one tail"))
    with pytest.raises(BadInput, match="at character 3"):
        align(docs(a="one"), docs(a="one tail"))


def test_repeated_ids_are_refused():
    with pytest.raises(BadInput, match="Two gold documents have the id 'a'"):
        align([], docs(a="one") * 2)
    with pytest.raises(BadInput, match="Two predicted documents"):
        align(docs(a="one") * 2, docs(a="one"))
