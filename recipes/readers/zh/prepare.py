"""The questions of zh-reader: CMRC2018's trial part, DRCD, DuReader's robust and checklist parts, CAIL 2019, and
questions made from the facts of Chinese news. DuIE's terms speak of research, so a reader that ships does without it.

    pip install opencc-python-reimplemented
    python recipes/readers/zh/prepare.py --output runs/data/zh-reader

Writes train and dev (.jsonl.xz). DRCD is written in traditional characters: one half of its paragraphs is unchanged,
the other is simplified character by character, which keeps offsets. CMRC2018 dev and XQuAD are judges.
"""

import argparse
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from _made import make_questions, read_news
from _prepare import DATA, read_set, shorter, slot, some, split, without_contexts, write_parts
from opencc import OpenCC

from factpin.documents import Question

HALVES = 2
LEGAL = 3_000  # questions about court documents: their language is narrow, so that they are not to prevail
NEWS = 4_000  # questions made from the facts of news
LONGEST = 40  # characters of an answer of DuReader: longer ones are whole paragraphs

TO_SIMPLIFIED = OpenCC("t2s")


@cache
def simplified_character(character: str) -> str:
    """One character for one."""
    found = TO_SIMPLIFIED.convert(character)
    return found if len(found) == 1 else character


def simplified(text: str) -> str:
    """A text of the same length in simplified characters."""
    return "".join(map(simplified_character, text))


def in_simplified(question: Question) -> Question:
    """A question with its answers and contexts in simplified characters; spans stay where they are."""
    context = tuple(replace(doc, id=f"{doc.id}-simplified", text=simplified(doc.text)) for doc in question.context)
    answers = tuple(map(simplified, question.answers))
    return replace(question, text=simplified(question.text), answers=answers, context=context)


def read_drcd(data: Path) -> list[Question]:
    """DRCD, every other paragraph in simplified characters."""
    found = [q for part in ("dev", "test") for q in read_set(data / "drcd" / f"DRCD_{part}.json.xz", "drcd")]
    return [in_simplified(q) if slot(q.context[0].text, HALVES) else q for q in found]


def build(data: Path) -> list[Question]:
    """All to learn from."""
    judges = [
        *read_set(data / "cmrc2018" / "cmrc2018_dev.json.xz", "cmrc2018"),
        *read_set(data / "xquad" / "xquad.zh.json.xz", "xquad"),
    ]
    cail = [
        q
        for part in ("dev", "test")
        for q in read_set(data / "cail2019_reading" / f"{part}_ground_truth.json.xz", "cail2019")
    ]
    found = [
        *read_set(data / "cmrc2018" / "cmrc2018_trial.json.xz", "cmrc2018"),
        *read_drcd(data),
        *shorter(read_set(data / "dureader" / "robust_dev.json.xz", "dureader"), LONGEST),
        *shorter(read_set(data / "dureader" / "checklist_dev.json.xz", "dureader"), LONGEST),
        *some(cail, LEGAL),
    ]
    news = list(read_news(data / "zh_news_triples" / "init-train.txt.xz"))
    found += some(make_questions(news, "news", "news", "zh"), NEWS)
    return without_contexts(found, judges)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--output", type=Path, default=Path("runs/data/zh-reader"))
    options = parser.parse_args()
    write_parts(*split(build(options.data)), options.output)


if __name__ == "__main__":
    main()
