"""The folder that `factpin pretrain` writes, and what is loaded from it again.

    config.json, model.safetensors     as transformers writes them, heads and decoder included where it has them
    tokenizer.json                     the vocabulary
    heads.json                         the rows that were learned
    heads.safetensors                  heads, and what transformers has no place for, by our own names
    generator/                         of ELECTRA: the small model that named the pieces

`load_pretrained` also takes folders of transformers that generate text: GPT, T5, BART, PEGASUS, Marian, XLNet.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from factpin.encoders import Encoder
from factpin.encoders.own.network import Network
from factpin.errors import BadInput, BadModel, pick
from factpin.objectives import ROWS, Objective, Vocabulary
from factpin.objectives.losses import Learner
from factpin.pretraining.head_names import CAUSAL, HEAD_NAMES
from factpin.pretraining.layouts import LAYOUTS, network_of, to_ours, to_theirs
from factpin.pretraining.learner import Beside, Learners, build_network, judges, on_encoder
from factpin.pretraining.readers import Plain
from factpin.pretraining.vocabulary import vocabulary_of
from factpin.tokens import Tokenizer

CONFIG, WEIGHTS = "config.json", "model.safetensors"
HEADS, HEAD_WEIGHTS = "heads.json", "heads.safetensors"
GENERATOR = "generator"
SPOKEN = {"bart": "bart", "marian": "transformer", "pegasus": "pegasus", "t5": "t5", "xlnet": "xlnet",
          **dict.fromkeys(CAUSAL, "gpt")}  # the rows of folders that were written elsewhere  # fmt: skip


def save_pretrained(model: Learners, folder: Path, tokenizer: Tokenizer) -> None:
    """Write all of it; nothing of the run that made it is lost but the optimiser."""
    folder.mkdir(parents=True, exist_ok=True)
    heads: dict[str, Any] = {"rows": list(model.rows)}
    if isinstance(model.encoder, Network):
        _save_network(model, folder, tokenizer)
    else:
        _save_encoder(model, model.encoder, folder)
        heads["beside"] = asdict(model.beside)
    if model.generator is not None and isinstance(model.generator.encoder, Plain):
        _save_generator(model.generator, model.generator.encoder.encoder, folder / GENERATOR)
    (folder / HEADS).write_text(json.dumps(heads, indent=1), encoding="utf-8")


def _save_encoder(model: Learners, encoder: Encoder, folder: Path) -> None:
    state = model.learner.state_dict()
    apart = {name: value for name, value in state.items() if not name.startswith(model.inside)}
    _write(folder / HEAD_WEIGHTS, apart)
    names = HEAD_NAMES.get(encoder.config.model_type)
    if names is None:
        encoder.save(folder)
        return
    taught = names_pieces(model.rows)
    heads = names.renamed({name: value for name, value in apart.items() if taught or "words" not in name})
    encoder.save(folder, base=names.base, heads=heads, architecture=names.class_for(heads))


def _save_generator(learner: Learner, generator: Encoder, folder: Path) -> None:
    names = HEAD_NAMES["electra"]
    heads = names.renamed({f"head.{name}": value for name, value in learner.head.state_dict().items()})
    shared = {f"{names.base}embeddings.{k}": v for k, v in generator.model.embeddings.state_dict().items()}
    generator.save(folder, base=names.base, heads={**heads, **shared}, architecture=names.class_for(heads))


def _save_network(model: Learners, folder: Path, tokenizer: Tokenizer) -> None:
    network, state, kind = model.encoder, model.learner.state_dict(), model.config["model_type"]
    if not isinstance(network, Network):
        raise BadInput(f"A Network was expected, got {type(network).__name__}.")
    theirs = to_theirs(kind, network.config, state)
    known = to_ours(kind, network.config, theirs).keys()
    _write(folder / WEIGHTS, theirs)
    _write(folder / HEAD_WEIGHTS, {name: value for name, value in state.items() if name not in known})
    tokenizer.save(folder, max_length=model.longest)
    config = {**model.config, "architectures": [LAYOUTS[kind].speaks] if LAYOUTS[kind].speaks else []}
    if kind == "xlnet":
        config["mem_len"] = network.config.memory
    if "network" in config:
        config["network"] = asdict(network.config)
    (folder / CONFIG).write_text(json.dumps(config, indent=1), encoding="utf-8")


def _write(path: Path, state: Mapping[str, Tensor]) -> None:
    whole = {key: value.detach().cpu().contiguous().clone() for key, value in state.items()}
    save_file(whole, path, metadata={"format": "pt"})


def names_pieces(rows: Mapping[str, Objective]) -> bool:
    """Whether one of the rows teaches the head for words."""
    return any(loss.head in ("words", "copy") for row in rows.values() if not judges(row) for loss in row.losses)


@dataclass(frozen=True, eq=False)
class PretrainedModel:
    """What `objectives.generate` asks: a reader with its heads, and the numbers of the pieces."""

    learner: Learner
    tokenizer: Tokenizer
    vocabulary: Vocabulary


def load_pretrained(folder: Path) -> PretrainedModel:
    """What `factpin pretrain` wrote, with the heads and the decoder that it learned by."""
    config, heads = read_json(folder / CONFIG), _read_heads(folder)
    rows, tokenizer = {row: pick(ROWS, row, kind="objective") for row in heads["rows"]}, Tokenizer.load(folder)
    if config["model_type"] in LAYOUTS:
        model = build_network(rows, config)
        state = network_weights(folder, config)
    else:
        model = on_encoder(rows, Encoder.load(folder), Beside(**heads.get("beside", {})))
        state = _weights(folder / HEAD_WEIGHTS) if (folder / HEAD_WEIGHTS).is_file() else {}
    missing, foreign = model.learner.load_state_dict(state, strict=False)
    missing = [name for name in missing if config["model_type"] in LAYOUTS or not name.startswith(model.inside)]
    if missing or foreign:
        raise BadModel(
            f"{folder}: {HEAD_WEIGHTS} does not fit its encoder: {', '.join((*missing, *foreign)[:3])}. Take the "
            f"folder as it was written."
        )
    model.learner.rows = frozenset(heads["rows"])
    return PretrainedModel(model.learner.eval(), tokenizer, vocabulary_of(tokenizer))


def network_weights(folder: Path, config: Mapping[str, Any]) -> dict[str, Tensor]:
    """All weights of a folder that holds a network of LAYOUTS, by the learner's names."""
    found = to_ours(config["model_type"], network_of(config), _weights(folder / WEIGHTS))
    return found | (_weights(folder / HEAD_WEIGHTS) if (folder / HEAD_WEIGHTS).is_file() else {})


def _read_heads(folder: Path) -> dict[str, Any]:
    if (folder / HEADS).is_file():
        return read_json(folder / HEADS)
    kind = read_json(folder / CONFIG)["model_type"]
    if kind not in SPOKEN:
        raise BadModel(
            f"{folder}: has no {HEADS}, and a model of type {kind} does not generate text. Expected a folder that "
            f"`factpin pretrain` wrote, or a model of transformers: {', '.join(sorted(SPOKEN))}."
        )
    return {"rows": [SPOKEN[kind]]}


def read_json(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise BadModel(f"{path.parent}: has no {path.name}. Expected a folder that `factpin pretrain` wrote.") from None
    except ValueError:
        raise BadModel(f"{path}: not JSON. Take the folder as it was written.") from None
    if not isinstance(record, dict):
        raise BadModel(f"{path}: expected an object of JSON. Take the folder as it was written.")
    return record


def _weights(path: Path) -> dict[str, Tensor]:
    try:
        return {name: value.float() for name, value in load_file(path).items()}
    except (SafetensorError, OSError) as error:
        raise BadModel(f"{path}: cannot be read ({str(error)[:80]}). Take the folder as it was written.") from None
