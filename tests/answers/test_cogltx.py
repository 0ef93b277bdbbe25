"""CogLTX: blocks are exact, MemRecall keeps its promises whatever the judge says, and an excerpt is undone."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.answers.cogltx import RecallStep, Windows, cut_blocks, first_relevance, mem_recall, pack, revise
from factpin.answers.cogltx_excerpt import excerpt
from factpin.documents import Span
from factpin.errors import BadInput
from factpin.tokens import Tokenizer
from factpin.tokens.small import build_tokenizer

WORDS = [
    "谷爱凌",
    "出生于",
    "旧金山",
    "，",
    "。",
    "！",
    "\n",
    "\n\n",
    "Anna",
    "Weber",
    "was",
    "born",
    "in",
    "Rome",
    ".",
    "Dr.",
    ";",
    "a-very-long-word",
    "3,141",
    "“引号”",
    "😀",
    "é",
]
TEXTS = st.lists(st.lists(st.sampled_from([*WORDS, " ", "\n"]), max_size=60).map("".join), min_size=1, max_size=3)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return build_tokenizer([" ".join(WORDS)], vocab_size=300)


def judged(scores: list[float]):
    """A judge by a table, and the windows that it was shown."""
    shown: list[list[int]] = []

    def judge(windows: Windows) -> list[list[float]]:
        shown.extend(map(list, windows))
        return [[scores[i] for i in window] for window in windows]

    return judge, shown


@given(TEXTS, st.integers(8, 20))
def test_blocks_are_exact_short_and_make_up_the_texts(texts: list[str], size: int) -> None:
    tokenizer = build_tokenizer([" ".join(WORDS)], vocab_size=300)
    blocks = cut_blocks(texts, tokenizer, size)
    for number, text in enumerate(texts):
        mine = [block for block in blocks if block.document == number]
        at = 0
        for block in mine:
            assert text[at : block.span.start].strip() == ""  # nothing between two blocks but white space
            at = block.span.end
        assert text[at:].strip() == ""
    assert all(0 < len(block.ids) <= size for block in blocks)
    assert [(b.document, b.span) for b in blocks] == sorted((b.document, b.span) for b in blocks)


NO_PIECE = ["\ufffd", "\x01", "\u200b"]  # damaged, of control, of no width: tokenizers of BERT leave these out


@pytest.mark.parametrize("junk", NO_PIECE)
@pytest.mark.parametrize("at", [0, 54, 108])
def test_every_block_has_pieces_where_characters_have_none(tokenizer: Tokenizer, junk: str, at: int) -> None:
    plain = "谷爱凌出生于旧金山。" * 11
    text = plain[:at] + junk * 100 + plain[at:]
    assert not len(tokenizer.encode(junk * 100).ids)
    blocks = cut_blocks([junk * 100, text, plain], tokenizer, 8)
    mine = [block for block in blocks if block.document == 1]
    assert {block.document for block in blocks} == {1, 2} and all(0 < len(block.ids) <= 8 for block in blocks)
    assert "".join(text[block.span.start : block.span.end] for block in mine) == text
    for block in mine:
        assert all(
            block.span.start <= start < end <= block.span.end
            for start, end in zip(block.starts, block.ends, strict=True)
        )
    assert sum(len(block.ids) for block in mine) == sum(len(b.ids) for b in blocks if b.document == 2)


@pytest.mark.parametrize(
    ("text", "ends", "size"),
    [
        ("谷爱凌出生于旧金山。她是滑雪运动员，代表中国参赛！你知道吗？知道。", "。！？", 24),
        ("Anna was born in Rome. She skis, for China! Did you know? Yes, I did.", ".!?", 12),
    ],
)
def test_blocks_end_at_sentences(tokenizer: Tokenizer, text: str, ends: str, size: int) -> None:
    blocks = cut_blocks([text], tokenizer, size)
    assert len(blocks) > 1 and all(text[b.span.start : b.span.end][-1] in ends for b in blocks)


LENGTHS = st.lists(st.integers(1, 9), min_size=1, max_size=30)


@given(LENGTHS, st.integers(9, 60), st.lists(st.integers(1, 5), max_size=3), st.data())
def test_recall_never_exceeds_its_room_keeps_the_order_and_is_deterministic(
    lengths: list[int], room: int, keep: list[int], data: st.DataObject
) -> None:
    scores = data.draw(st.lists(st.floats(0, 1), min_size=len(lengths), max_size=len(lengths)))
    judge, shown = judged(scores)
    found = mem_recall(lengths, room, judge, keep)
    assert list(found.kept) == sorted(set(found.kept))
    assert all(sum(lengths[i] for i in kept) <= room for kept in (found.kept, *shown))
    assert found == mem_recall(lengths, room, judge, keep)
    if sum(lengths) <= room:
        assert found.kept == tuple(range(len(lengths))) and not shown
    else:
        assert len(found.steps) == len(keep) + 1 and found.steps[-1].kept == found.kept
        for step, count in zip(found.steps, keep, strict=False):
            assert set(step.kept) <= set(step.filled) and len(step.kept) <= count


@given(LENGTHS, st.integers(20, 60), st.data())
def test_every_block_competes_exactly_once(lengths: list[int], room: int, data: st.DataObject) -> None:
    z = sorted(data.draw(st.sets(st.integers(0, len(lengths) - 1), max_size=1)))
    windows = pack(lengths, room, z)
    others = [i for window in windows for i in window if i not in z]
    assert sorted(others) == [i for i in range(len(lengths)) if i not in z]
    assert all(set(z) <= set(window) and sum(lengths[i] for i in window) <= room for window in windows)


def test_a_recall_by_hand() -> None:
    judge, shown = judged([0.1, 0.9, 0.2, 0.8, 0.7])
    found = mem_recall([2] * 5, 6, judge, (1,))
    assert shown == [[0, 1, 2], [3, 4], [1, 3, 4], [0, 1, 2], [1, 3, 4]]
    assert found.steps[0] == RecallStep((0.1, 0.9, 0.2, 0.8, 0.7), (1, 3, 4), (1,))
    assert found.kept == (1, 3, 4)


def test_filling_ends_at_the_first_block_that_does_not_fit() -> None:
    judge, _ = judged([0.9, 0.8, 0.7])
    assert mem_recall([3, 4, 1], 6, judge, ()).kept == (0,)  # 1 does not fit, and 2 is not tried


def test_what_was_kept_decides_what_is_found_next() -> None:
    """Block 7 matters only beside block 2: one step misses it, two find it."""

    def judge(windows: Windows) -> list[list[float]]:
        return [[0.9 if i == 2 or (i == 7 and 2 in w) else 0.5 - i / 100 for i in w] for w in windows]

    assert 7 not in mem_recall([1] * 12, 4, judge, ()).kept
    assert {2, 7} <= set(mem_recall([1] * 12, 4, judge, (1,)).kept)


def test_what_makes_no_sense_is_refused() -> None:
    judge, _ = judged([0.5] * 9)
    with pytest.raises(BadInput, match="does not fit beside the query, which leaves 3"):
        mem_recall([4] * 3, 3, judge)
    with pytest.raises(BadInput, match="1 or more blocks after every rehearsal"):
        mem_recall([4] * 3, 8, judge, (0,))
    with pytest.raises(BadInput, match="expected down below up"):
        revise(0, 0.1, up=0.05, down=0.2)


def test_bm25_starts_with_the_blocks_that_name_the_query() -> None:
    texts = ["the cat sat", "skiing in the snow", "dogs and cats", "雪山滑雪", "a skiing and skiing and skiing day"]
    assert first_relevance("skiing snow", texts) == [0, 1, 0, 0, 0]
    assert first_relevance("滑雪", texts) == [0, 0, 0, 1, 0]
    assert first_relevance("chess", texts) == [0] * 5 and first_relevance("x", []) == []


@pytest.mark.parametrize(
    ("relevance", "change", "expected"),
    [(0, 0.3, 1), (2, 9.0, 2), (1, 0.1, 1), (1, 0.0, 0), (0, -1.0, -1), (-1, 0.0, -1), (0, 0.05, -1), (0, 0.2, 1)],
)
def test_interventions_raise_needed_blocks_and_lower_useless_ones(relevance: int, change: float, expected: int) -> None:
    assert revise(relevance, change) == expected
    if change == 0.0:  # with the threshold of public code a useless block stays
        assert revise(1, change, down=-0.05) == 1


def test_an_excerpt_is_undone(tokenizer: Tokenizer) -> None:
    texts = [
        "Anna was born in Rome. She skis. 谷爱凌出生于旧金山。她来了。 Nobody spoke.",
        "Rome is old. It is in Italy.",
    ]
    blocks = cut_blocks(texts, tokenizer, 8)
    assert len(blocks) > 5
    for size in (1, 2, 3):
        for kept in itertools.combinations(range(len(blocks)), size):
            made = excerpt(texts, blocks, kept)
            for part in made.parts:
                here = made.text[part.at : part.at + part.span.end - part.span.start]
                assert here == texts[part.document][part.span.start : part.span.end]
            for number in kept:
                block = blocks[number]
                found = made.find(block.document, block.span)
                assert found is not None and made.locate(*found) == (block.document, block.span)
    apart = excerpt(texts, blocks, (0, 2))
    assert apart.locate(0, len(apart.text)) is None and apart.find(0, blocks[1].span) is None
    together = excerpt(texts, blocks, (0, 1))
    assert together.locate(0, len(together.text)) == (0, Span(blocks[0].span.start, blocks[1].span.end))
