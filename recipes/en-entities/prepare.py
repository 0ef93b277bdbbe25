"""The texts of en-entities: six corpora with our types, as running text, and five judges.

    python recipes/en-entities/prepare.py --output runs/data/en-entities

Writes train, dev, calibration and judges/NAME (.jsonl.xz). The mapping tables are in recipes/entity_types.toml.
"""

import argparse
import csv
import lzma
import random
import re
import sys
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from _prepare import (
    DATA,
    DAYS,
    Labelled,
    Parts,
    Sentence,
    decode_tags,
    from_tokens,
    grouped,
    is_demonym,
    make_document,
    merge,
    print_counts,
    read_uner,
    separate,
    write_parts,
)

from factpin.documents import Document
from factpin.formats import Options, read

Article = tuple[str, list[Sentence]]  # name, sentences

TITLE = re.compile(
    r"(?:(?:Former|Vice|Prime|Deputy|Foreign|Defense|Defence|Interior|Finance|Acting|Interim|Attorney|Major|Lieutenant|Chief"
    r"|Late)\s)*"
    r"(?:Presidents?|Ministers?|Chancellor|Secretary(?:[ -]General| of State| of Defense)?|Senators?|Generals?|"
    r"Governor|Ambassador|Congressman|Colonel|Captain|Justice|Judge|Premier|Chairman|Spokes(?:wo)?man|Mr\.|Ms\.|Mrs\.|Dr\.|Mr|"
    r"Mrs|Ms|Dr)(?:\s|$)"
)
TEMPORAL = re.compile(
    rf"{DAYS.pattern}|March|May|(?:1\d|20)\d\d|\d0s|(?:to|yester)day|to(?:morrow|night)|now|century|decade|year|quarter|month|"
    r"week|day|hour|minute|second|moment|morning|noon|evening|night|dawn|dusk|spring|summer|autumn|fall|winter|[ap]\.m|GMT|UTC|"
    r"o'clock|Christmas|Easter|Ramadan|Eid|[A-Z][a-z]{2}\.|later|earlier|ago|past",
    re.IGNORECASE,
)


# ---- sources --------------------------------------------------------------------------------------------------------


def read_worldwide(data: Path) -> Iterator[Article]:
    """News articles. The outer layer of tags is read; the line with the article's address is not a sentence."""
    with tarfile.open(data / "worldwide_newswire" / "processed_annotated.tar.xz") as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            stream = archive.extractfile(member) if member.name.endswith(".tsv") else None
            if stream is None:
                continue
            sentences = []
            for block in stream.read().decode("utf-8").split("\n\n"):
                rows = [line.split("\t") for line in block.split("\n") if line.strip()]
                if rows and not rows[0][0].startswith("http"):
                    tags = [row[1] if len(row) > 1 else "O" for row in rows]
                    sentences.append(from_tokens([row[0] for row in rows], decode_tags(tags), hyphens=True))
            yield member.name, sentences


def tokenised_sentences(doc: Document, hyphens: bool) -> list[Sentence]:
    """The sentences of a document whose tokens are joined by blanks, as running text."""
    found = []
    for start, end in doc.sentences:
        tokens = doc.text[start:end].split(" ")
        first, last, at = {}, {}, start
        for i, token in enumerate(tokens):
            first[at], last[at + len(token)] = i, i + 1
            at += len(token) + 1
        spans = [
            Labelled(first[m.start], last[m.end], m.type)
            for m in doc.mentions
            if m.start in first and m.end in last and start <= m.start and m.end <= end
        ]
        found.append(from_tokens(tokens, spans, hyphens))
    return found


def read_tokenised(path: Path, format: str) -> Iterator[Article]:
    """A corpus of a known format; a sentence with a line that has no token is left out."""
    for doc in read(path, format=format, options=Options(skip_bad=True)):
        yield doc.id, tokenised_sentences(doc, hyphens=format == "docred")


def read_gmb(path: Path) -> Iterator[Sentence]:
    """Silver news sentences: a title is no part of a person's name, a gpe that is a proper noun is a place."""
    rows: list[dict[str, str]] = []
    with lzma.open(path, "rt", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["Sentence #"] and rows:
                yield gmb_sentence(rows)
                rows = []
            rows.append(row)
    yield gmb_sentence(rows)


def gmb_sentence(rows: list[dict[str, str]]) -> Sentence:
    tokens = [row["Word"] for row in rows]
    spans = []
    for span in decode_tags([row["Tag"] for row in rows]):
        if span.label == "tim" and not TEMPORAL.search(" ".join(tokens[span.start : span.end])):
            continue
        if span.label == "gpe" and rows[span.end - 1]["POS"] == "NNP":
            span = span._replace(label="geo")
        spans.append(span)
    sentence = from_tokens(tokens, spans)
    return Sentence(sentence.text, tuple(filter(None, (untitled(sentence.text, s) for s in sentence.spans))))


def untitled(text: str, span: Labelled) -> Labelled | None:
    """A person without the title and nationality before the name; None where nothing is left."""
    if span.label != "per":
        return span
    start = span.start
    while start < span.end:
        word = re.compile(r"\S+\s?").match(text, start, span.end)
        title = TITLE.match(text, start, span.end)
        if title:
            start = title.end()
        elif word and is_demonym(word[0].strip()):
            start = word.end()
        else:
            return span._replace(start=start)
    return None


# ---- parts ----------------------------------------------------------------------------------------------------------


def slot(name: str, slots: int = 20) -> int:
    """A number from 0 to slots - 1 that depends on the name alone."""
    return zlib.crc32(name.encode()) % slots


class Builder:
    """Collects documents; every tenth article of the news is a judge, some articles of each source are held out."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.parts = Parts([], [], [], {})

    def place(self, corpus: str, articles: Iterable[Article], held_out: int, judge: str = "") -> None:
        """Articles into train; of 20 slots, `held_out` are dev and as many calibration; two are a judge, if named."""
        for name, sentences in articles:
            at = slot(f"{corpus}/{name}")
            if judge and at >= 18:
                self.judge(judge, corpus, [(name, sentences)], strictly=True)
                continue
            part = (
                self.parts.dev if at < held_out else self.parts.calibration if at < 2 * held_out else self.parts.train
            )
            for group in grouped(sentences, self.rng):
                whole, borders = merge(group)
                part.append(make_document("", whole, corpus, "en", borders))

    def judge(self, name: str, corpus: str, articles: Iterable[Article], strictly: bool = False) -> None:
        """A judge of single sentences."""
        found = self.parts.judges.setdefault(name, [])
        for _, sentences in articles:
            found += [make_document("", s, corpus, "en", strictly=strictly) for s in sentences if s.text]


def build(data: Path, silver: int, seed: int) -> Parts:
    """All parts, before sentences that two of them share are dropped."""
    builder = Builder(seed)
    builder.place("worldwide_newswire", read_worldwide(data), 1, judge="worldwide")
    for name in ("docred_entities/test.json.xz", "redocred/dev_revised.json.xz"):
        builder.place("docred", read_tokenised(data / name, "docred"), 1)
    for path in sorted((data / "crossner").glob("*/*.txt.xz")):
        builder.place("crossner", ((f"{path.parent.name}-{n}", s) for n, s in read_tokenised(path, "conll")), 1)
    builder.place("uner_ewt", read_uner(data / "uner_ewt" / "en_ewt-ud-train.draft.iob2.xz"), 0)
    builder.place("uner_ewt", read_uner(data / "uner_ewt" / "en_ewt-ud-dev.iob2.xz"), 10)
    for name in ("train", "dev", "test"):
        builder.place("btc", read_tokenised(data / "btc" / f"btc.{name}.xz", "conll"), 1)
    sentences = [s for s in read_gmb(data / "gmb_ner" / "ner_dataset.csv.xz") if s.spans]
    for sentence in random.Random(seed).sample(sentences, min(silver, len(sentences))):
        doc = make_document("", sentence, "gmb_ner", "en")
        builder.parts.train.append(doc)
    builder.judge("wikigold", "wikigold", read_tokenised(data / "wikigold" / "wikigold.conll.txt.xz", "conll"))
    builder.judge("uner_ewt", "uner_ewt", read_uner(data / "uner_ewt" / "en_ewt-ud-test.iob2.xz"))
    builder.judge("redocred", "docred", read_tokenised(data / "redocred" / "test_revised.json.xz", "docred"))
    builder.judge("scierc", "scierc", read_tokenised(data / "scierc" / "test.json.xz", "scierc"))
    return builder.parts


def thinned(documents: list[Document], sentences: dict[str, int], rng: random.Random) -> list[Document]:
    """At most so many sentences of each source."""
    kept = []
    left = dict(sentences)
    for doc in rng.sample(documents, len(documents)):
        source = doc.meta["source"]
        if left.get(source, 0) > 0:
            left[source] -= len(doc.sentences)
            kept.append(doc)
    return kept


DEV = {"worldwide_newswire": 500, "docred": 450, "uner_ewt": 250, "crossner": 150, "btc": 150}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--output", type=Path, default=Path("runs/data/en-entities"))
    parser.add_argument("--silver", type=int, default=12_000, help="sentences of gmb_ner")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    parts = build(options.data, options.silver, options.seed)
    rng = random.Random(options.seed)
    dev, calibration = thinned(parts.dev, DEV, rng), thinned(parts.calibration, DEV, rng)
    parts, dropped = separate(Parts(parts.train, dev, calibration, parts.judges))
    rng.shuffle(parts.train)
    write_parts(parts, options.output)
    print_counts(parts, dropped)


if __name__ == "__main__":
    main()
