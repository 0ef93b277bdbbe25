"""Where Chinese words begin and end, by how often words occur."""

import itertools
from math import log

import pytest

from factpin.language import borders_zh
from factpin.language.borders_zh import LONGEST, borders, cut_words


def words(text: str) -> str:
    return "|".join(text[a:b] for a, b in itertools.pairwise(sorted(borders(text))))


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("议员呼吁国防部长", "议员|呼吁|国防部长"),
        ("張學良轉任", "張學良|轉任"),
        ("研究生命起源", "研究|生命|起源"),
        ("南京市长江大桥", "南京市|长江大桥"),
        ("abc", "a|b|c"),
        ("", ""),
    ],
)
def test_likely_words(text: str, cut: str) -> None:
    assert words(text) == cut


def test_no_other_cut_is_likelier() -> None:
    likely = borders_zh._likely()

    def score(parts: list[str]) -> float:
        return sum(likely.get(part, likely[""] if len(part) == 1 else -1e9) for part in parts)

    for text in ("研究生命起源", "日本官方统计", "他说的确实在理", "結婚的和尚未結婚的"):
        found = sorted(borders(text))
        own = score([text[a:b] for a, b in itertools.pairwise(found)])
        inner = range(1, len(text))
        for size in range(len(text)):
            for places in itertools.combinations(inner, size):
                every = (0, *places, len(text))
                parts = [text[a:b] for a, b in itertools.pairwise(every)]
                if all(len(part) <= LONGEST for part in parts):
                    assert score(parts) <= own + 1e-9


def test_frequencies_are_those_of_one_text() -> None:
    likely = borders_zh._likely()
    assert likely["的"] > likely["研究"] > likely[""] < log(1e-5)
    assert all(len(word) <= LONGEST for word in likely)


def test_a_part_is_cut_wherever_it_lies() -> None:
    text = "一" * 50 + "，日本官方缩小的统计数字。" + "一" * 50
    start = text.index("方缩小")
    assert cut_words(text, start, start + 3) == [start]
    assert not cut_words(text, text.index("日本"), text.index("日本") + 2)
    assert not cut_words("张", 0, 1)
