"""Limits from the command line."""

import pytest

from factpin.app.serve.limits import Limits, read_limits
from factpin.errors import BadInput, UnknownName


def test_limits_are_changed_by_name() -> None:
    assert read_limits([]) == Limits()
    changed = read_limits(["timeout=1.5", "waiting-requests=7"])
    assert (changed.timeout, changed.waiting_requests, changed.texts) == (1.5, 7, Limits().texts)


@pytest.mark.parametrize("change", ["texts", "texts=many", "texts=0", "texts=-1", "timeout=inf", "timeout=nan"])
def test_a_limit_is_a_number_above_zero(change: str) -> None:
    with pytest.raises(BadInput, match="--limit"):
        read_limits([change])


def test_an_unknown_limit_is_named() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'timeout'"):
        read_limits(["timout=3"])
