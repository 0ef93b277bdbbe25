"""Events through the pipeline: each has the status that its sentence gives it, and keeps it in a file."""

from pathlib import Path

from factpin.documents import Document, Span
from factpin.formats import read, write
from factpin.language.sentences import split_sentences
from factpin.models.settings import Settings
from factpin.tasks.events.finder import EventFinder
from factpin.tasks.links import Links
from factpin.tokens.reading import WindowReader
from tests.tokens.families import characters

TEXT = "蓝天科技没有裁员。如果京海集团收购北方药业，将裁员300人。据报道，东海银行昨日宣布裁员1200人。东海银行已裁员。"
HEAD = {"triggers": ["裁员", "收购"], "roles": [["收购", "收购方"]]}


def found_at(text: str, word: str, label: int, nth: int = 0) -> tuple[int, int, int]:
    """The cell of a word; a piece is a character."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(word, at + 1)
    return label, at, at + len(word) - 1


def annotated(language: str | None) -> Document:
    doc = Document("d", TEXT, language, tuple(Span(*s) for s in split_sentences(TEXT)))
    reading = WindowReader(characters(), 200, 0).read(doc)
    fired = [found_at(TEXT, "裁员", 0, n) for n in range(4)]
    bought, buyer = found_at(TEXT, "收购", 1), found_at(TEXT, "京海集团", 2)
    cells = Links.of(dict.fromkeys([*fired, bought, buyer], 3.0), {(0, bought, buyer): 3.0})
    settings = Settings("events", (), "event_linker", HEAD, "")
    return EventFinder.prepare(settings, characters()).annotate(reading, cells)


def test_an_event_has_the_status_of_its_trigger_and_the_cue(tmp_path: Path) -> None:
    doc = annotated("zh")
    told = [(e.type, e.assertion, e.cue and TEXT[slice(*e.cue)]) for e in doc.events]
    assert told == [
        ("裁员", "negated", "没有"),
        ("收购", "conditional", "如果"),
        ("裁员", "conditional", "如果"),
        ("裁员", "reported", "据报道"),
        ("裁员", "asserted", None),
    ]
    write([doc], tmp_path / "x.jsonl")
    assert list(read(tmp_path / "x.jsonl")) == [doc]


def test_events_of_a_language_without_cues_are_left_open() -> None:
    assert {event.assertion for event in annotated("de").events} == {None}
