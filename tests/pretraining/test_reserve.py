"""The reserve: documents all over a corpus, each as likely, whole sentences, however long the corpus is."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from factpin.pretraining import reserve
from factpin.pretraining.corpus import Portion
from factpin.pretraining.reserve import CHARACTERS, EXCERPTS, excerpts


def portions(sizes: list[int]) -> Iterator[Portion]:
    """Document d comes in sizes[d] portions."""
    return (Portion(d, f"{d} {k}.") for d, size in enumerate(sizes) for k in range(size))


def test_few_documents_share_the_reserve_and_short_ones_are_there_whole() -> None:
    found = excerpts(portions([1000, 2, 1000]), np.random.default_rng(0))
    counts = Counter(portion.document for portion in found)
    assert counts == {0: EXCERPTS // 3, 1: 2, 2: EXCERPTS // 3}
    assert len({(portion.document, portion.text) for portion in found}) == len(found)
    places = [int(portion.text.split()[1][:-1]) for portion in found if portion.document == 0]
    assert abs(np.mean(places) - 500) < 4 * 289 / len(places) ** 0.5  # from all over the book, 289: its deviation


def test_every_document_of_many_is_as_likely_and_every_portion_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reserve, "EXCERPTS", 8)
    drawn: Counter[int] = Counter()
    for seed in range(600):
        found = excerpts(portions([1] * 20), np.random.default_rng(seed))
        assert len(found) == 8
        drawn.update(portion.document for portion in found)
    assert max(abs(drawn[d] - 240) for d in range(20)) < 4 * (600 * 0.4 * 0.6) ** 0.5
    texts: Counter[str] = Counter()
    for seed in range(600):
        texts.update(portion.text for portion in excerpts(portions([10, 1, 1, 1]), np.random.default_rng(seed)))
    assert max(abs(texts[f"0 {k}."] - 120) for k in range(10)) < 4 * (600 * 0.2 * 0.8) ** 0.5


def test_the_same_chance_draws_the_same_and_another_pass_others() -> None:
    one, same, other = (excerpts(portions([3] * 900), np.random.default_rng([7, k])) for k in (0, 0, 1))
    assert one == same and one != other
    assert len({portion.document for portion in one}) == EXCERPTS


def test_an_excerpt_ends_with_a_sentence_and_keeps_the_mentions_in_it() -> None:
    text = "Anna Weber lives in Rome. " * 400
    mentions = tuple((26 * k, 26 * k + 10) for k in range(400))
    (found,) = excerpts([Portion(0, text, mentions)], np.random.default_rng(0))
    assert CHARACTERS - 26 <= len(found.text) <= CHARACTERS and found.text.endswith("Rome.")
    assert {found.text[a:b] for a, b in found.mentions} == {"Anna Weber"}
    assert len(found.mentions) == found.text.count("Anna Weber")
    (whole,) = excerpts([Portion(0, "Anna Weber", ((0, 10), (5, 11)))], np.random.default_rng(0))
    assert whole.mentions == ((0, 10),)  # one that ends with the text is inside, one that goes on is not
    (long,) = excerpts([Portion(0, "a" * 9000)], np.random.default_rng(0))
    assert len(long.text) == CHARACTERS
