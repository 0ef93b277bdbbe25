"""What is looked for in one window at a time, put together to documents."""

from collections.abc import Callable, Sequence
from typing import Literal, TypeVar

from factpin.tokens import Tokenizer, Window
from factpin.tokens.reading import Batch, WindowedDocument, batched
from factpin.tokens.windows import sentence_starts

T = TypeVar("T")


def find_by_window(
    documents: Sequence[WindowedDocument],
    tokenizer: Tokenizer,
    find: Callable[[Batch], list[T]],
    merge: Callable[[Sequence[Window], Sequence[T]], T],
) -> list[T]:
    """Find in every window of a batch with `find`, and join the windows of a document with `merge`."""
    parts: list[dict[int, T]] = [{} for _ in documents]
    for chosen, batch in batched([document.ids for document in documents], tokenizer):
        for (d, w), part in zip(chosen, find(batch), strict=True):
            parts[d][w] = part
    return [
        merge(document.windows, [own[w] for w in sorted(own)]) for document, own in zip(documents, parts, strict=True)
    ]


def reach(document: WindowedDocument, context: Literal["sentence", "window"]) -> Literal["sentence", "window"]:
    """The limits inside which two mentions can be linked: a sentence, if each was read as a whole by itself."""
    starts = {*sentence_starts(document.pieces, document.sentences)}
    whole = all(window.first in starts for window in document.windows)
    return "sentence" if context == "sentence" and whole else "window"
