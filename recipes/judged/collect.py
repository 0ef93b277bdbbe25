"""Choose the passages for judging the shipped models, without anyone reading them.

    python recipes/judged/collect.py
    python recipes/judged/collect.py --seen runs/data --output recipes/judged/passages.jsonl

Twenty passages in each language, whole sentences, drawn with a seed from the sources in `_sources.py`, at most one per
article. Passages of most sources must name people, organisations or places, which is guessed from capitals and typical
characters. With --seen, passages that share 60 consecutive letters with a prepared file in that folder are left out
(windows of 40 letters are compared, one every 20); with --apart, also those that share as much with the texts of JSONL
files, such as passages that were read before. Only counts are printed.
"""

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from _sources import SOURCES, Source, Text

from factpin import files
from factpin.documents import Document
from factpin.errors import BadInput
from factpin.formats import write
from factpin.language.sentences import split_sentences

HERE = Path(__file__).parent
SEED = 31
LENGTHS = {"en": (300, 900), "zh": (150, 450)}
WINDOW = 40  # letters that are looked up in the training data, at every half window
TRIES = 5  # cuts that are tried in one paragraph

PROSE = {
    "en": re.compile(r"[A-Za-z ,.;:'\"’“”()\-–]"),
    "zh": re.compile(r"[\u3400-\u9fff，。、；：“”「」《》（）？！]"),
}
PROSE_SHARE = {"en": 0.93, "zh": 0.7}
ENDS = {"en": re.compile(r"[.!?][\"”’)]?$"), "zh": re.compile(r"[。！？][”」』）]?$")}
MARKUP = re.compile(r"[<>{}|\\^~=_@#*\ufffd]|https?:|www\.")
NAME = re.compile(r"(?<=[a-z,;:)’”'\"] )[A-Z][a-z]+")  # a capital in the middle of a sentence
WORD = re.compile(r"[A-Za-z]+")
TELLING = re.compile(
    r"年|月|省|市|县|縣|區|国|國|州|城|公司|大学|大學|学校|法院|政府|总统|總統|皇帝|主席|教授|原告|被告|出生|任职|·"
)
NAME_DENSITY = {"en": 0.06, "zh": 0.015}


def main() -> None:
    """Write the passages and print their counts."""
    parser = argparse.ArgumentParser(description="Choose passages to judge.")
    parser.add_argument("--packages", type=Path, default=Path("runs/judged/packages"), help="cache of Debian packages")
    parser.add_argument("--seen", type=Path, help="folder of prepared training data, such as runs/data")
    parser.add_argument("--apart", type=Path, nargs="+", default=[], help="JSONL files of texts that were read before")
    parser.add_argument("--seed", type=int, default=SEED, help="another number gives other passages")
    parser.add_argument("--times", type=int, default=1, help="this many times as many from each source")
    parser.add_argument("--sources", nargs="+", default=[], metavar="SOURCE", help="only these sources")
    parser.add_argument("--output", type=Path, default=HERE / "passages.jsonl")
    options = parser.parse_args()
    read = "\n".join(map(letters_in, options.apart))
    seen = {language: read + (letters_of(options.seen, language) if options.seen else "") for language in LENGTHS}
    passages = [
        passage
        for source in SOURCES
        if not options.sources or source.name in options.sources
        for passage in choose(source, options.packages, seen[source.language], options.seed, options.times)
    ]
    write(passages, options.output, format="jsonl")
    print(summary(passages))


def choose(source: Source, packages: Path, seen: str, seed: int = SEED, times: int = 1) -> list[Document]:
    """The passages of one source."""
    draw, count = random.Random(f"{seed}/{source.name}"), source.count * times
    texts = sorted(set(source.read(packages)))
    draw.shuffle(texts)
    chosen: dict[str, str] = {}
    for text in texts:
        if len(chosen) == count:
            break
        passage = cut(text, source, draw, seen) if text.article not in chosen else ""
        if passage:
            chosen[text.article] = passage
    if len(chosen) < source.count:  # of several times as many, a small source may give fewer
        raise BadInput(
            f"{source.name} has {len(chosen)} fitting passages; expected {source.count}. Ease its conditions."
        )
    meta = {"source": source.name, "kind": source.kind, "licence": source.licence}
    return [
        Document(f"{source.language}-{source.name}-{i}", text, language=source.language, meta=meta)
        for i, text in enumerate(chosen.values(), 1)
    ]


def cut(text: Text, source: Source, draw: random.Random, seen: str) -> str:
    """Whole sentences of a paragraph that make a fitting passage; empty where there are none."""
    shortest, longest = LENGTHS[source.language]
    if len(text.text) < shortest:
        return ""
    sentences = split_sentences(text.text)
    for _ in range(TRIES):
        first = draw.randrange(len(sentences))
        size = draw.uniform(shortest, longest)
        passage = ""
        for _, end in sentences[first:]:
            longer = text.text[sentences[first][0] : end]
            if len(longer) > longest or len(passage) >= size:
                break
            passage = longer
        if len(passage) >= shortest and fits(passage, source) and is_new(passage, seen):
            return passage
    return ""


def fits(passage: str, source: Source) -> bool:
    """Whether a passage is prose of its language and, where the source asks for it, seems to name somebody."""
    language = source.language
    if MARKUP.search(passage) or not ENDS[language].search(passage) or not re.search(source.needs, passage):
        return False
    if len(PROSE[language].findall(passage)) < PROSE_SHARE[language] * len(passage):
        return False
    return not source.names or name_density(passage, language) >= NAME_DENSITY[language]


def name_density(passage: str, language: str) -> float:
    """Capitals inside sentences for each word, or telling words for each character."""
    if language == "en":
        return len(NAME.findall(passage)) / len(WORD.findall(passage))
    return len(TELLING.findall(passage)) / len(passage)


# ---- training data --------------------------------------------------------------------------------------------------


def letters_of(folder: Path, language: str) -> str:
    """The letters and digits of every document that was prepared for a language, in one string."""
    paths = sorted(folder.glob(f"{language}-*/**/*.jsonl.xz"))
    if not paths:
        raise BadInput(
            f"{folder} holds no {language}-*/*.jsonl.xz; expected what the prepare scripts of the recipes wrote."
        )
    return "\n".join(map(letters_in, paths))


def letters_in(path: Path) -> str:
    """The letters and digits of the texts in a JSONL file."""
    return "\n".join(letters(json.loads(line)["text"]) for _, line in files.lines(path))


def letters(text: str) -> str:
    """Letters and digits alone, so that spacing and marks do not matter."""
    return re.sub(r"[\W_]+", "", text.lower())


def is_new(passage: str, seen: str) -> bool:
    """Whether no stretch of the passage is in the training data."""
    plain = letters(passage)
    starts = range(0, max(1, len(plain) - WINDOW + 1), WINDOW // 2)
    return not seen or not any(plain[start : start + WINDOW] in seen for start in starts)


# ---- counts ---------------------------------------------------------------------------------------------------------


def summary(passages: Sequence[Document]) -> str:
    """A table: passages, lengths and name density by source, and the kinds of each language."""
    lines = ["| language | source | kind | passages | characters | name density |", "|---|---|---|---:|---|---|"]
    for source in SOURCES:
        texts = [p.text for p in passages if p.meta["source"] == source.name]
        sizes = ", ".join(str(len(text)) for text in texts)
        densities = ", ".join(f"{name_density(text, source.language):.3f}" for text in texts)
        row = (source.language, source.name, source.kind, str(len(texts)), sizes, densities)
        lines.append(f"| {' | '.join(row)} |")
    for language in LENGTHS:
        kinds = Counter(p.meta["kind"] for p in passages if p.language == language)
        lines.append(f"\n{language}: {kinds.total()} passages of {len(kinds)} kinds")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
