"""Structure: the exact half of the proofs as one list, method by method."""

from collections.abc import Iterator
from functools import partial

from proofs.compare import Proof
from proofs.faults import FAULTS
from proofs.folders import FOLDERS
from proofs.golden import GOLDEN
from proofs.leaks import LAYERS, VIEWS, caught, no_leak
from proofs.lengths import blank_lengths
from proofs.own_folders import OWN_FOLDERS
from proofs.parity import PARITY, boolean_masks
from proofs.parity_more import PARITY_MORE
from proofs.segments import relative_segments
from proofs.statistics import STATISTICS
from proofs.sums import FACTORED, open_gpt_does_not, sums_to_one

NETWORK = f"audit of {VIEWS} views; a network of {LAYERS} layers, one id changed"


def structure(systems: dict[str, tuple[str, ...]]) -> list[Proof]:
    """The proofs of these methods, given with their rows."""
    return [proof for system, rows in systems.items() for proof in _of(system, rows)]


def _of(system: str, rows: tuple[str, ...]) -> Iterator[Proof]:
    for row in rows:
        yield Proof(system, f"no leak: {row}", NETWORK, partial(no_leak, row))
    for row, fault in FAULTS:
        if row in rows:
            words = fault.__name__.replace("_", " ").removeprefix(f"{system} ")
            yield Proof(system, f"control: {row} {words}", f"audit of {VIEWS} views", partial(caught, row, fault))
    if system in GOLDEN:
        yield Proof(system, "golden example", "worked by hand", GOLDEN[system])
    if system in STATISTICS:
        yield Proof(system, "sampler statistics", "theory, three standard errors", STATISTICS[system])
    for row in rows:
        if row in FACTORED:
            yield Proof(system, f"sums to one: {row}", "all fillings, double precision", partial(sums_to_one, row))
    references = PARITY | PARITY_MORE
    if system in references:
        reference, compare = references[system]
        yield Proof(system, "parity", reference, compare)
    written = FOLDERS | OWN_FOLDERS
    if system in written:
        reference, compare = written[system]
        yield Proof(system, "folder of the command", reference, compare)
    if system == "gpt":
        yield Proof(system, "control: a network that sees what it is asked", "the sum", open_gpt_does_not)
    if system == "bert":
        yield Proof(system, "control: boolean masks hide nothing", "BertModel, eager attention", boolean_masks)
    if system == "glm":
        yield Proof(system, "the length of a blank is not told", "the same network, longer blanks", blank_lengths)
    if system == "xlnet":
        yield Proof(system, "segments are relative", "the same network, segments renamed", relative_segments)
