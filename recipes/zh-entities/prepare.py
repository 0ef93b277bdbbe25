"""The texts of zh-entities: seven corpora with our types, cut into sentences, and four judges.

    python recipes/zh-entities/prepare.py --output runs/data/zh-entities

Writes train, dev, calibration and judges/NAME (.jsonl.xz). The mapping tables are in recipes/entity_types.toml.
Training texts are widened: full dates are marked in all of them, and a text in which nothing looks like the end of a
job title (or a date) is one without job titles (or dates), whatever its corpus annotates.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from _prepare import (
    DATA,
    Labelled,
    Parts,
    Sentence,
    corpora,
    key,
    make_document,
    print_counts,
    read_uner,
    separate,
    write_parts,
)

from factpin import files
from factpin.documents import Document, Mention
from factpin.formats import Options, read
from factpin.language.sentences import split_sentences

INLINE = re.compile(r"\{\{(\w+):\s*(.*?)\s*\}\}")
WIDE = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
LONGEST = 200  # characters; a longer "sentence" is a list or a table
UNNAMED = 1000  # transcripts without a name that are kept
DUIE = 8000  # sentences of DuIE
WIKI = 4000  # sentences of Wikipedia
COMMON = 0.01  # of the mentions of a type end with a character that is typical of its end
# A full date; not where words follow that belong to it (年初, 日上午) or to something else (2010年代, 2012年度).
DATE = re.compile(
    r"(?<![\d-])(?:1\d|20)\d\d年(?:\d{1,2}月(?:\d{1,2}日)?)?"
    r"(?![\d代度初末底中春夏秋冬间前后版款级至到-]|[上下中]午|[上下]半|晚|凌晨|清晨|早|傍|[－—~～])"
)
BOOK = re.compile("《([^《》]+)》")


# ---- sources --------------------------------------------------------------------------------------------------------


def read_corpus(path: Path, format: str) -> Iterator[Sentence]:
    """A corpus of a known format, one text a record."""
    for doc in read(path, format=format):
        yield Sentence(doc.text, tuple(Labelled(m.start, m.end, m.type) for m in doc.mentions))


def read_boson(path: Path) -> Iterator[list[Sentence]]:
    """Documents with entities inline, cut into sentences; those with a brace that nothing closes are left out."""
    for _, line in files.lines(path):
        text, spans, at = "", list[Labelled](), 0
        for match in INLINE.finditer(line):
            text += line[at : match.start()]
            spans.append(Labelled(len(text), len(text) + len(match[2]), match[1]))
            text += match[2]
            at = match.end()
        text += line[at:]
        if not re.search(r"\{\{|\}\}", text):
            yield cut_sentences(text.replace("\\n", "\n\n"), spans)


def cut_sentences(text: str, spans: list[Labelled]) -> list[Sentence]:
    """The sentences of a text; mentions that cross a border are left out."""
    found = []
    for start, end in split_sentences(text):
        inside = [Labelled(s.start - start, s.end - start, s.label) for s in spans if start <= s.start < s.end <= end]
        found.append(Sentence(text[start:end], tuple(inside)))
    return found


def read_duie(folder: Path) -> Iterator[Sentence]:
    """The arguments of facts; no sentence that the judge of facts has."""
    judge = {key(doc.text) for doc in read(folder / "duie2_dev.json.xz", format="duie")}
    known = corpora()["duie"].labels
    for part in "ab":
        path = folder / f"duie2_train_{part}.json.xz"
        for doc in read(path, format="duie", options=Options(occurrences="nearest")):
            spans = tuple(Labelled(m.start, m.end, m.type) for m in doc.mentions if m.type in known)
            if key(doc.text) not in judge and len(doc.text) <= LONGEST:
                yield Sentence(doc.text, spans)


def read_wiki(path: Path, rng: random.Random) -> Iterator[Sentence]:
    """Sentences of Wikipedia, the same number with and without a title in 《》, which is marked."""
    lines = [line for _, line in files.lines(path) if len(line) > 30]
    counts = Counter[bool]()
    for line in rng.sample(lines, len(lines)):
        start, end = rng.choice(split_sentences(line))
        text = line[start:end].strip()
        titled = BOOK.search(text) is not None
        if 12 <= len(text) <= LONGEST and counts[titled] < WIKI // 2:
            counts[titled] += 1
            yield Sentence(text, tuple(Labelled(*match.span(1), "title") for match in BOOK.finditer(text)))


# ---- parts ----------------------------------------------------------------------------------------------------------


def boson_document(sentence: Sentence) -> Document:
    """Products in 《》 are works. Others may be: with one of them in it, a text does not claim `work`."""
    works = [s for s in sentence.spans if s.label != "product_name" or sentence.text[s.start] == "《"]
    doc = make_document("", bare(Sentence(sentence.text, tuple(works))), "boson_ner", "zh")
    if len(works) == len(sentence.spans):
        return doc
    claims = [kind for kind in doc.meta["annotated"]["mentions"] if kind != "work"]
    return replace(doc, meta={**doc.meta, "annotated": {"mentions": claims}})


def bare(sentence: Sentence) -> Sentence:
    """The sentence with mentions that leave out the 《》 around them."""

    def inner(span: Labelled) -> Labelled:
        inside = sentence.text[span.start : span.end]
        framed = BOOK.fullmatch(inside)
        return span._replace(start=span.start + 1, end=span.end - 1) if framed else span

    return replace(sentence, spans=tuple(map(inner, sentence.spans)))


def endings(documents: Iterable[Document], kind: str) -> re.Pattern[str]:
    """Finds what may be the end of a mention of a type: a common last character, or any last two characters."""
    names = [m.text for doc in documents for m in doc.mentions if m.type == kind]
    counts = Counter(name[-1] for name in names)
    common = {character for character, count in counts.items() if count >= COMMON * len(names)}
    return re.compile("|".join(map(re.escape, sorted(common | {name[-2:] for name in names}, key=len))))


def widened(documents: list[Document]) -> list[Document]:
    """Training documents with full dates marked, and with claims to have no further date or job title."""
    ends = {kind: endings(documents, kind) for kind in ("date", "title")}
    return [with_claims(with_dates(doc), ends) for doc in documents]


def with_dates(doc: Document) -> Document:
    """The document with its full dates; where dates are annotated, as it is."""
    if doc.meta["source"] == "boson_ner":
        return doc
    spans = [match.span() for match in DATE.finditer(doc.text)]
    free = [(s, e) for s, e in spans if not any(m.start < e and s < m.end for m in doc.mentions)]
    dates = [Mention(f"d{n}", s, e, doc.text[s:e], "date") for n, (s, e) in enumerate(free)]
    return replace(doc, mentions=(*doc.mentions, *dates))


def with_claims(doc: Document, ends: dict[str, re.Pattern[str]]) -> Document:
    """The document that claims the types of which nothing outside its mentions may be an end."""
    outside = doc.text
    for m in doc.mentions:
        outside = outside[: m.start] + "\0" * (m.end - m.start) + outside[m.end :]
    claims = doc.meta["annotated"]["mentions"]
    more = [kind for kind, end in ends.items() if kind not in claims and not end.search(outside)]
    return replace(doc, meta={**doc.meta, "annotated": {"mentions": [*claims, *more]}})


def narrowed(sentence: Sentence) -> Sentence:
    """Digits and Latin letters at half width, as most text has them."""
    return replace(sentence, text=sentence.text.translate(WIDE))


def spoken(sentence: Sentence, rng: random.Random) -> Sentence:
    """A transcript, every other one with a full stop."""
    return replace(sentence, text=sentence.text + "。") if rng.random() < 0.5 else sentence


def make_documents(sentences: Iterable[Sentence], corpus: str, strictly: bool = True) -> list[Document]:
    return [make_document("", bare(s), corpus, "zh", strictly=strictly) for s in sentences if s.text]


class Source(NamedTuple):
    """The documents of a corpus to learn from, and those held out for dev and calibration."""

    train: list[Document]
    held_out: list[Document]


def drawn(documents: list[Document], size: int, rng: random.Random) -> Source:
    """Documents of which `size`, drawn at random, are held out."""
    shuffled = rng.sample(documents, len(documents))
    return Source(shuffled[size:], shuffled[:size])


def read_sources(data: Path, rng: random.Random) -> list[Source]:
    """What there is to learn from; boson without its judge."""
    cluener = make_documents(read_corpus(data / "cluener/train.json.xz", "cluener"), "cluener")
    msra = [narrowed(s) if rng.random() < 0.5 else s for s in read_corpus(data / "msra/val", "parallel")]
    speech = [s for name in ("dev", "test") for s in read_corpus(data / f"aishell_ner/{name}.bio.txt.xz", "conll")]
    unnamed = rng.sample([s for s in speech if not s.spans], UNNAMED)
    transcripts = [spoken(s, rng) for s in [s for s in speech if s.spans] + unnamed]
    boson = list(enumerate(read_boson(data / "boson_ner/origindata.txt.xz")))
    return [
        drawn(cluener, 800, rng),
        drawn(make_documents((s for s in msra if len(s.text) <= LONGEST), "msra"), 500, rng),
        drawn(make_documents(transcripts, "aishell_ner"), 100, rng),
        Source(
            boson_documents(doc for i, doc in boson if i % 20 not in (0, 7, 13)),
            boson_documents(doc for i, doc in boson if i % 20 in (7, 13)),
        ),
        Source(
            make_documents(uner_sentences(data, "train"), "uner_zh"),
            make_documents(uner_sentences(data, "dev"), "uner_zh"),
        ),
        Source(make_documents(rng.sample(list(read_duie(data / "duie")), DUIE), "duie"), []),
        Source(make_documents(read_wiki(data / "wiki_zh/wiki_zh.txt.xz", rng), "wiki_zh"), []),
    ]


def boson_documents(documents: Iterable[list[Sentence]]) -> list[Document]:
    return [boson_document(s) for sentences in documents for s in sentences if len(s.text) <= LONGEST]


def uner_sentences(data: Path, name: str) -> Iterator[Sentence]:
    for _, sentences in read_uner(data / f"uner_zh_gsdsimp/zh_gsdsimp-ud-{name}.iob2.xz"):
        yield from sentences


def read_judges(data: Path) -> dict[str, list[Document]]:
    """Published test parts, and every twentieth document of boson."""
    boson = enumerate(read_boson(data / "boson_ner/origindata.txt.xz"))
    return {
        "cluener": make_documents(read_corpus(data / "cluener/dev.json.xz", "cluener"), "cluener", strictly=False),
        "msra": make_documents(read_corpus(data / "msra/test", "parallel"), "msra", strictly=False),
        "uner_zh": make_documents(uner_sentences(data, "test"), "uner_zh", strictly=False),
        "boson": boson_documents(doc for i, doc in boson if i % 20 == 0),
    }


def build(data: Path, seed: int) -> Parts:
    """All parts, before sentences that two of them share are dropped; what is held out is parted into halves."""
    rng = random.Random(seed)
    parts = Parts([], [], [], read_judges(data))
    for train, held_out in read_sources(data, rng):
        rng.shuffle(held_out)
        middle = len(held_out) // 2
        parts.train.extend(train)
        parts.dev.extend(held_out[:middle])
        parts.calibration.extend(held_out[middle:])
    rng.shuffle(parts.train)
    return replace(parts, train=widened(parts.train))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--output", type=Path, default=Path("runs/data/zh-entities"))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    parts, dropped = separate(build(options.data, options.seed))
    write_parts(parts, options.output)
    print_counts(parts, dropped)


if __name__ == "__main__":
    main()
