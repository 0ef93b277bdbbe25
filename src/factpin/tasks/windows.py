"""Links that are looked for in one window at a time, put together to documents."""

from collections.abc import Callable, Sequence
from typing import Literal

from factpin.tasks.link_cells import LinkCells
from factpin.tasks.links import Found, merge
from factpin.tokens import Tokenizer
from factpin.tokens.reading import Batch, WindowedDocument, batched
from factpin.tokens.windows import sentence_starts


def find_links(
    documents: Sequence[WindowedDocument], tokenizer: Tokenizer, find: Callable[[Batch], LinkCells]
) -> list[Found]:
    """What `find` says about every window, as the spans and links of each document, each once."""
    parts: list[dict[int, Found]] = [{} for _ in documents]
    for chosen, batch in batched([document.ids for document in documents], tokenizer):
        cells = find(batch)
        for (d, w), found in zip(chosen, cells.split(len(chosen), len(tokenizer.prefix)), strict=True):
            parts[d][w] = found
    return [
        merge(document.windows, [own[w] for w in sorted(own)]) for document, own in zip(documents, parts, strict=True)
    ]


def reach(document: WindowedDocument, context: Literal["sentence", "window"]) -> Literal["sentence", "window"]:
    """Inside what two mentions must lie to be linked: a sentence, where each was read alone and whole."""
    whole = len(document.windows) <= len(sentence_starts(document.pieces, document.sentences))
    return "sentence" if context == "sentence" and whole else "window"
