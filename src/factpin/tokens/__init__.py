"""Text -> pieces -> windows, and back to characters."""

from factpin.tokens.align import char_span, piece_span, piece_spans
from factpin.tokens.batches import batches, shuffled_batches
from factpin.tokens.pieces import Pieces
from factpin.tokens.tokenizer import Tokenizer
from factpin.tokens.windows import Window, merge, owner, windows

__all__ = [
    "Pieces",
    "Tokenizer",
    "Window",
    "batches",
    "char_span",
    "merge",
    "owner",
    "piece_span",
    "piece_spans",
    "shuffled_batches",
    "windows",
]
