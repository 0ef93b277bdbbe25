"""What a reader answers when it is given the right passage: exact match, F1, and how far its scores can be trusted.

    python recipes/answers/readers.py runs/zh-reader --sets cmrc2018 xquad-zh --questions 1000

Every question is read in its own passage, and always answered. The scale of the reader is left as it is: the error of
calibration is that of scores which were fitted on other questions. `elsewhere` is the share of questions that the
reader answers, above its least score, from the passage of another question, where no answer is right.
As in training, an answer is right if it has an F1 of two thirds or more with gold; exact ones are counted beside these.
"""

import argparse
from pathlib import Path

from _sets import questions_of

from factpin.documents import Question
from factpin.formats.questions import read
from factpin.models.readers import open_reader
from factpin.models.shipped import find_model
from factpin.scoring import calibration
from factpin.scoring.answers import Reply, score_answers
from factpin.scoring.means import mean, mean_interval
from factpin.scoring.risk import precision_at
from factpin.training.reader_fit import RIGHT, ask_strangers, best_readings, text_of

COLUMNS = (
    *("set", "questions", "EM", "95 %", "F1", "95 %", "exact of the surest half", "calibration error, exact"),
    *("kept", "exact of these", "right of these", "calibration error", "elsewhere"),
)


def answerable(name: str, most: int | None) -> list[Question]:
    """The questions of a set or of a file."""
    asked = list(read(Path(name)))[:most] if Path(name).is_file() else questions_of(name, most)
    return [question for question in asked if question.answers]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader")
    parser.add_argument("--sets", nargs="+", required=True, help="names of sets, or files of questions")
    parser.add_argument("--questions", type=int)
    options = parser.parse_args()
    reader = open_reader(find_model(options.reader))
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for name in options.sets:
        asked = answerable(name, options.questions)
        best = best_readings(reader, asked)
        replies = {q.id: Reply(text_of(r), r.probability) if r else Reply("") for q, r in zip(asked, best, strict=True)}
        scores = score_answers(asked, replies)
        em, f1 = scores.rows["em"], scores.rows["f1"]
        right = [
            (r.probability, bool(row[0] >= RIGHT - 1e-9)) for r, row in zip(best, f1, strict=True) if r is not None
        ]
        good = [well for score, well in right if score >= reader.settings.min_score]
        kept = [exact for score, exact in scores.outcomes if score >= reader.settings.min_score]
        strangers = [r for r in best_readings(reader, ask_strangers(asked)) if r]
        wrong = sum(r.probability >= reader.settings.min_score for r in strangers) / max(1, len(strangers))
        figures = [f"{len(asked):,}"]
        for rows in (em, f1):
            low, high = mean_interval(rows)
            figures += [f"{100 * mean(rows):.1f}", f"{100 * low:.1f}–{100 * high:.1f}"]
        half = precision_at(scores.outcomes, 0.5) or 0.0
        figures += [f"{100 * half:.1f}", f"{100 * calibration(scores.outcomes).ece:.1f}"]
        figures += [f"{100 * len(kept) / len(asked):.1f}", f"{100 * sum(kept) / max(1, len(kept)):.1f}"]
        figures += [f"{100 * sum(good) / max(1, len(good)):.1f}", f"{100 * calibration(right).ece:.1f}"]
        print(f"| {Path(name).name} | {' | '.join(figures)} | {100 * wrong:.1f} |", flush=True)


if __name__ == "__main__":
    main()
