"""Generated text on a terminal, and as JSON lines."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TextIO

import orjson

from factpin.pretraining.generation import GeneratedText
from factpin.words import count


class Typist:
    """Writes a text as it grows."""

    def __init__(self, out: TextIO) -> None:
        self.out, self.shown = out, ""

    def type(self, text: str) -> None:
        """What is new of the text; where a piece changed what came before it, all of it on a new line."""
        if not text.startswith(self.shown):
            self.out.write("\n")
            self.shown = ""
        self.out.write(text[len(self.shown) :])
        self.out.flush()
        self.shown = text

    def end(self) -> str:
        """Close the line; gives what was shown."""
        shown, self.shown = self.shown, ""
        if shown:
            self.out.write("\n")
        return shown


def print_answers(record: dict[str, Any], answers: Sequence[GeneratedText], *, as_json: bool, typed: str) -> None:
    """Every answer on a line, or as a JSON object with the fields of its prompt; not again what was typed."""
    for answer in answers:
        if as_json:
            sys.stdout.buffer.write(orjson.dumps({**record, **asdict(answer)}) + b"\n")
        elif answer.text != typed:
            sys.stdout.write(answer.text + "\n")
    sys.stdout.flush()


def answer_notes(answers: Sequence[GeneratedText], longest: int) -> list[str]:
    """What a reader of the answers should know: which were cut, and which have no text."""
    notes = []
    for what, some in (
        (
            f"cut at {count(longest, 'piece')} (--max-pieces)",
            [a for a in answers if not a.finished and a.pieces >= longest],
        ),
        ("cut where the positions of the model end", [a for a in answers if not a.finished and a.pieces < longest]),
        ("empty: the model ended at once (--min-pieces 1 makes it go on)", [a for a in answers if not a.text.strip()]),
    ):
        if some:
            whole = (
                "the answer is"
                if len(answers) == 1
                else f"{len(some):,} of {len(answers):,} answers {'is' if len(some) == 1 else 'are'}"
            )
            notes.append(f"{whole} {what}")
    return notes
