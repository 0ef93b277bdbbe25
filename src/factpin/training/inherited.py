"""Inherited: heads that an encoder's folder holds already. Who goes on with it goes on with them.

    of `factpin pretrain`   heads.safetensors: all that fits by name and shape
    of transformers         model.safetensors: the head that names hidden pieces, by the names of NAMES

New pieces of the vocabulary begin with a bias of 0. A folder without such a head (most encoders of sentences) gets one
that is drawn: its first steps teach the head more than the encoder.
"""

from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch.nn.functional import pad

from factpin.errors import BadModel
from factpin.training.learner import HEAD_WEIGHTS, WEIGHTS, Learners

WORDS = "head.words."  # of the learner's names
BIAS = WORDS + "bias"
NAMES = {  # dense, norm, bias of the head that names hidden pieces
    "albert": ("predictions.dense", "predictions.LayerNorm", "predictions.bias"),
    "bert": ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"),
    "distilbert": ("vocab_transform", "vocab_layer_norm", "vocab_projector.bias"),
    "mpnet": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
    "roberta": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
    "xlm-roberta": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
}
OLDER = {"weight": "gamma", "bias": "beta"}  # of norms, in checkpoints of the first years


def heads_in(folder: Path, kind: str) -> dict[str, Tensor]:
    """By the learner's names; empty where there are none. `kind` is the encoder's model type."""
    if (folder / HEAD_WEIGHTS).is_file():
        return _read(folder / HEAD_WEIGHTS)
    if kind not in NAMES or not (folder / WEIGHTS).is_file():
        return {}
    dense, norm, bias = NAMES[kind]
    of_theirs: dict[str, tuple[str, ...]] = {BIAS: (bias,)}
    for part in ("weight", "bias"):
        of_theirs[f"{WORDS}dense.{part}"] = (f"{dense}.{part}",)
        of_theirs[f"{WORDS}norm.{part}"] = (f"{norm}.{part}", f"{norm}.{OLDER[part]}")
    found = _read(folder / WEIGHTS, {name for each in of_theirs.values() for name in each})
    heads = {ours: found[name] for ours, each in of_theirs.items() for name in each if name in found}
    return heads if len(heads) == len(of_theirs) else {}


def inherit(model: Learners, heads: dict[str, Tensor]) -> bool:
    """Put them where they fit; tells whether hidden pieces are named by a head that has learned to."""
    own = model.learner.state_dict()
    if BIAS in heads and BIAS in own:
        heads = heads | {BIAS: pad(heads[BIAS], (0, max(0, len(own[BIAS]) - len(heads[BIAS]))))}  # (V,)
    fits = {name: value for name, value in heads.items() if name in own and own[name].shape == value.shape}
    model.learner.load_state_dict(fits, strict=False)
    return all(name in fits for name in own if name.startswith(WORDS))


def _read(path: Path, wanted: set[str] | None = None) -> dict[str, Tensor]:
    try:
        with safe_open(path, framework="pt") as stream:
            names = set(stream.keys())
            return {name: stream.get_tensor(name).float() for name in names & (wanted or names)}
    except SafetensorError as error:
        raise BadModel(f"{path}: cannot be read ({error}). Fetch or write it again, or take it away: then heads are "
                       "drawn anew.") from None  # fmt: skip
