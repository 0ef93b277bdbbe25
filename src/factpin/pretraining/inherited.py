"""Inherited: heads that an encoder's folder holds already. Who goes on with it goes on with them.

    of `factpin pretrain`   heads.safetensors: heads by name and shape; a decoder as a whole or not at all
    of transformers         model.safetensors: the head that names hidden pieces, by its names (HEAD_NAMES)

Not taken: a head that names pieces by vectors of its own (untied), and the head for words beside ELECTRA, whose
generator named the pieces. New pieces of the vocabulary begin with a bias of 0.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch.nn.functional import pad

from factpin.encoders import Encoder
from factpin.errors import BadModel
from factpin.objectives import ROWS
from factpin.pretraining.folder import HEAD_WEIGHTS, HEADS, WEIGHTS, names_pieces
from factpin.pretraining.head_names import HEAD_NAMES
from factpin.pretraining.learner import Learners, head_activation

HEAD, WORDS = "head.", "head.words."  # what the learner's names begin with; other names are a decoder's
BIASES = (WORDS + "bias", "head.boundary.bias")  # (V,)
OLDER = {"weight": "gamma", "bias": "beta"}  # of norms, in checkpoints of the first years


def heads_in(folder: Path, encoder: Encoder) -> dict[str, Tensor]:
    """By the learner's names; empty where there are none. `encoder` is that of the folder."""
    if (folder / HEAD_WEIGHTS).is_file():
        rows = json.loads((folder / HEADS).read_bytes())["rows"] if (folder / HEADS).is_file() else []
        taught = not rows or names_pieces({row: ROWS[row] for row in rows if row in ROWS})
        return {k: v for k, v in kept_heads(folder).items() if taught or not k.startswith(WORDS)}
    names = HEAD_NAMES.get(encoder.config.model_type)
    if (
        names is None
        or names.words is None
        or not encoder.config.tie_word_embeddings
        or head_activation(encoder) is None
    ):
        return {}
    return _of_transformers(folder / WEIGHTS, *names.words) if (folder / WEIGHTS).is_file() else {}


def kept_heads(start: Path) -> dict[str, Tensor]:
    """Those that `prepare` wrote beside an encoder."""
    return _read(start / HEAD_WEIGHTS) if (start / HEAD_WEIGHTS).is_file() else {}


def inherit(model: Learners, heads: Mapping[str, Tensor]) -> bool:
    """Put them where they fit; returns whether hidden pieces are named by a head that has learned to."""
    own = model.learner.state_dict()
    grown = {name: _longer(heads[name], len(own[name])) for name in BIASES if name in heads and name in own}
    given = {**heads, **grown}
    fits = {name: value for name, value in given.items() if name in own and own[name].shape == value.shape}
    apart = {name for name in own if not name.startswith((HEAD, model.inside))}
    if not apart <= fits.keys():
        fits = {name: value for name, value in fits.items() if name.startswith(HEAD)}
    model.learner.load_state_dict(fits, strict=False)
    return all(name in fits for name in own if name.startswith(WORDS))


def fresh_bias(heads: Mapping[str, Tensor], first: int, end: int) -> dict[str, Tensor]:
    """The heads, with the biases of these pieces as they are at first."""
    changed = {name: heads[name].clone() for name in BIASES if name in heads}
    for bias in changed.values():
        bias[first:end] = 0
    return {**heads, **changed}


def _longer(bias: Tensor, size: int) -> Tensor:
    return pad(bias, (0, max(0, size - len(bias))))  # (size,)


def _of_transformers(weights: Path, dense: str, norm: str, bias: str) -> dict[str, Tensor]:
    theirs: dict[str, tuple[str, ...]] = {WORDS + "bias": (bias,)}
    for part in ("weight", "bias"):
        theirs[f"{WORDS}dense.{part}"] = (f"{dense}.{part}",)
        theirs[f"{WORDS}norm.{part}"] = (f"{norm}.{part}", f"{norm}.{OLDER[part]}")
    found = _read(weights, {name for names in theirs.values() for name in names})
    heads = {ours: found[name] for ours, names in theirs.items() for name in names if name in found}
    return heads if len(heads) == len(theirs) else {}


def _read(path: Path, wanted: set[str] | None = None) -> dict[str, Tensor]:
    try:
        with safe_open(path, framework="pt") as stream:
            names = set(stream.keys())
            return {name: stream.get_tensor(name).float() for name in names & (wanted or names)}
    except SafetensorError as error:
        raise BadModel(f"{path}: cannot be read ({error}). Fetch or write it again, or take it away: then heads are "
                       "drawn anew.") from None  # fmt: skip
