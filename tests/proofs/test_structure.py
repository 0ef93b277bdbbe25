"""The exact half of the proofs holds, proof by proof; and a proof that does not hold says so."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from factpin.objectives import OBJECTIVES, View, audit
from proofs import SYSTEMS, parity_more
from proofs.compare import Compared, Proof, summary
from proofs.leaks import caught, moves
from proofs.parity_more import nezha, transformer_xl
from proofs.structure import structure
from proofs.world import VOCABULARY, text

PROOFS = structure(SYSTEMS)


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: f"{proof.system}: {proof.checked}")
def test_a_proof_holds(proof: Proof) -> None:
    found = list(proof.compare())
    assert found
    for one in found:
        assert one.holds, str(one)


def test_every_row_of_the_table_belongs_to_one_method_and_passes_the_leak_test() -> None:
    rows = [row for rows in SYSTEMS.values() for row in rows]
    assert sorted(rows) == list(OBJECTIVES)
    assert {f"no leak: {row}" for row in rows} <= {proof.checked for proof in PROOFS}
    assert list(SYSTEMS) == sorted(SYSTEMS)


@pytest.mark.parametrize(("name", "compare"), [("sinusoid", transformer_xl), ("functional", nezha)])
def test_a_wrong_table_of_positions_is_a_difference(
    name: str, compare: Callable[[], Iterator[Compared]], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = getattr(parity_more, name)
    monkeypatch.setattr(parity_more, name, lambda *options: right(*options).flip(-1))
    assert not all(one.holds for one in compare())


def test_no_two_proofs_are_called_the_same() -> None:
    names = [(proof.system, proof.checked) for proof in PROOFS]
    assert len(names) == len(set(names)) > 90


def test_some_pairs_are_forbidden_wherever_something_is_hidden_from_somebody() -> None:
    for row in ("gpt", "xlnet", "mpnet", "glm_token", "t5", "unilm_sequence", "transformer_xl"):
        forbidden, _, _, allowed = moves(row)
        assert forbidden > 20 and allowed > 20


def test_a_fault_that_is_none_is_not_caught() -> None:
    found = list(caught("gpt", lambda view: view))
    assert [one.holds for one in found] == [True, False]
    assert "faulty views caught, of 10: got 0, wanted 10" in summary(found)


def test_a_summary_tells_what_went_wrong_first_and_else_the_largest_difference() -> None:
    near = [Compared("a", 1.5, 1.0, 1.0), Compared("b", 2e-6, 0.0, 1e-5), Compared("c", 7, 7), Compared("d", [1], [1])]
    assert summary(near) == "c: 7; a: 0.5 off, at most 1; 1 equal"
    assert summary([*near, Compared("e", "x", "y"), Compared("f", 1, 2)]) == "e: got x, wanted y"
    assert not Compared("not a number", float("nan"), 0.0, 1.0).holds


def test_the_world_is_the_same_every_time_and_has_what_every_row_needs() -> None:
    one, other = text(30, 2, before=3), text(30, 2, before=3)
    assert np.array_equal(one.ids, other.ids) and np.array_equal(one.before, other.before)
    for row in OBJECTIVES.values():
        view: View = row.view(text(30, 2, before=3), VOCABULARY, seed=0, epoch=0, index=0)
        assert audit(view).clean
