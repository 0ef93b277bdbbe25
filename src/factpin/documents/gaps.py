"""The parts of a text that no model read."""

from collections.abc import Callable, Iterator, Sequence

from factpin.documents.nouns import Span, Unread


def gaps(text: str, spans: Sequence[Span], reason: Callable[[int], str]) -> Iterator[Unread]:
    """The parts between sorted spans that are more than whitespace; `reason` gets the place of their text."""
    done = 0
    for start, end in (*spans, Span(len(text), len(text))):
        if words := text[done:start].strip():
            yield Unread(done, start, reason(text.index(words, done)))
        done = max(done, end)
