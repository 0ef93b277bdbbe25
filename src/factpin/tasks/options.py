"""Checks that the training options of several tasks share."""

from factpin.errors import BadInput


def check_sizes(head_size: int, max_span: int | None, dropout: float) -> None:
    """Refuse sizes that no pointer head can have."""
    if head_size < 2 or head_size % 2:
        raise BadInput(f"head_size is {head_size}; expected an even number, 2 or more: rotary positions turn pairs.")
    if max_span is not None and max_span < 1:
        raise BadInput(f"max_span is {max_span}; expected at least 1.")
    check_dropout(dropout)


def check_dropout(dropout: float) -> None:
    """Refuse a dropout that is not a share."""
    if not 0 <= dropout < 1:
        raise BadInput(f"dropout is {dropout}; expected 0 or more and less than 1.")
