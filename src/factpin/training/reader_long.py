"""Questions about long texts as a reader with MemRecall learns them: their contexts become one excerpt.

For training, all gold is kept, and the judge fills up what is left; for dev, the judge alone decides, as in use.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from factpin.answers.cogltx_excerpt import excerpt
from factpin.answers.cogltx_judge import Judge, RecalledText
from factpin.documents import Document, Question, Span
from factpin.models.judge_folder import load_judge
from factpin.training.judge import gold_spans

GAP = 8  # pieces to spare, since blocks are joined to other pieces than they were cut into


def recalled_questions(questions: Sequence[Question], judge: Path | str | Judge, *, with_gold: bool) -> list[Question]:
    """Each question with one context: what is kept of its contexts."""
    chosen = judge if isinstance(judge, Judge) else load_judge(judge)
    return [recalled(question, chosen, with_gold=with_gold) for question in questions]


def recalled(question: Question, judge: Judge, *, with_gold: bool) -> Question:
    """A question with what is kept of its contexts; gold spans that were not kept are gone."""
    if not question.context:
        return question
    found = judge.recall(question.text, [doc.text for doc in question.context], reserve=GAP)
    kept = _with_gold(question, found) if with_gold else found.recall.kept
    made = excerpt(found.texts, found.blocks, kept)
    spans = [(0, here) for context, span in question.spans if (here := made.find(context, span)) is not None]
    doc = Document(f"{question.id} excerpt", made.text)
    return replace(question, context=(doc,), spans=tuple(dict.fromkeys(spans)), support=())


def _with_gold(question: Question, found: RecalledText) -> tuple[int, ...]:
    """The blocks with gold, and the best of those that were kept, in at most as many pieces."""
    gold = gold_spans(question)
    needed = [i for i, b in enumerate(found.blocks) if any(b.document == c and _meet(b.span, s) for c, s in gold)]
    room = sum(len(found.blocks[i].ids) for i in found.recall.kept)
    scores = found.recall.steps[-1].scores if found.recall.steps else [0.0] * len(found.blocks)
    chosen: list[int] = []
    for i in [*needed, *sorted(set(found.recall.kept) - set(needed), key=lambda i: (-scores[i], i))]:
        room -= len(found.blocks[i].ids)
        if room < 0:
            break
        chosen.append(i)
    return tuple(sorted(chosen))


def _meet(a: Span, b: Span) -> bool:
    return a.start < b.end and b.start < a.end
