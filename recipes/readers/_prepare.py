"""What the recipes of readers share: parts by context, misleading passages, files of questions."""

import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from factpin.documents import Document, Question
from factpin.formats.questions import read, write
from factpin.memory import bm25
from factpin.memory.terms import query_terms, terms

DATA = Path("../shared/data")
DEV = 25  # one context of so many is dev
TAUGHT_BESIDE, JUDGED_BESIDE = 2, 4  # passages without the answer, put beside the right one
TAUGHT_EVERY, JUDGED_EVERY = 2, 1  # of so many questions, one has passages beside


def read_set(path: Path, source: str) -> list[Question]:
    """The questions of a file, with ids that no other set has."""
    return [replace(q, id=f"{source}/{q.id}", meta={"source": source}) for q in read(path)]


def slot(text: str, slots: int) -> int:
    """A number from 0 to slots - 1 that depends on the text alone."""
    return zlib.crc32(text.encode()) % slots


def without_contexts(questions: Iterable[Question], seen: Iterable[Question]) -> list[Question]:
    """The questions none of whose contexts is one of those seen."""
    known = {doc.text.strip() for question in seen for doc in question.context}
    return [q for q in questions if not any(doc.text.strip() in known for doc in q.context)]


def without_questions(questions: Iterable[Question], seen: Iterable[Question]) -> list[Question]:
    """The questions that are not among those seen, whatever their capitals and punctuation."""
    known = {tuple(terms(question.text)) for question in seen}
    return [question for question in questions if tuple(terms(question.text)) not in known]


def split(questions: Iterable[Question]) -> tuple[list[Question], list[Question]]:
    """(train, dev) by context; a question of train whose contexts dev has is left out."""
    train, dev = [], []
    for question in questions:
        (dev if slot(question.context[0].text, DEV) == 0 else train).append(question)
    return without_contexts(train, dev), dev


class Pool:
    """Passages found by the words of a question."""

    def __init__(self, questions: Iterable[Question]) -> None:
        self.documents = list({doc.id: doc for question in questions for doc in question.context}.values())
        counts = [Counter(terms(doc.text)) for doc in self.documents]
        lengths = np.array([count.total() for count in counts], np.float64)
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, count in enumerate(counts):
            for term, times in count.items():
                postings[term].append((number, times))
        shape = bm25.K1 * (1 - bm25.B + bm25.B * lengths / lengths.mean())  # (documents,)
        self.scores: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # term -> documents, what it adds to each
        for term, rows in postings.items():
            where, times = np.array(rows).T
            weight = bm25.idf(len(counts), len(rows))
            self.scores[term] = where, weight * times * (bm25.K1 + 1) / (times + shape[where])

    def beside(self, question: Question, many: int, chance: random.Random) -> list[Document]:
        """Passages near a question that do not hold its answer: some of the nearest, by chance."""
        total = np.zeros(len(self.documents))
        for term in query_terms(question.text):
            if term in self.scores:
                where, score = self.scores[term]
                total[where] += score
        own = {doc.id for doc in question.context}
        answers = [answer.casefold() for answer in question.answers]
        near = [self.documents[i] for i in np.argsort(-total)[: 4 * many + 8]]
        fit = [d for d in near if d.id not in own and not any(answer in d.text.casefold() for answer in answers)]
        return chance.sample(fit[: 2 * many], min(many, len(fit)))


def put_beside(questions: Sequence[Question], many: int, every: int, seed: int = 1) -> list[Question]:
    """Of the questions with one context and an answer, every so manieth gets `many` passages that do not answer it."""
    pool, found = Pool(questions), []
    for question in questions:
        if len(question.context) == 1 and question.answerable and slot(question.id, every) == 0:
            more = pool.beside(question, many, random.Random(f"{seed} {question.id}"))
            question = replace(question, context=(*question.context, *more))
        found.append(question)
    return found


def write_parts(train: Sequence[Question], dev: Sequence[Question], output: Path) -> None:
    """train.jsonl.xz and dev.jsonl.xz, and what is in them on standard output."""
    output.mkdir(parents=True, exist_ok=True)
    parts = (("train", train, TAUGHT_BESIDE, TAUGHT_EVERY), ("dev", dev, JUDGED_BESIDE, JUDGED_EVERY))
    for name, part, many, every in parts:
        questions = put_beside(part, many, every)
        write(questions, output / f"{name}.jsonl.xz")
        counts = Counter(q.meta["source"] for q in questions)
        nothing = sum(not q.answerable for q in questions)
        print(f"{name}: {len(questions):,} questions ({nothing:,} without an answer)",
              ", ".join(f"{source} {count:,}" for source, count in counts.most_common()))  # fmt: skip


def shorter(questions: Iterable[Question], most: int) -> list[Question]:
    """Questions with an answer of at most so many characters, or with none."""
    return [q for q in questions if not q.answerable or (q.answers and min(map(len, q.answers)) <= most)]


def some(questions: Sequence[Question], most: int, seed: int = 1) -> list[Question]:
    """So many of them, by chance, in their order."""
    chosen = sorted(random.Random(seed).sample(range(len(questions)), min(most, len(questions))))
    return [questions[i] for i in chosen]
