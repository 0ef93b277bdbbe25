"""Fuzzed texts through the shipped models: no text changed, every mention its slice, read and unread add up."""

import random

import orjson
import pytest

import factpin
from factpin.documents import Coverage, Document, from_json, to_json
from factpin.extraction.pipeline import Pipeline
from tests.formats.test_mutations import at_most

SENTENCES = [
    "谷爱凌出生于旧金山，毕业于斯坦福大学。",
    "电影《活着》由张艺谋执导，葛优、巩俐主演，于1994年上映。",
    "小明没有去北京。",
    "Anna Weber was born in Berlin on 3 May 1970, and works for Siemens AG.",
    "He denied that the company, based in Rome, had ever paid $5 million.",
    "Привет, мир. مرحبا بالعالم. こんにちは世界。",
]
ODD = [
    *("\x00", "\x01", "\x1b[31m", "\x7f", "\x85", "\u00ad", "\u200b", "\u200d", "\u202e", "\u2028", "\u2066", "\ufeff"),
    *(
        "\ufffd",
        "\ufffe",
        "\uffff",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U000e0001",
        "\U0010ffff",
        "e\u0301",
    ),
    *("\u0301" * 50, "ﷺ", "㍿", "İ", "ß", "ﬁ", "𠮷", "１２３", "a" * 600, "中" * 600, "1" * 300, "(" * 200, "\n" * 40),
    *("\r\n", "\t", "\u3000", "[MASK]", "[SEP]", "[CLS]", "[UNK]", "</s>", "##ing", "%s%n", "{}", "<script>", "&amp;"),
    *(" " * 300, "。" * 200, "。。。!!!???", "《" * 30, "http://x.y/?a=b#c", "a@b.c", "𝔄𝔫𝔫𝔞", "ａｎｎａ", "١٢٣"),
]


def fuzzed(number: int) -> str:
    """A text of sentences, odd characters and random code points."""
    chance = random.Random(number)
    parts = []
    for _ in range(chance.randrange(1, 6)):
        kind = chance.randrange(6)
        if kind < 3:
            parts.append(chance.choice(SENTENCES))
        elif kind < 5:
            parts.append(chance.choice(ODD))
        else:
            parts.append("".join(_code_point(chance) for _ in range(chance.randrange(1, 30))))
    text = chance.choice(["", " ", "\n"]).join(parts)
    for _ in range(chance.randrange(4)):  # inside words too
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(ODD) + text[at:]
    return text


def _code_point(chance: random.Random) -> str:
    while True:
        number = chance.randrange(chance.choice([0x80, 0x3000, 0xA000, 0x110000]))
        if not 0xD800 <= number <= 0xDFFF:
            return chr(number)


def unaccounted(doc: Document) -> list[int]:
    """Characters that are neither read nor unread, or both; white space between sentences may be neither."""
    coverage = doc.coverage or Coverage()
    read, unread = [False] * len(doc.text), [False] * len(doc.text)
    for marks, spans in ((read, coverage.read), (unread, coverage.unread)):
        for part in spans:
            assert 0 <= part.start < part.end <= len(doc.text)
            marks[part.start : part.end] = [True] * (part.end - part.start)
    return [i for i, c in enumerate(doc.text) if read[i] == unread[i] and (read[i] or not c.isspace())]


def check(model: Pipeline, numbers: range) -> tuple[int, int]:
    """Extract from the texts of these numbers; gives how many mentions and facts there were."""
    mentions = facts = 0
    for first in numbers[::100]:
        texts = [fuzzed(number) for number in range(first, min(first + 100, numbers.stop))]
        with at_most(300):
            documents = model.extract(texts, 0.0)
        assert [doc.text for doc in documents] == texts
        for number, doc in enumerate(documents, first):
            assert all(doc.text[m.start : m.end] == m.text and m.text.strip() for m in doc.mentions), number
            known, entities = {m.id for m in doc.mentions}, {e.id for e in doc.entities}
            for fact in doc.facts:
                assert fact.head in entities and fact.tail in entities, number
                assert all(0 <= e.sentence < len(doc.sentences) for e in fact.evidence), number
            assert all(id in known for e in doc.entities for id in e.mentions), number
            assert all(s.start < s.end <= len(doc.text) for s in doc.sentences), number
            assert unaccounted(doc) == [], number
            assert from_json(orjson.loads(orjson.dumps(to_json(doc)))) == doc, number
            mentions, facts = mentions + len(doc.mentions), facts + len(doc.facts)
    return mentions, facts


def test_five_hundred_texts(limited: None) -> None:
    mentions, facts = check(factpin.load(), range(500))
    assert mentions > 500 and facts > 50, (mentions, facts)


@pytest.mark.verify
@pytest.mark.timeout(7200)
def test_five_thousand_texts(limited: None) -> None:
    mentions, facts = check(factpin.load(), range(500, 5500))
    print(f"5,000 texts: {mentions} mentions, {facts} facts")
    assert mentions > 5000 and facts > 500, (mentions, facts)
