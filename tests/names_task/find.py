"""Find names: a head's scores -> the cells of every document."""

from collections.abc import Sequence

from factpin.tasks.spans.find import find_spans
from factpin.tasks.task import Cut, Predict
from factpin.tokens import Tokenizer, owner
from factpin.tokens.reading import WindowedDocument, batched
from tests.names_task.decode import Cell


def find_names(
    documents: Sequence[WindowedDocument], tokenizer: Tokenizer, predict: Predict, cut: Cut
) -> list[list[Cell]]:
    """Each cell once, from the window that answers for it."""
    found: list[list[Cell]] = [[] for _ in documents]
    for chosen, batch in batched([document.ids for document in documents], tokenizer):
        cells = find_spans(predict(batch), cut)
        for row, start, end, score in zip(cells.batch, cells.start, cells.end, cells.score, strict=True):
            d, w = chosen[row]
            windows = documents[d].windows
            first, last = (windows[w].first + int(at) - len(tokenizer.prefix) for at in (start, end))
            if owner(windows, first, last) == w:
                found[d].append((first, last, float(score)))
    return found
