"""The lines at the end of an extraction do not say that nothing is there where something is hidden."""

import pytest

from factpin.app.show.extract_notes import extract_notes
from factpin.extraction.request import Request
from factpin.extraction.summary import Summary

SIZE = "[dim]1 document, 9 characters"


@pytest.mark.parametrize(
    ("hidden", "unsure", "only", "lines"),
    [
        (0, 0, (), [f"{SIZE}. Nothing was found.[/]"]),
        (0, 0, ("facts", "events"), [f"{SIZE}. No facts or events were found.[/]"]),
        (2, 1, (), [f"{SIZE}. Nothing that the models are sure of was found.[/]",
                    "[yellow]hidden:[/] 2 facts and events less likely than 0.5 and 1 mention that the model is "
                    "not sure of (--min-score 0 shows all)"]),
        (1, 3, ("facts",), [f"{SIZE}. No facts that the models are sure of were found.[/]",
                            "[yellow]hidden:[/] 1 fact or event less likely than 0.5 (--min-score 0 shows all)"]),
        (0, 3, ("facts",), [f"{SIZE}. No facts were found.[/]"]),
    ],
)  # fmt: skip
def test_what_is_hidden_is_mentioned(hidden: int, unsure: int, only: tuple[str, ...], lines: list[str]) -> None:
    summary = Summary(documents=1, characters=9, hidden=hidden, unsure=unsure)
    assert list(extract_notes(summary, Request(only=only))) == lines
