"""A small random network over the streams of a view, in numpy: enough to see what depends on what.

    h⁰ = E[id] + Σ_t P_t[position_t] + S[segment]
    hˡ = tanh(h + softmax(h K hᵀ, over the cells that may be seen) h V + h W)

Each layer has its own weights, shared by all streams; memory stays as it is. `log_p` gives ordinary ids alone.
"""

import numpy as np

from factpin.objectives import View

WIDTH, LAYERS = 6, 3
_chance = np.random.default_rng(0)
EMBED = _chance.normal(size=(240, WIDTH))
POSITION = _chance.normal(size=(2, 400, WIDTH))
SEGMENT = _chance.normal(size=(6, WIDTH))
WEIGHTS = _chance.normal(scale=0.5, size=(LAYERS, 3, WIDTH, WIDTH))
OUT = _chance.normal(size=(WIDTH, 240))


def states(view: View, changed: tuple[str, int] | None = None) -> dict[str, np.ndarray]:
    """The last layer's vectors (n, WIDTH) of every stream; the id of the cell `changed` is another one."""
    h = {}
    for name, one in view.streams.items():
        ids = one.tape.ids.copy()
        if changed is not None and changed[0] == name:
            ids[changed[1]] = (ids[changed[1]] + 1) % 240
        tables = sum(POSITION[t][one.positions[:, t]] for t in range(one.positions.shape[1]))
        h[name] = EMBED[ids] + tables + SEGMENT[one.segments]
    for K, V, W in WEIGHTS:
        h = {name: _layer(view, name, h, K, V, W) for name in h}
    return h


def _layer(view: View, name: str, h: dict[str, np.ndarray], K: np.ndarray, V: np.ndarray, W: np.ndarray) -> np.ndarray:
    sees = view.streams[name].sees
    if not sees or not len(h[name]):
        return h[name]
    keys = np.concatenate([h[seen] for seen in sees])
    allowed = np.concatenate([spec.dense() for spec in sees.values()], axis=1)
    s = np.where(allowed, h[name] @ K @ keys.T, -np.inf)
    p = np.exp(s - s.max(axis=1, keepdims=True))
    return np.tanh(h[name] + p / p.sum(axis=1, keepdims=True) @ keys @ V + h[name] @ W)


def log_p(view: View, name: str, ordinary: list[int]) -> float:
    """The sum of log p over the pieces that a stream is asked for."""
    logits = states(view)[name] @ OUT[:, ordinary]
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    labels = view.labels(name)
    asked = np.flatnonzero(np.isin(labels, ordinary))
    return float(sum(logs[i, ordinary.index(int(labels[i]))] for i in asked))
