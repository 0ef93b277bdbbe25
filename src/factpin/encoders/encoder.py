"""Encoder: a small common interface to any transformers encoder.

    ids   (B, N) vocabulary numbers     mask  (B, N) True at tokens, False at padding
    encoder(ids, mask)        -> EncoderOutput(hidden (B, N, D))
    encoder(ids, mask, rows)  -> EncoderOutput(hidden, attention (M, heads, N)) for rows (M, 2)

Of a model with encoder and decoder (T5, BART) only the encoder is kept. Poolers are dropped. Code in the folder of a
model is never run. Attention is sdpa if the architecture supports it.
"""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel

from factpin.encoders.between import between
from factpin.encoders.output import EncoderOutput
from factpin.encoders.own import model as _own  # noqa: F401  registers factpin's own networks with transformers
from factpin.encoders.plain import PlainEncoder, refuse_longer
from factpin.encoders.quiet import quiet
from factpin.encoders.resolve import resolve
from factpin.encoders.rows import NAME, watching
from factpin.errors import BadInput, BadModel
from factpin.layers.dropout import put_in
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Bools, Ints
from factpin.tokens.sources import read_config
from factpin.words import count

ATTENTION = (
    None,
    "eager",
    "sdpa",
    "flex_attention",
)  # others run downloaded code, or may fall back to it
HALVES = {"t5": "T5EncoderModel", "mt5": "MT5EncoderModel"}  # classes that load only the encoder
LONGEST = 100_000  # a greater length in the config of a tokenizer means "no limit"


class Encoder(nn.Module):
    """A transformers encoder with its tokenizer."""

    def __init__(self, model: PreTrainedModel, tokenizer: Tokenizer | None = None, *, cap: int | None = None) -> None:
        """`cap` limits the length of a model with relative positions.

        `max_length` is the number of tokens that fit, including special tokens, or None if there is no limit.
        """
        super().__init__()
        if model.config.is_encoder_decoder:
            model = model.get_encoder()
        if getattr(model, "pooler", None) is not None:
            model.pooler = None
        put_in(model)
        self.model = model
        self.tokenizer = tokenizer
        self.max_length = _max_length(model, cap)
        self._knows_segments = _knows_segments(model)
        self.insert: nn.Module | None = None  # changes what a layer gives to the next one
        self.insert_after = 0

    @classmethod
    def load(cls, source: str | Path) -> "Encoder":
        """Load an encoder from a folder, a name in the catalogue, or the id of a model on the hub."""
        folder = resolve(source)
        refuse_foreign_attention(folder)
        tokenizer = Tokenizer.load(folder)
        with quiet():
            try:
                model, report = AutoModel.from_pretrained(
                    folder,
                    dtype=torch.float32,
                    trust_remote_code=False,
                    local_files_only=True,
                    output_loading_info=True,
                )
            except (OSError, ValueError, KeyError, RuntimeError) as error:
                raise BadModel(
                    f"{folder}: cannot be loaded as an encoder ({_first_line(error)}). Expected config.json of an "
                    f"architecture that transformers knows, and model.safetensors."
                ) from None
        missing = [name for name in report["missing_keys"] if _needed(name, model)]
        if missing:
            some = count(len(missing), "weight is", "weights are")
            raise BadModel(
                f"{folder}: {some} missing, such as {missing[0]}. The weights belong to "
                f"another architecture, or the file is incomplete: fetch or save the model again."
            )
        return cls(model, tokenizer, cap=_cap(folder)).eval()

    @classmethod
    def from_config(cls, folder: Path, tokenizer: Tokenizer | None = None) -> "Encoder":
        """An encoder with the config in `folder` and random weights. The default tokenizer is the one in `folder`."""
        folder = Path(folder)
        refuse_foreign_attention(folder)
        with quiet():
            try:
                config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
                model = AutoModel.from_config(config, dtype=torch.float32, trust_remote_code=False)
            except (OSError, ValueError, KeyError) as error:
                raise BadModel(
                    f"{folder}: no config.json of an encoder that transformers knows ({_first_line(error)})."
                ) from None
        return cls(model, tokenizer or Tokenizer.load(folder), cap=_cap(folder))

    @classmethod
    def of_plain(cls, plain: PlainEncoder) -> "Encoder":
        """The same encoder, computed by transformers: it can be trained and saved."""
        with quiet():
            config = AutoConfig.for_model(**plain.config.record)
            model = AutoModel.from_config(config, dtype=torch.float32, trust_remote_code=False)
        encoder = cls(model, plain.tokenizer)
        encoder.load_state_dict(plain.state_dict())
        return encoder.to(next(plain.parameters()).device).train(plain.training)

    def train(self, mode: bool = True) -> "Encoder":
        """Set the mode. Training on a CPU uses a faster attention with dropout."""
        if mode and self.config._attn_implementation == "sdpa":
            self._watched()
        super().train(mode)
        return self

    def _watched(self) -> None:
        self.model.set_attn_implementation(NAME)  # never changed back: another thread may be using it

    @property
    def config(self) -> PretrainedConfig:
        """The config of the transformers model."""
        return self.model.config

    @property
    def word_vectors(self) -> nn.Parameter:
        """The input embeddings (V, E)."""
        weight: nn.Parameter = self.model.get_input_embeddings().weight
        return weight

    @property
    def width(self) -> int:
        """The size D of the hidden states."""
        return int(self.config.hidden_size)

    def frame(self, ids: Ints) -> tuple[Ints, Bools]:
        """The ids with the model's special tokens around them, and a mask that is True at the ids of the text."""
        return self._tokens().frame(ids)

    def put_between(self, insert: nn.Module | None, after: int = 0) -> None:
        """Let `insert(hidden, ids, mask)` change the output of layer number `after` (from 1); None: nothing."""
        self.insert, self.insert_after = insert, after

    def _inserted(self, ids: Tensor, mask: Tensor) -> AbstractContextManager[None]:
        insert = self.insert
        if insert is None:
            return nullcontext()
        return between(self.model, self.insert_after, lambda hidden: insert(hidden, ids, mask))

    def forward(
        self, ids: Tensor, mask: Tensor, rows: Tensor | None = None, segments: Tensor | None = None
    ) -> EncoderOutput:
        """ids, mask, segments (B, N), rows (M, 2) -> hidden (B, N, D), attention (M, heads, N).

        Segments distinguish two texts in one input. A model without segments ignores them.
        """
        refuse_longer(ids.shape[1], self.max_length)
        pad = self.config.pad_token_id
        ids = ids.masked_fill(~mask, 0 if pad is None else pad)  # RoBERTa counts positions by what is not padding
        inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": mask.long()}
        if self.config.model_type == "xlnet":
            inputs["use_mems"] = False
        if segments is not None and self._knows_segments:
            inputs["token_type_ids"] = segments.masked_fill(~mask, 0)
        with self._inserted(ids, mask):
            return self._run(inputs, rows)

    def _run(self, inputs: dict[str, Any], rows: Tensor | None) -> EncoderOutput:
        if rows is None:
            return EncoderOutput(self.model(**inputs).last_hidden_state)
        if self.config._attn_implementation in ("sdpa", NAME):
            self._watched()
            with watching() as watch:
                hidden = self.model(**inputs).last_hidden_state
            return EncoderOutput(hidden, watch.rows(rows))
        output = self.model(**inputs, output_attentions=True)
        item, place = rows.unbind(dim=1)
        return EncoderOutput(output.last_hidden_state, output.attentions[-1][item, :, place])

    def batch(self, framed: list[Ints]) -> tuple[Tensor, Tensor]:
        """The ids and mask (B, N) of framed texts, padded on the right to the longest."""
        n = max((len(ids) for ids in framed), default=0)
        ids = np.full((len(framed), n), self._tokens().pad_id, np.int64)
        mask = np.zeros((len(framed), n), np.bool_)
        for b, one in enumerate(framed):
            ids[b, : len(one)] = one
            mask[b, : len(one)] = True
        device = next(self.parameters()).device
        return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)

    def save(
        self, folder: Path, *, base: str = "", heads: Mapping[str, Tensor] | None = None, architecture: str = ""
    ) -> None:
        """Save config.json, model.safetensors and the tokenizer, so that transformers can load them.

        `heads` are further weights of the transformers class `architecture`, by name. In that class, the names of the
        encoder's weights begin with `base`.
        """
        folder = Path(folder)
        if architecture:
            self.config.architectures = [architecture]
        self.save_config(folder)
        prefix = "encoder." if self.config.is_encoder_decoder else base
        state = {
            prefix + name: value.detach().cpu().contiguous().clone() for name, value in self.model.state_dict().items()
        }
        state |= {name: value.detach().cpu().contiguous().clone() for name, value in (heads or {}).items()}
        words = self.model.get_input_embeddings().weight
        if self.config.is_encoder_decoder:
            state["shared.weight"] = words.detach().cpu().contiguous().clone()
        save_file(state, folder / "model.safetensors", metadata={"format": "pt"})

    def save_config(self, folder: Path) -> None:
        """Save everything but the weights, as `from_config` needs it."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if self.config.model_type in HALVES:
            self.config.architectures = [HALVES[self.config.model_type]]
        self.config.save_pretrained(folder)
        if self.tokenizer is not None:
            self.tokenizer.save(folder, max_length=self.max_length)

    def _tokens(self) -> Tokenizer:
        if self.tokenizer is None:
            raise BadInput("This encoder has no tokenizer. Give it one: Encoder(model, tokenizer).")
        return self.tokenizer


def _max_length(model: PreTrainedModel, cap: int | None) -> int | None:
    places = getattr(model.config, "max_position_embeddings", None)
    if places is None or places <= 0:
        return cap
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return int(places) - int(module.padding_idx) - 1  # RoBERTa counts positions from padding_idx + 1
    return int(places)


def _knows_segments(model: PreTrainedModel) -> bool:
    """Whether a model has more than one segment."""
    kinds = getattr(model.config, "type_vocab_size", 2)
    return kinds > 1 and "token_type_ids" in signature(model.forward).parameters


def refuse_foreign_attention(folder: Path) -> None:
    """Reject a config with an attention kernel that transformers would download and run."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return  # transformers reports what is wrong with it
    if isinstance(config, dict) and "configuration_files" in config:
        raise BadModel(f"{folder}/config.json: configuration_files refers to other configs, which are not checked. "
                       f"Remove the line.")  # fmt: skip
    for key in ("_attn_implementation", "attn_implementation", "_attn_implementation_internal"):
        if isinstance(config, dict) and config.get(key) not in ATTENTION:
            raise BadModel(f"{folder}/config.json: {key} is {config[key]!r}, which is external code and never run. "
                           f"Remove the line.")  # fmt: skip


def _cap(folder: Path) -> int | None:
    length = read_config(folder).get("model_max_length")
    return int(length) if isinstance(length, int | float) and 0 < length < LONGEST else None


def _needed(name: str, model: PreTrainedModel) -> bool:
    """Whether a weight is used in encoding: not in a pooler or decoder, and not tied to the word vectors."""
    unused = name.startswith(("pooler.", "decoder.", "lm_head."))
    tied = model.config.is_encoder_decoder and name.endswith("embed_tokens.weight")
    return not (unused or tied)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200]
