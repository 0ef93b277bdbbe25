"""Count the words that src/factpin/language/borders_zh.txt.xz lists, from plain text that a dictionary cuts into words.

    pip install opencc-python-reimplemented
    python recipes/words_zh.py

The texts are those of wiki_zh and duie_unlabelled, without their annotation; rjieba's dictionary cuts them, without its
model for unknown words. Kept are the 40,000 most frequent words of two to five characters, and every character on its
own. A line has a count and all words that occur so often. The texts are simplified; OpenCC gives the traditional forms,
which count as much.
"""

import argparse
import lzma
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import opencc
import rjieba

from factpin import files

HAN = re.compile("[\u3400-\u9fff]+")
SOURCES = ("wiki_zh/wiki_zh.txt.xz", "duie_unlabelled/duie1_test.json.xz", "duie_unlabelled/duie2_test1_part.json.xz")
WORDS, LONGEST = 40_000, 5


def runs(data: Path) -> Iterator[str]:
    """The runs of Chinese characters in the texts."""
    for source in SOURCES:
        for _, line in files.lines(data / source):
            yield from HAN.findall(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--output", type=Path, default=Path("src/factpin/language/borders_zh.txt.xz"))
    options = parser.parse_args()
    counts = Counter(word for run in runs(options.data) for word in rjieba.cut(run, False))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    words = [item for item in ordered if 1 < len(item[0]) <= LONGEST][:WORDS]
    kept = dict([*(item for item in ordered if len(item[0]) == 1), *words])
    traditional = opencc.OpenCC("s2t").convert
    kept |= {form: count for word, count in kept.items() if (form := traditional(word)) not in kept}
    by_count = defaultdict[int, list[str]](list)
    for word, count in sorted(kept.items()):
        by_count[count].append(word)
    text = "".join(f"{count} {' '.join(words)}\n" for count, words in sorted(by_count.items(), reverse=True))
    options.output.write_bytes(lzma.compress(text.encode(), preset=9))
    print(f"{len(kept)} words, {options.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
