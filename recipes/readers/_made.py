"""Questions made from facts by templates (templates.toml), with exact spans, and such that a passage does not answer.

A passage with facts gives questions that it answers; for some of them also the same question about a subject of another
passage, and a question about its own subject that it says nothing of.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import orjson

from factpin.documents import Document, Question, Span
from factpin.files import lines, read_text

ANSWERED, STRANGE, MISSING = 2, 0.35, 0.25  # questions a passage; shares of questions that get one without an answer
SHORTEST, LONGEST = 2, 40  # characters of a subject and of an object
PRONOUN = re.compile(r"(?i)(i|he|she|it|we|they|his|her|its|their|him|them|who|the company|the firm|the group)$")


@dataclass(frozen=True)
class Facts:
    """A passage with its facts: (subject, relation) -> spans of the objects. `silent` relations have none here."""

    text: str
    answers: dict[tuple[str, str], tuple[Span, ...]]
    silent: tuple[str, ...] = ()


def read_templates(kind: str) -> dict[str, dict[str, list[str]]]:
    """Relation -> asks and hints."""
    found: dict[str, dict[str, list[str]]] = tomllib.loads(read_text(Path(__file__).parent / "templates.toml"))[kind]
    return found


def _records(path: Path) -> Iterator[Any]:
    for _, line in lines(path):
        if line.strip():
            yield orjson.loads(line)


def read_duie(path: Path) -> Iterator[Facts]:
    """DuIE: an object is wherever its text is."""
    for row in _records(path):
        yield _pinned(row["text"], [(s["subject"], s["predicate"], s["object"]["@value"]) for s in row["spo_list"]])


def read_news(path: Path) -> Iterator[Facts]:
    """Triples of Chinese news."""
    for row in _records(path):
        yield _pinned(row["text"], [(s["subject"], s["relation"], s["object"]) for s in row["sro_list"]])


def _pinned(text: str, facts: Iterable[tuple[str, str, str]]) -> Facts:
    found: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for subject, relation, answer in facts:
        if subject in text and subject != answer:
            found[subject, relation] += [Span(m.start(), m.end()) for m in re.finditer(re.escape(answer), text)]
    return Facts(text, {key: tuple(dict.fromkeys(spans)) for key, spans in found.items() if spans})


def read_knowledgenet(path: Path, folds: Sequence[int]) -> Iterator[Facts]:
    """KnowledgeNet: facts between names; a property that was asked about and has no fact is silent."""
    for row in _records(path):
        text, found = row["text"], defaultdict(list)
        for fact in row["facts"]:
            subject, answer = (text[slice(*fact[key])].strip() for key in ("subject", "object"))
            if not PRONOUN.match(subject) and not PRONOUN.match(answer) and subject[:1].isupper():
                start = text.index(answer, fact["object"][0])
                found[subject, fact["predicate"]].append(Span(start, start + len(answer)))
        if row["fold"] in folds:
            pinned = {key: tuple(dict.fromkeys(spans)) for key, spans in found.items()}
            yield Facts(text, pinned, tuple(row["annotated_without_fact"]))


def make_questions(passages: Sequence[Facts], kind: str, source: str, language: str, seed: int = 1) -> list[Question]:
    """Questions of all passages that have a fact with a template."""
    templates, found = read_templates(kind), []
    subjects: dict[str, list[str]] = defaultdict(list)  # relation -> all its subjects
    for passage in passages:
        for subject, relation in passage.answers:
            subjects[relation].append(subject)
    for number, passage in enumerate(passages):
        chance = Random(f"{seed} {source} {number}")
        doc = Document(f"{source}-{number}", passage.text, language=language)
        fit = [key for key in passage.answers if key[1] in templates and SHORTEST <= len(key[0]) <= LONGEST]
        for subject, relation in chance.sample(fit, min(ANSWERED, len(fit))):
            asks = templates[relation]["asks"]
            name = f"{source}/{number}-{subject}-{relation}"
            spans = passage.answers[subject, relation]
            found.append(_question(name, chance.choice(asks), subject, doc, spans))
            other = chance.choice(subjects[relation])
            if chance.random() < STRANGE and not _overlaps(other, passage.text):
                found.append(_question(f"{name}-strange", chance.choice(asks), other, doc))
            missing = [r for r in templates if _silent(passage, subject, r, relation, templates, subjects)]
            if missing and chance.random() < MISSING:
                silent = chance.choice(missing)
                found.append(_question(f"{name}-missing", chance.choice(templates[silent]["asks"]), subject, doc))
    return found


def _question(name: str, ask: str, subject: str, doc: Document, spans: tuple[Span, ...] = ()) -> Question:
    text = ask.replace("{}", subject).replace("《《", "《").replace("》》", "》")
    answers = tuple(dict.fromkeys(doc.text[start:end] for start, end in spans))
    placed = tuple((0, span) for span in spans)
    meta = {"source": name.split("/", maxsplit=1)[0]}
    return Question(name, text, doc.language, answers, "", bool(spans), (doc,), placed, meta=meta)


def _silent(
    passage: Facts, subject: str, relation: str, like: str, templates: dict[str, dict[str, list[str]]],
    subjects: dict[str, list[str]],
) -> bool:  # fmt: skip
    """Whether a passage says nothing of this relation of a subject, which might have it."""
    if relation in {r for _, r in passage.answers}:
        return False
    if passage.silent or "hints" not in templates[relation]:
        return relation in passage.silent and subject in set(subjects[relation]) | set(subjects[like])
    hints = templates[relation]["hints"]
    return bool(hints) and not any(hint in passage.text for hint in hints) and _alike(relation, like)


def _alike(one: str, two: str) -> bool:
    """Whether two relations of DuIE have subjects of one kind."""
    return any(one in group and two in group for group in ALIKE)


def _overlaps(name: str, text: str) -> bool:
    """Whether a name, or a word of it, is in a text."""
    return name in text or any(part in text for part in re.split(r"[\s·]+", name) if len(part) > 1)


ALIKE = (  # relations of DuIE by the kind of their subjects
    {"父亲", "母亲", "妻子", "丈夫", "国籍", "毕业院校", "朝代", "祖籍", "号"},
    {"主演", "导演", "编剧", "出品公司", "上映时间", "主题曲", "制片人", "票房", "改编自"},
    {"作者", "主角"},
    {"歌手", "作词", "作曲", "所属专辑"},
    {"成立日期", "董事长", "总部地点", "创始人", "注册资本", "简称", "占地面积"},
    {"嘉宾", "主持人"},
    {"面积", "气候", "人口数量"},
)
