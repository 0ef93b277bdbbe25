"""What both prepare scripts share: tagged tokens to text, labels to types, annotated types, files and counts."""

import random
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from _detokenise import detokenise

from factpin import files
from factpin.documents import Document, Mention, Span
from factpin.formats import write

TABLES = Path(__file__).with_name("entity_types.toml")
DATA = Path("../shared/data")

# ---- sentences ------------------------------------------------------------------------------------------------------


class Labelled(NamedTuple):
    """A span with a label of its corpus: of tokens or of characters, end not included."""

    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Sentence:
    """A text with labelled characters."""

    text: str
    spans: tuple[Labelled, ...] = ()


def decode_tags(tags: Sequence[str]) -> list[Labelled]:
    """The spans of BIO or IO tags; an inside tag that continues nothing begins a span."""
    spans: list[Labelled] = []
    label, first = "", 0
    for i, tag in enumerate([*tags, "O"]):
        prefix, _, name = tag.partition("-")
        if prefix == "I" and name == label:
            continue
        if label:
            spans.append(Labelled(first, i, label))
        label, first = (name if prefix in ("B", "I") else ""), i
    return spans


def from_tokens(tokens: Sequence[str], spans: Iterable[Labelled], hyphens: bool = False) -> Sentence:
    """English tokens as running text; `hyphens` says that the corpus parts words at hyphens."""
    text, borders = detokenise(tokens, hyphens)
    return Sentence(text, in_characters(spans, borders))


def from_text(text: str, tokens: Sequence[str], spans: Iterable[Labelled]) -> Sentence:
    """Tokens found again, one after the other, in the text that they come from."""
    borders: list[tuple[int, int]] = []
    at = 0
    for token in tokens:
        start = text.index(token, at)
        at = start + len(token)
        borders.append((start, at))
    return Sentence(text, in_characters(spans, borders))


def in_characters(spans: Iterable[Labelled], borders: Sequence[tuple[int, int]]) -> tuple[Labelled, ...]:
    """Spans of tokens as spans of characters; those that lost all their characters are left out."""
    found = [Labelled(borders[s.start][0], borders[s.end - 1][1], s.label) for s in spans]
    return tuple(span for span in found if span.start < span.end)


def merge(sentences: Sequence[Sentence]) -> tuple[Sentence, tuple[Span, ...]]:
    """Sentences as one text with a blank between them, and where each of them is."""
    text = ""
    spans: list[Labelled] = []
    borders = []
    for sentence in sentences:
        start = len(text) + bool(text)
        spans += [Labelled(s.start + start, s.end + start, s.label) for s in sentence.spans]
        text = f"{text} {sentence.text}" if text else sentence.text
        borders.append(Span(start, len(text)))
    return Sentence(text, tuple(spans)), tuple(borders)


def grouped(sentences: Sequence[Sentence], rng: random.Random, most: int = 450) -> Iterator[list[Sentence]]:
    """Sentences of one document in order: three quarters of the groups are single, the others have two to four."""
    at = 0
    while at < len(sentences):
        wanted = 1 if rng.random() < 0.75 else rng.randint(2, 4)
        group = [sentences[at]]
        while len(group) < wanted and at + len(group) < len(sentences):
            following = sentences[at + len(group)]
            if sum(len(s.text) + 1 for s in group) + len(following.text) > most:
                break
            group.append(following)
        yield group
        at += len(group)


DETACHED = re.compile(r"(?<=\w) (?=(?:n['’]t|['’](?:s|re|ve|ll|m|d))\b)")  # "do n't" in drafts


def read_uner(path: Path) -> Iterator[tuple[str, list[Sentence]]]:
    """UNER, document by document: the comment `# text` has the text, columns two and three have tokens and tags."""
    name, sentences = "", list[Sentence]()
    for block in files.read_text(path).split("\n\n"):
        lines = block.strip("\n").split("\n")
        comments = dict(line[2:].split(" = ", 1) for line in lines if line.startswith("# ") and " = " in line)
        rows = [line.split("\t") for line in lines if line[:1].isdigit()]
        if "newdoc id" in comments:
            if sentences:
                yield name, sentences
            name, sentences = comments["newdoc id"], []
        if rows:
            spans = [s for s in decode_tags([row[2] for row in rows]) if s.label != "O"]
            text = DETACHED.sub("", comments["text"])
            sentences.append(from_text(text, [row[1] for row in rows], spans))
    yield name, sentences


# ---- types ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Corpus:
    """How a corpus maps onto our types, and which of them it marks wherever they occur."""

    labels: Mapping[str, str]
    annotated: tuple[str, ...]
    country_is_location: bool = False

    def type_of(self, label: str, text: str) -> str:
        """Our type of a mention, or "" where it is left out."""
        kind = self.labels[label]
        if not any(map(str.isalnum, text)):
            return ""
        if kind in ("location", "organization") and is_demonym(text):
            return "other"
        if kind == "organization" and self.country_is_location and is_country(text):
            return "location"
        if kind == "other" and DAYS.fullmatch(text):
            return "date"
        return "" if kind == "other" and self.annotated and text == text.lower() else kind


@cache
def tables() -> dict[str, Any]:
    """The mapping tables."""
    return tomllib.loads(TABLES.read_text(encoding="utf-8"))


def types() -> list[str]:
    """Our types, in order."""
    return list(tables()["types"])


@cache
def corpora() -> dict[str, Corpus]:
    """Every corpus of the tables."""
    return {
        name: Corpus(table["labels"], tuple(table["annotated"]), table.get("country_is_location", False))
        for name, table in tables().items()
        if isinstance(table, dict) and "labels" in table
    }


@cache
def words(name: str) -> frozenset[str]:
    """A list of words of the tables."""
    return frozenset(tables()["words"][name].split())


def is_demonym(text: str) -> bool:
    """Whether a mention is a nationality, people or religion: Japanese, South Korean, Anglo-American."""
    parts = re.split(r"[ \-–]+", text)
    before = words("before_demonyms") | words("demonyms")
    return parts[-1] in words("demonyms") and all(part in before for part in parts[:-1])


def is_country(text: str) -> bool:
    """Whether a mention is the bare name of a country."""
    return any(text in words(name) for name in ("countries_en", "countries_zh", "short_countries_zh"))


# ---- what a text claims ---------------------------------------------------------------------------------------------

DAYS = re.compile(
    "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|April|June|July|August|September|October|November|"
    "December"
)

PERIOD = "(?:hour|day|night|week|month|year|decade|century|morning|evening|spring|summer|autumn|winter)"
RELATIVE_DATE = (
    "[Tt]oday|[Yy]esterday|[Tt]omorrow|[Tt]onight|"
    f"(?:[Ll]ast|[Nn]ext|[Tt]his|[Tt]hat|[Pp]ast|[Pp]revious|[Rr]ecent) {PERIOD}s?"
)
NUMBER_WORD = "(?:[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]ix|[Ss]even|[Ee]ight|[Nn]ine|[Tt]en)"
DURATION = (
    rf"(?:\d+|\d+(?:st|nd|rd|th)|{NUMBER_WORD}|[Aa]|[Oo]ne|[Ss]everal|[Ff]ew|[Mm]any) {PERIOD}s?|"
    "decades|centuries|(?:day|week|month|year)s ago"
)


@cache
def obvious(language: str) -> dict[str, re.Pattern[str]]:
    """Names that are beyond doubt, by type: where one is unmarked, the text does not claim the type."""
    if language == "zh":
        countries = "|".join(sorted(words("countries_zh"), key=len, reverse=True))
        return {
            "location": re.compile(f"(?:{countries})(?!家)|北京|上海|广州|深圳|杭州|南京|纽约|伦敦|巴黎|东京"),
            "date": re.compile(
                r"\d{4}年|\d月\d|\d[月日](?!元)|今年|去年|明年|昨天|今天|昨日|今日|当天|[上下]午|周[一二三四五六日]"
            ),
            "work": re.compile("《[^》\0]+》"),  # \0: where a mention is
            "title": re.compile("记者|总统|总理|主席|市长|局长|教练|总经理|董事长|导演|主任|院长"),
        }
    listed = {name: "|".join(sorted(words(name), key=len, reverse=True)) for name in ("countries_en", "demonyms")}
    return {
        "location": re.compile(rf"\b(?:{listed['countries_en']})\b"),
        "other": re.compile(rf"\b(?:{listed['demonyms']})\b"),
        "date": re.compile(rf"\b(?:{DAYS.pattern}|(?:1[5-9]|20)\d\ds?|{RELATIVE_DATE}|{DURATION})\b"),
        "number": re.compile(rf"\d|\b(?:{NUMBER_WORD}|[Hh]undreds?|[Tt]housands?|[Mm]illions?|[Bb]illions?|dozens?)\b"),
    }


def claimed(text: str, mentions: Sequence[Mention], types: Iterable[str], language: str) -> list[str]:
    """Those of the types of which no obvious name is outside every mention."""
    outside = text
    for m in mentions:
        outside = outside[: m.start] + "\0" * (m.end - m.start) + outside[m.end :]
    patterns = obvious(language)
    return [kind for kind in types if kind not in patterns or not patterns[kind].search(outside)]


def trimmed(sentence: Sentence) -> Iterator[Labelled]:
    """The spans without blanks and stray marks at their ends: #, @ before a name; comma, semicolon, colon behind it."""
    for span in sentence.spans:
        text = sentence.text[span.start : span.end]
        start = span.end - len(text.lstrip("#@ \t\n\u3000"))
        end = span.start + len(text.rstrip(",;:，；： \t\n\u3000"))
        if start < end:
            yield Labelled(start, end, span.label)


def make_document(
    id: str, sentence: Sentence, corpus: str, language: str, borders: tuple[Span, ...] = (), strictly: bool = True
) -> Document:
    """A sentence with our types and what it claims; `strictly` withdraws claims that the text itself refutes."""
    table = corpora()[corpus]
    text = sentence.text
    kept: list[Mention] = []
    end = 0
    for s in sorted(trimmed(sentence), key=lambda s: (s.start, -s.end)):
        kind = table.type_of(s.label, text[s.start : s.end])
        if kind and s.start >= end:  # of overlapping mentions the first and longest stays
            kept.append(Mention(f"m{len(kept)}", s.start, s.end, text[s.start : s.end], kind))
            end = s.end
    claims = list(table.annotated)
    if strictly:
        claims = claimed(text, kept, claims, language)
    meta = {"source": corpus, "annotated": {"mentions": claims}}
    return Document(id, text, language, borders or (Span(0, len(text)),), tuple(kept), meta=meta)


# ---- files ----------------------------------------------------------------------------------------------------------


def key(text: str) -> str:
    """What two texts share that differ in blanks, width or case only."""
    return "".join(unicodedata.normalize("NFKC", text).split()).lower()


def sentence_keys(doc: Document) -> set[str]:
    """The keys of all sentences of a document."""
    return {key(doc.text[start:end]) for start, end in doc.sentences}


def without_known(
    documents: Iterable[Document], known: set[str], dropped: Counter[str], why: str
) -> Iterator[Document]:
    """Documents that share no sentence with the known ones."""
    for doc in documents:
        if known.isdisjoint(sentence_keys(doc)):
            yield doc
        else:
            dropped[f"{doc.meta['source']}: {why}"] += 1


def without_copies(documents: Iterable[Document], dropped: Counter[str]) -> Iterator[Document]:
    """Every text once."""
    seen: set[str] = set()
    for doc in documents:
        if key(doc.text) in seen:
            dropped[f"{doc.meta['source']}: copy"] += 1
        else:
            seen.add(key(doc.text))
            yield doc


@dataclass(frozen=True)
class Parts:
    """The documents of a model: what it learns from, what chooses and calibrates, and its judges by name."""

    train: list[Document]
    dev: list[Document]
    calibration: list[Document]
    judges: dict[str, list[Document]]


def separate(parts: Parts) -> tuple[Parts, Counter[str]]:
    """The parts without shared sentences: judges keep all, then dev, then calibration, then train; and what went."""
    dropped: Counter[str] = Counter()
    known = {key for docs in parts.judges.values() for doc in docs for key in sentence_keys(doc)}
    dev = list(without_copies(without_known(parts.dev, known, dropped, "in a judge"), dropped))
    held = {key for doc in dev for key in sentence_keys(doc)}
    calibration = list(
        without_copies(without_known(parts.calibration, known | held, dropped, "in a judge or dev"), dropped)
    )
    held |= {key for doc in calibration for key in sentence_keys(doc)}
    train = without_known(parts.train, known, dropped, "in a judge")
    train = without_known(train, held, dropped, "in dev or calibration")
    return Parts(list(without_copies(train, dropped)), dev, calibration, parts.judges), dropped


def write_parts(parts: Parts, folder: Path) -> None:
    """train, dev, calibration and judges/NAME, each .jsonl.xz; ids are numbered within each source."""
    (folder / "judges").mkdir(parents=True, exist_ok=True)
    named = {"train": parts.train, "dev": parts.dev, "calibration": parts.calibration}
    named |= {f"judges/{name}": docs for name, docs in parts.judges.items()}
    for name, docs in named.items():
        write((replace(doc, id=f"{doc.meta['source']}-{i}") for i, doc in enumerate(docs)), folder / f"{name}.jsonl.xz")


def print_counts(parts: Parts, dropped: Counter[str]) -> None:
    """Texts, sentences and mentions of each type, by part and source, and the share of texts that claim each type."""
    columns = types()
    print(f"{'part':<12} {'source':<20} {'texts':>6} {'sents':>6} " + " ".join(f"{c[:12]:>14}" for c in columns))
    named = {"train": parts.train, "dev": parts.dev, "calibration": parts.calibration}
    for part, docs in {**named, **{f"judge {name}"[:12]: docs for name, docs in parts.judges.items()}}.items():
        for source in dict.fromkeys(doc.meta["source"] for doc in docs):
            here = [doc for doc in docs if doc.meta["source"] == source]
            found = Counter(m.type for doc in here for m in doc.mentions)
            claims = Counter(kind for doc in here for kind in doc.meta["annotated"]["mentions"])
            cells = [f"{found[c]} ({100 * claims[c] // len(here)} %)" for c in columns]
            sentences = sum(len(doc.sentences) for doc in here)
            print(f"{part:<12} {source:<20} {len(here):>6} {sentences:>6} " + " ".join(f"{cell:>14}" for cell in cells))
    print("dropped: " + (", ".join(f"{why} {count}" for why, count in sorted(dropped.items())) or "nothing"))
