"""Golden examples: worked by hand, with the choice fixed: ids, positions, masks and labels as they must be.

x1, x2, … are the ids 11, 12, …; M is the mask, S the start of a blank, E its end.
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch

from factpin.layers.masks import Bools, permuted
from factpin.layers.positions import distances, shift
from factpin.objectives import Text, View, pairs
from factpin.objectives.choose import Choose
from factpin.objectives.cloze import Cloze
from factpin.objectives.electra import replaced
from factpin.objectives.glm import GLM
from factpin.objectives.mass import MASS
from factpin.objectives.mpnet import MPNet
from factpin.objectives.objective import Declare
from factpin.objectives.pegasus import Pegasus
from factpin.objectives.spoil import Rates
from factpin.objectives.t5 import T5
from factpin.objectives.unilm import sequence
from proofs.compare import Compared
from proofs.world import VOCABULARY as V

M, S, E = V.mask, V.start, V.end
ALL_MASKED = Rates(1.0, 0.0)


def plain(n: int, *ends: int) -> Text:
    """Pieces 11, 12, …: x1 is 11."""
    return Text(np.arange(11, 11 + n), np.arange(n), np.array([*ends, n]))


def fixed(*groups: list[int]) -> Choose:
    """A sampler that always chooses these places."""
    return lambda units, budget, chance: [np.array(group) for group in groups]  # noqa: ARG005


def run(declare: Declare, x: Text, seed: int = 0) -> View:
    return declare(x, V, np.random.default_rng(seed))


def rows(mask: Bools) -> list[str]:
    return ["".join("01"[cell] for cell in row) for row in mask.astype(int)]


def xlnet() -> Iterator[Compared]:
    """Order 3, 2, 4, 1 behind one context cell c; columns c, 1, 2, 3, 4."""
    content, query = permuted(np.array([0, 4, 2, 1, 3]), np.array([1, 2, 3, 4]))
    yield Compared("content", rows(content.dense()), ["10000", "11111", "10110", "10010", "10111"])
    yield Compared("query", rows(query.dense()), ["10111", "10010", "10000", "10110"])


def mpnet() -> Iterator[Compared]:
    """Targets x4, x6, x2 in this order; every row sees each position once."""
    drawn = (run(MPNet(fixed([1, 3, 5]), rates=ALL_MASKED), plain(6), seed) for seed in range(200))
    view = next(v for v in drawn if v.streams["query"].positions[:, 0].tolist() == [4, 6, 2])
    content, query = view.streams["content"], view.streams["query"]
    cells = [1, 2, 3, 5, 6, 7, 8, 9, 10]  # without <s> and </s>
    yield Compared("content ids", content.tape.ids[cells].tolist(), [11, 13, 15, 14, 16, 12, M, M, M])
    yield Compared("content positions", content.positions[cells, 0].tolist(), [1, 3, 5, 4, 6, 2, 4, 6, 2])
    yield Compared("query ids", query.tape.ids.tolist(), [M, M, M])
    yield Compared("labels", view.labels("query").tolist(), [14, 16, 12])
    seen, inner = query.sees["content"].dense(), content.sees["content"].dense()
    yield Compared("query rows", rows(seen[:, cells]), ["111000111", "111100011", "111110001"])
    alike = ["111000111"] * 3
    wanted = [*alike, "111100011", "111110001", "111111000", *alike]
    yield Compared("content rows", rows(inner[np.ix_(cells, cells)]), wanted)
    for name, mask in (("query", seen), ("content", inner)):
        positions = [sorted(content.positions[row, 0].tolist()) for row in mask]
        yield Compared(f"{name} rows that see each position once", positions.count(list(range(8))), len(mask))


def glm() -> Iterator[Compared]:
    """Blanks [x3] and [x5 x6], the second filled first."""
    drawn = (run(GLM(fixed([2], [4, 5])), plain(6), seed) for seed in range(50))
    view = next(v for v in drawn if v.labels("content")[6] == 15)
    content, labels = view.streams["content"], view.labels("content").tolist()
    yield Compared("ids", content.tape.ids.tolist(), [V.cls, 11, 12, M, 14, M, S, 15, 16, S, 13])
    yield Compared("first positions", content.positions[:, 0].tolist(), [0, 1, 2, 3, 4, 5, 5, 5, 5, 3, 3])
    yield Compared("second positions", content.positions[:, 1].tolist(), [0, 0, 0, 0, 0, 0, 1, 2, 3, 1, 2])
    yield Compared("labels", labels, [-100] * 6 + [15, 16, E, 13, E])
    q, k = np.indices((11, 11))
    yield Compared("mask", rows(content.sees["content"].dense()), rows((k < 6) | ((k <= q) & (q >= 6))))


def unilm() -> Iterator[Compared]:
    """[SOS] a b [EOS] c d [EOS]; d and the last [EOS] are hidden."""
    declare = Cloze(fixed([3, 4]), rates=ALL_MASKED, pair=pairs.halves, mask=sequence, segments=(4, 5), stop=True)
    view = run(declare, plain(4, 2))
    content = view.streams["content"]
    yield Compared("ids", content.tape.ids.tolist(), [V.cls, 11, 12, V.sep, 13, M, M])
    yield Compared("labels", view.labels("content").tolist(), [-100] * 5 + [14, V.sep])
    seen = rows(content.sees["content"].dense())
    yield Compared("mask", seen, ["1111000"] * 4 + ["1111100", "1111110", "1111111"])
    yield Compared("segments", content.segments.tolist(), [4, 4, 4, 4, 5, 5, 5])


def mass() -> Iterator[Compared]:
    """x3 … x6 of eight are hidden."""
    view = run(MASS(fixed([2, 3, 4, 5]), rates=ALL_MASKED), plain(8))
    encoder, decoder = view.streams["encoder"], view.streams["decoder"]
    yield Compared("encoder", encoder.tape.ids.tolist(), [V.cls, 11, 12, M, M, M, M, 17, 18, V.sep])
    yield Compared("decoder", decoder.tape.ids.tolist(), [12, 13, 14, 15])
    yield Compared("its positions", decoder.positions[:, 0].tolist(), [2, 3, 4, 5])
    yield Compared("labels", view.labels("decoder").tolist(), [13, 14, 15, 16])
    yield Compared("decoder rows", rows(decoder.sees["decoder"].dense()), ["1000", "1100", "1110", "1111"])
    first = run(MASS(fixed([0, 1])), plain(4)).streams["decoder"]
    yield Compared("decoder of the first run", first.tape.ids.tolist(), [V.cls, 11])


def t5() -> Iterator[Compared]:
    """Thank you [for inviting] me to your party [last] week: a third sentinel, since the text ends with no blank."""
    x, y, z = V.sentinels[:3]
    view = run(T5(fixed([2, 3], [8])), plain(10))
    yield Compared("sentinels", [x, y], [V.size - 1, V.size - 2])
    yield Compared("encoder", view.streams["encoder"].tape.ids.tolist(), [11, 12, x, 15, 16, 17, 18, y, 20, E])
    yield Compared("labels", view.labels("decoder").tolist(), [x, 13, 14, y, 19, z, E])
    yield Compared("decoder", view.streams["decoder"].tape.ids.tolist(), [V.pad, x, 13, 14, y, 19, z])
    last = run(T5(fixed([2], [8, 9])), plain(10)).labels("decoder").tolist()
    yield Compared("labels of a text that ends with a blank", last, [x, 13, y, 19, 20, E])


def spanbert() -> Iterator[Compared]:
    """Cells 5 to 7 are hidden; 4 and 8 are read. The first and the last piece have one neighbour: not asked."""
    view = run(Cloze(fixed([0], [4, 5, 6], [9]), rates=Rates(by="group"), spans="between"), plain(10))
    yield Compared("spans", view.spans.tolist(), [[5, 8]])
    yield Compared("labels", view.labels("content")[5:8].tolist(), [15, 16, 17])


def pegasus() -> Iterator[Compared]:
    """a b. a c. d e.: the first two say as much of the rest, and the first one wins."""
    x = Text(np.array([11, 12, 11, 13, 14, 15]), np.arange(6), np.array([2, 4, 6]))
    view = run(Pegasus(rates=Rates(1.0, 0.0, "group"), cloze=0.0), x)
    yield Compared("encoder", view.streams["encoder"].tape.ids.tolist(), [V.gap, 11, 13, 14, 15, E])
    yield Compared("labels", view.labels("decoder").tolist(), [11, 12, E])
    yield Compared("decoder", view.streams["decoder"].tape.ids.tolist(), [V.pad, 11, 12])


def transformer_xl() -> Iterator[Compared]:
    """Two queries behind one remembered cell: the shift lays out distances (1, 0, -) and (2, 1, 0)."""
    at = distances(2, 3, "left")
    laid = shift(at.expand(2, 3).double(), 3, "left")
    yield Compared("distances asked for", at.tolist(), [2, 1, 0])
    yield Compared("row 0", laid[0, :2].tolist(), [1, 0])
    yield Compared("row 1", laid[1].tolist(), [2, 1, 0])
    i, j = torch.meshgrid(torch.arange(5), torch.arange(9), indexing="ij")
    both = shift(distances(5, 9, "both").expand(5, 14).double(), 9, "both")
    yield Compared("both ways", both.tolist(), (i + 4 - j).tolist())


def electra() -> Iterator[Compared]:
    """x1 x2 x3 x4 with x2 and x4 filled: x2 by itself, which counts as original."""
    view = run(Cloze(fixed([1, 3]), rates=Rates(0.85, 0.0)), plain(4))
    filled, label = replaced(view, np.array([12, 99]))
    yield Compared("read", filled[1:-1].tolist(), [11, 12, 13, 99])
    yield Compared("false", label[1:-1].tolist(), [False, False, False, True])


GOLDEN: dict[str, Callable[[], Iterator[Compared]]] = {
    "electra": electra,
    "glm": glm,
    "mass": mass,
    "mpnet": mpnet,
    "pegasus": pegasus,
    "spanbert": spanbert,
    "t5": t5,
    "transformer_xl": transformer_xl,
    "unilm": unilm,
    "xlnet": xlnet,
}
