"""The texts of zh-entities: five corpora with our types, cut into sentences, and four judges.

    python recipes/zh-entities/prepare.py --output runs/data/zh-entities

Writes train, dev, calibration and judges/NAME (.jsonl.xz). The mapping tables are in recipes/entity_types.toml.
"""

import argparse
import random
import re
import sys
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
    make_document,
    print_counts,
    read_uner,
    separate,
    write_parts,
)

from factpin import files
from factpin.documents import Document
from factpin.formats import read
from factpin.language.sentences import split_sentences

INLINE = re.compile(r"\{\{(\w+):\s*(.*?)\s*\}\}")
WIDE = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
LONGEST = 200  # characters; a longer "sentence" is a list or a table
UNNAMED = 1000  # transcripts without a name that are kept


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


# ---- parts ----------------------------------------------------------------------------------------------------------


def boson_document(sentence: Sentence) -> Document:
    """Products in 《》 are works. Others may be: with one of them in it, a text does not claim `work`."""
    works = [s for s in sentence.spans if s.label != "product_name" or sentence.text[s.start] == "《"]
    doc = make_document("", Sentence(sentence.text, tuple(works)), "boson_ner", "zh")
    if len(works) == len(sentence.spans):
        return doc
    claims = [kind for kind in doc.meta["annotated"]["mentions"] if kind != "work"]
    return replace(doc, meta={**doc.meta, "annotated": {"mentions": claims}})


def narrowed(sentence: Sentence) -> Sentence:
    """Digits and Latin letters at half width, as most text has them."""
    return replace(sentence, text=sentence.text.translate(WIDE))


def spoken(sentence: Sentence, rng: random.Random) -> Sentence:
    """A transcript, every other one with a full stop."""
    return replace(sentence, text=sentence.text + "。") if rng.random() < 0.5 else sentence


def make_documents(sentences: Iterable[Sentence], corpus: str, strictly: bool = True) -> list[Document]:
    return [make_document("", s, corpus, "zh", strictly=strictly) for s in sentences if s.text]


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
    return parts


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
