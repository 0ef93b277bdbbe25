"""Shrink the vocabulary of an encoder to the most frequent pieces of a corpus and all single characters.

Small encoders are mostly word embeddings. A smaller WordPiece vocabulary can still spell every word, in more pieces, if
all single characters stay, at the start of words and inside.
"""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import torch
from torch import nn

from factpin.encoders.encoder import Encoder
from factpin.errors import BadInput
from factpin.files import write_folder
from factpin.tokens import Tokenizer


def shrink_vocabulary(source: Path, texts: Iterable[str], size: int, target: Path) -> Path:
    """Write the encoder of `source` with `size` pieces (or the fewest that spell everything) to `target`."""
    encoder = Encoder.load(source)
    tokenizer = Tokenizer.load(source)
    spec = json.loads(tokenizer.to_json())
    if spec["model"]["type"] != "WordPiece":
        raise BadInput(f"{source}: its vocabulary is {spec['model']['type']}; only WordPiece can be made smaller.")
    kept = _kept(spec, _counts(tokenizer, texts), size)  # old numbers, in the order of the new ones
    new = {old: number for number, old in enumerate(kept)}
    spec["model"]["vocab"] = {p: new[old] for p, old in spec["model"]["vocab"].items() if old in new}
    for token in spec.get("added_tokens", []):
        token["id"] = new[token["id"]]
    _renumber(spec.get("post_processor") or {}, new)
    _take_rows(encoder, torch.tensor(kept))
    smaller = Tokenizer.from_json(json.dumps(spec), tokenizer.names)
    with write_folder(target) as folder:
        Encoder(encoder.model, smaller).save(folder)
    return target


def _counts(tokenizer: Tokenizer, texts: Iterable[str]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for text in texts:
        counts.update(tokenizer.encode(text).ids.tolist())
    return counts


def _kept(spec: dict, counts: Counter[int], size: int) -> list[int]:  # type: ignore[type-arg]
    vocabulary: dict[str, int] = spec["model"]["vocab"]
    special = {token["id"] for token in spec.get("added_tokens", [])}
    special |= {vocabulary[p] for p in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]") if p in vocabulary}
    letters = {n for p, n in vocabulary.items() if len(p.removeprefix("##")) == 1 and counts[n]}
    letters |= {n for p, n in vocabulary.items() if len(p.removeprefix("##")) == 1 and p.removeprefix("##").isascii()}
    chosen = special | letters
    for number, _ in counts.most_common():
        if len(chosen) >= size:
            break
        chosen.add(number)
    return sorted(chosen)


def _renumber(processor: dict, new: dict[int, int]) -> None:  # type: ignore[type-arg]
    """The numbers of special tokens inside the post-processor."""
    for token in processor.get("special_tokens", {}).values():
        token["ids"] = [new[old] for old in token["ids"]]
    for part in ("cls", "sep"):
        if part in processor:
            processor[part] = [processor[part][0], new[processor[part][1]]]


def _take_rows(encoder: Encoder, kept: torch.Tensor) -> None:
    old = encoder.model.get_input_embeddings()
    fresh = nn.Embedding(len(kept), old.weight.shape[1], padding_idx=None)
    fresh.weight = nn.Parameter(old.weight.detach()[kept].clone())
    encoder.model.set_input_embeddings(fresh)
    encoder.config.vocab_size = len(kept)
    pad = encoder.config.pad_token_id
    encoder.config.pad_token_id = None if pad is None else int((kept == pad).nonzero()[0])
