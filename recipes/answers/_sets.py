"""The sets of questions that judge answers, and stores filled with their passages."""

import lzma
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from factpin.documents import Document, Question
from factpin.formats.questions import read
from factpin.memory import Source, Store, open_store

DATA = Path("../shared/data")
SETS = {
    "hotpotqa": ("hotpotqa/distractor_dev.jsonl.xz", "en"),
    "hotpotqa-train": ("hotpotqa/distractor_train.jsonl.xz", "en"),
    "2wiki": ("2wikimultihop/2wiki_dev.jsonl.xz", "en"),
    "2wiki-train": ("2wikimultihop/2wiki_train.jsonl.xz", "en"),
    "musique": ("musique/musique_dev.jsonl.xz", "en"),
    "nq": ("nq_open/nq-open-oracle.jsonl.xz", "en"),
    "xquad-en": ("xquad/xquad.en.json.xz", "en"),
    "xquad-zh": ("xquad/xquad.zh.json.xz", "zh"),
    "cmrc2018": ("cmrc2018/cmrc2018_dev.json.xz", "zh"),
    "drcd": ("drcd/DRCD_dev.json.xz", "zh"),
    "xquad-zh-en": ("xquad/xquad.en.json.xz", "en"),
    "xquad-en-zh": ("xquad/xquad.zh.json.xz", "zh"),
}
CROSSED = {"xquad-zh-en": "xquad-zh", "xquad-en-zh": "xquad-en"}  # sets of passages, asked by the questions of others
SHORTEST = 200  # characters of a line of Wikipedia that is a passage


def questions_of(name: str, most: int | None, data: Path = DATA) -> list[Question]:
    """The first questions of a set; those of a crossed set are in the other language than its passages."""
    found = list(islice(read(data / SETS[name][0]), most))
    if name in CROSSED:
        texts = {question.id: question.text for question in questions_of(CROSSED[name], None, data)}
        found = [replace(question, text=texts[question.id]) for question in found]
    return found


def spread(questions: Sequence[Question], most: int) -> list[Question]:
    """So many questions at equal distances: neighbours often share their passage."""
    many = min(most, len(questions))
    return [questions[i * len(questions) // many] for i in range(many)]


def wikipedia(language: str, many: int, data: Path = DATA) -> list[Document]:
    """Lines of Wikipedia, as passages that answer nothing."""
    with lzma.open(data / f"wiki_{language}" / f"wiki_{language}.txt.xz", "rt", encoding="utf-8") as stream:
        lines = (line.strip() for line in stream)
        long = islice((line for line in lines if len(line) >= SHORTEST), many)
        return [Document(f"wikipedia/{number}", line) for number, line in enumerate(long)]


def fill(documents: Iterable[Document]) -> Store:
    """A store of documents by their ids; titles are those of their sets."""
    store = open_store("memory:", create=True)
    with store.together():
        for doc in {doc.id: doc for doc in documents}.values():
            store.put(doc, Source(doc.id, str(doc.meta.get("title", ""))))
    return store


def contexts(questions: Sequence[Question]) -> list[Document]:
    """The passages of questions."""
    return [doc for question in questions for doc in question.context]
