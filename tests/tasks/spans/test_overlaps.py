"""Whether mentions may overlap follows from the training corpus, and a mistake in it does not decide."""

import random

import pytest

from factpin.documents import Document, Mention
from factpin.errors import BadInput
from factpin.tasks.spans.task import SpanOptions, design, overlapping_share


def doc(*spans: tuple[int, int], text: str = "abcdefghij" * 4) -> Document:
    return Document("d", text, mentions=tuple(
        Mention(f"m{i}", start, end, text[start:end], "x") for i, (start, end) in enumerate(spans)))  # fmt: skip


def overlaps(documents: list[Document], chosen: str = "auto") -> bool:
    return bool(design(SpanOptions("e", overlaps=chosen), documents, {}).task_config["overlaps"])  # type: ignore[arg-type]


def test_one_mistake_in_a_flat_corpus_changes_nothing() -> None:
    flat, nested = [doc((0, 2), (3, 5))] * 500, doc((0, 5), (1, 3))
    assert not overlaps(flat) and not overlaps([*flat, nested])
    assert overlaps([*flat[:100], nested]) and overlaps([nested])
    assert overlaps(flat, "keep") and not overlaps([nested], "drop")


def test_the_share_by_hand() -> None:
    assert overlapping_share([doc((0, 2), (2, 4))]) == 0.0  # they only touch
    assert overlapping_share([doc((0, 9), (1, 2), (3, 4), (10, 12))]) == pytest.approx(3 / 4)
    assert overlapping_share([doc((0, 3), (2, 5), (4, 7), (8, 9))]) == pytest.approx(3 / 4)
    assert overlapping_share([doc()]) == 0.0 == overlapping_share([])


def test_the_share_is_that_of_a_slow_count() -> None:
    chance = random.Random(4)
    for _ in range(200):
        spans = {(a, a + chance.randint(1, 8)) for a in (chance.randrange(30) for _ in range(chance.randint(1, 9)))}
        slow = sum(any(a != b and a[0] < b[1] and b[0] < a[1] for b in spans) for a in spans) / len(spans)
        assert overlapping_share([doc(*spans)]) == pytest.approx(slow)


FLAT, NESTED = [doc((0, 2), (3, 5))], [doc((0, 5), (1, 3))]


@pytest.mark.parametrize(
    ("documents", "options", "head"),
    [
        (FLAT, {}, "crf"),
        (NESTED, {}, "efficient_global_pointer"),
        (FLAT, {"overlaps": "keep"}, "efficient_global_pointer"),
        (NESTED, {"overlaps": "drop"}, "efficient_global_pointer"),  # a crf would not learn those inside others
        (FLAT, {"head_size": 32}, "efficient_global_pointer"),
        (FLAT, {"scheme": "bio"}, "crf"),
        (NESTED, {"head": "crf"}, "crf"),
        (FLAT, {"head": "global_pointer"}, "global_pointer"),
    ],
)
def test_the_head_follows_from_the_corpus(documents: list[Document], options: dict[str, object], head: str) -> None:
    assert design(SpanOptions("e", **options), documents, {}).head == head  # type: ignore[arg-type]


def test_a_setting_that_the_head_does_not_take_is_refused() -> None:
    with pytest.raises(BadInput, match=r"head crf has no setting 'max_span'.*global_pointer"):
        design(SpanOptions("e", head="crf", max_span=3), FLAT, {})
