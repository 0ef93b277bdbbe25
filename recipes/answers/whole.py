"""The whole of `ask`: the passages of a set are indexed, its questions asked, in every mode; then without the gold.

    python recipes/answers/whole.py 2wiki --questions 100 --facts --db runs/2wiki.db

All passages of these questions are one store; with `--facts`, the shipped models extract facts from them first, and
passages that `--db` has already are left as they are. Every citation is compared with the text it cites. At last the
gold passages are removed, and the questions asked again: what is still answered then is counted as `answered without
gold`; they are put back afterwards.
"""

import argparse
import time
from collections import Counter

from _sets import SETS, contexts, questions_of

from factpin.answers.ask import ASK_MODES, Mode, ask
from factpin.answers.marks import usual_schema
from factpin.documents import Answer, Question
from factpin.extraction.definitions import define
from factpin.extraction.pipeline import Pipeline
from factpin.memory import Source, Store, open_store
from factpin.models.readers import Readers, find_readers
from factpin.scoring.answers import Reply, score_answers
from factpin.scoring.means import mean, mean_interval

RIGHT = 2 / 3 - 1e-9  # the F1 from which an answer is right
AT_ONCE = 100  # documents put together


def fill(store: Store, questions: list[Question], facts: bool, budget: float) -> bool:
    """Put every passage once, with facts if these are wanted; whether the CPU seconds of the budget were enough."""
    known = {source.uri for source in store.sources()}
    documents = [doc for doc in {doc.id: doc for doc in contexts(questions)}.values() if doc.id not in known]
    pipeline = Pipeline.load() if facts and documents else None
    for i in range(0, len(documents), AT_ONCE):
        if time.process_time() > budget:
            print(f"{len(documents) - i:,} of {len(documents):,} passages are left; run it again.")
            return False
        some = documents[i : i + AT_ONCE]
        with store.together():
            for doc in map(define, pipeline.annotate(some)) if pipeline else some:
                store.put(doc, Source(doc.id, str(doc.meta.get("title", ""))))
    return True


def check_citations(answer: Answer, store: Store) -> int:
    """How many citations there are; each must be the text at its offsets."""
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
    kept = [i for i, question in enumerate(questions) if replies[question.id].text]
    exact = sum(em[i, 0] for i in kept)
    right = sum(f1[i, 0] >= RIGHT for i in kept)
    low, high = mean_interval(em)
    by = ", ".join(f"{name} {count}" for name, count in modes.most_common() if count)
    print(f"| {mode} | {100 * mean(em):.1f} ({100 * low:.1f}–{100 * high:.1f}) | {100 * mean(f1):.1f} | "
          f"{100 * answered / len(questions):.1f} | {100 * right / max(1, answered):.1f} | "
          f"{100 * exact / max(1, answered):.1f} | {by} | {cited:,} | "
          f"{seconds:.2f} |", flush=True)  # fmt: skip


def answered_without_gold(store: Store, questions: list[Question], readers: Readers | None) -> int:
    """How many questions are answered once their gold passages are gone; the store is the same afterwards."""
    gold = {question.context[i].id for question in questions for i in question.gold}
    removed = [store.document(uri) for uri in gold]
    with store.together():
        for uri in gold:
            store.remove(uri)
    answered = sum(not ask(question.text, store, reader=readers).abstained for question in questions)
    with store.together():
        for doc, source in removed:
            store.put(doc, source)
    return answered


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--skip", type=int, default=0, help="questions at the beginning of the set to leave out")
    parser.add_argument("--facts", action="store_true")
    parser.add_argument("--db", default="memory:", help="a store that is kept, so that passages are indexed once")
    parser.add_argument("--seconds", type=float, default=1e9, help="CPU seconds after which indexing stops")
    parser.add_argument("--modes", nargs="+", choices=ASK_MODES, default=ASK_MODES)
    parser.add_argument("--without-gold", action="store_true", help="ask again without the gold passages")
    parser.add_argument("--reader", help="a name or folder, or none; the shipped ones if not given")
    options = parser.parse_args()
    questions = [q for q in questions_of(options.set, options.skip + options.questions)[options.skip :] if q.answers]
    readers = find_readers(options.reader)
    with open_store(options.db, create=True) as store:
        store.set_schema(usual_schema())
        if not fill(store, questions, options.facts, options.seconds):
            return
        print(f"{options.set}: {len(questions)} questions, {store.stats()['passage']:,} passages, "
              f"{store.stats()['fact']:,} facts\n")  # fmt: skip
        print("| mode | EM (95 %) | F1 | answered | right of these | exact of these | answered by | exact citations | "
              "seconds |\n|---|---|---|---|---|---|---|---|---|")  # fmt: skip
        for mode in options.modes:
            measure(store, questions, mode, readers)
        if options.without_gold:
            answered = answered_without_gold(store, questions, readers)
            print(f"\nAnswered without gold: {answered} of {len(questions)}.")


if __name__ == "__main__":
    main()
