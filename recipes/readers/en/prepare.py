"""The questions of en-reader: six English sets with one or more passages, without those of XQuAD and our half of NQ,
and questions made from the facts of KnowledgeNet (folds 1 to 3).

    python recipes/readers/en/prepare.py --output runs/data/en-reader

Writes train, dev and nq (.jsonl.xz). Half of the Natural Questions that have a passage is a judge: nq.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from _made import make_questions, read_knowledgenet
from _prepare import DATA, read_set, slot, split, without_contexts, without_questions, write_parts

from factpin.documents import Question
from factpin.formats.questions import write

HALVES = 2
FOLDS = (1, 2, 3)  # of KnowledgeNet; the fourth judges en-facts


def read_nq(data: Path) -> tuple[list[Question], list[Question]]:
    """Natural Questions with a gold passage: (to learn from, to judge by)."""
    questions = read_set(data / "nq_open" / "nq-open-oracle.jsonl.xz", "nq")
    judge = [q for q in questions if slot(q.text, HALVES) == 0]
    return without_contexts((q for q in questions if slot(q.text, HALVES)), judge), judge


def build(data: Path) -> tuple[list[Question], list[Question]]:
    """(all to learn from, the half of NQ that judges)."""
    nq, judge = read_nq(data)
    xquad = read_set(data / "xquad" / "xquad.en.json.xz", "xquad")
    squad = without_contexts(read_set(data / "squad2_half" / "dev-v2.0.cs224n.json.xz", "squad2"), xquad)
    qed = [q for path in sorted((data / "qed").glob("*.xz")) for q in read_set(path, "qed")]
    several = [
        *read_set(data / "hotpotqa" / "distractor_train.jsonl.xz", "hotpotqa"),
        *read_set(data / "2wikimultihop" / "2wiki_train.jsonl.xz", "2wiki"),
        *read_set(data / "musique" / "musique_train.jsonl.xz", "musique"),
    ]
    spans = [q for q in several if q.kind != "yes_no"]  # no single passage says whether two things are alike
    facts = list(read_knowledgenet(data / "knowledgenet" / "passages.derived.jsonl.xz", FOLDS))
    made = make_questions(facts, "knowledgenet", "knowledgenet", "en")
    return without_questions([*squad, *qed, *nq, *spans, *made], [*judge, *xquad]), judge


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--output", type=Path, default=Path("runs/data/en-reader"))
    options = parser.parse_args()
    questions, judge = build(options.data)
    write_parts(*split(questions), options.output)
    write(judge, options.output / "nq.jsonl.xz")
    print(f"nq: {len(judge):,} questions")


if __name__ == "__main__":
    main()
