"""The whole of `ask`: the passages of a set are indexed, its questions asked, in every mode; then without the gold.

    python recipes/answers/whole.py 2wiki --questions 100

All passages of these questions are one store; with `--facts`, the shipped models extract facts from them first. Every
citation is compared with the text it cites. At last the gold passages are removed, and the questions asked again: what
is still answered then is counted as `answered without gold`.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator

from _sets import SETS, contexts, fill, questions_of

from factpin.answers.ask import ASK_MODES, Mode, ask
from factpin.answers.marks import usual_schema
from factpin.documents import Answer, Document, Question
from factpin.extraction.pipeline import Pipeline
from factpin.memory import Store
from factpin.models.readers import Readers, find_readers
from factpin.scoring.answers import Reply, score_answers
from factpin.scoring.means import mean, mean_interval


def documents_of(questions: list[Question], facts: bool) -> Iterator[Document]:
    """Every passage once, with facts if these are wanted."""
    documents = list({doc.id: doc for doc in contexts(questions)}.values())
    return iter(Pipeline.load().annotate(documents)) if facts else iter(documents)


def check_citations(answer: Answer, store: Store) -> int:
    """How many citations there are; each must stand at its offsets."""
    cited = [c for one in (answer, *answer.alternatives) for c in one.citations]
    for citation in cited:
        citation.check(store.document(citation.uri)[0].text)
    return len(cited)


def reply(answer: Answer) -> Reply:
    text = {"是": "yes", "否": "no"}.get(answer.text, answer.text)
    return Reply("" if answer.abstained else text, answer.score)


def measure(store: Store, questions: list[Question], mode: Mode, readers: Readers | None) -> None:
    began, cited, modes = time.perf_counter(), 0, Counter[str]()
    replies: dict[str, Reply] = {}
    for question in questions:
        answer = ask(question.text, store, mode, reader=readers)
        cited += check_citations(answer, store)
        modes[answer.mode] += not answer.abstained
        replies[question.id] = reply(answer)
    seconds = (time.perf_counter() - began) / len(questions)
    scores = score_answers(questions, replies)
    em, f1 = scores.rows["em"], scores.rows["f1"]
    answered = sum(bool(r.text) for r in replies.values())
    right = sum(right for _, right in scores.outcomes)
    low, high = mean_interval(em)
    by = ", ".join(f"{name} {count}" for name, count in modes.most_common() if count)
    print(f"| {mode} | {100 * mean(em):.1f} ({100 * low:.1f}–{100 * high:.1f}) | {100 * mean(f1):.1f} | "
          f"{100 * answered / len(questions):.1f} | {100 * right / max(1, answered):.1f} | {by} | {cited:,} | "
          f"{seconds:.2f} |", flush=True)  # fmt: skip


def remove_gold(store: Store, questions: list[Question]) -> None:
    for uri in {question.context[i].id for question in questions for i in question.gold}:
        store.remove(uri)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--facts", action="store_true")
    parser.add_argument("--reader", help="a name or folder, or none; the shipped ones if not given")
    options = parser.parse_args()
    questions = [q for q in questions_of(options.set, options.questions) if q.answers]
    readers = find_readers(options.reader)
    store = fill(documents_of(questions, options.facts))
    store.set_schema(usual_schema())
    print(f"{options.set}: {len(questions)} questions, {store.stats()['passage']:,} passages, "
          f"{store.stats()['fact']:,} facts\n")  # fmt: skip
    print("| mode | EM (95 %) | F1 | answered | right of these | answered by | exact citations | seconds |\n"
          "|---|---|---|---|---|---|---|---|")  # fmt: skip
    for mode in ASK_MODES:
        measure(store, questions, mode, readers)
    remove_gold(store, questions)
    left = [ask(question.text, store, reader=readers) for question in questions]
    answered = sum(not answer.abstained for answer in left)
    print(f"\nAnswered without gold: {answered} of {len(questions)}.")


if __name__ == "__main__":
    main()
