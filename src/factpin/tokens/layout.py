"""WindowLayout: where the tokens of a document's windows have their place in the document.

    N = prefix + pieces + suffix tokens of the document

Token i of window w is token w.first + i of the document. Special tokens are kept before the first piece and after the
last one; those at inner borders have no place.
"""

from dataclasses import dataclass

from factpin.tokens.windows import Window


@dataclass(frozen=True)
class WindowLayout:
    """How windows cover a document."""

    windows: tuple[Window, ...]
    pieces: int
    prefix: int  # special tokens before the pieces of a window
    suffix: int

    @property
    def tokens(self) -> int:
        """N of the document."""
        return self.prefix + self.pieces + self.suffix

    def kept(self, window: Window) -> tuple[int, int]:
        """The tokens of a window that have a place in the document, half-open."""
        low = 0 if window.first == 0 else self.prefix
        high = self.prefix + len(window) + (self.suffix if window.last == self.pieces else 0)
        return low, high

    @property
    def whole(self) -> bool:
        """One window holds all."""
        return len(self.windows) == 1 and len(self.windows[0]) == self.pieces
