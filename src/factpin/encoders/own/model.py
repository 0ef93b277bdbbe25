"""A network of our own behind transformers' interface: `AutoModel` loads its folder wherever factpin is imported.

    ids, mask, segments (B, N)  ->  last_hidden_state (B, N, D), and the last layer's attention (B, heads, N, N)

The network reads a text as an encoder does: all cells at once, or from left to right where it learned nothing else. A
decoder, heads and memory are no part of it; they lie in the same folder (`pretraining/folder.py`).
"""

from dataclasses import fields, replace
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from factpin.encoders.own.network import Network
from factpin.encoders.own.parts import NetworkConfig
from factpin.errors import BadModel

MODEL_TYPE = "factpin"


class OwnConfig(PretrainedConfig):  # type: ignore[misc]
    """The config of a network of our own, as transformers stores it."""

    model_type = MODEL_TYPE

    def __init__(self, network: dict[str, Any] | None = None, **common: Any) -> None:
        """`network` are the fields of a NetworkConfig; `common`, what transformers keeps in every config."""
        super().__init__(**common)
        self.network = network or {"vocabulary": 0}

    @property
    def design(self) -> NetworkConfig:
        known = {field.name for field in fields(NetworkConfig)}
        if unknown := sorted(self.network.keys() - known):
            raise BadModel(
                f"config.json: a network has no {unknown[0]!r}. Take the folder with the version that wrote it."
            )
        return NetworkConfig(**self.network)

    @property
    def hidden_size(self) -> int:
        return self.design.width

    @property
    def num_hidden_layers(self) -> int:
        return self.design.layers

    @property
    def num_attention_heads(self) -> int:
        return self.design.heads

    @property
    def max_position_embeddings(self) -> int | None:
        """None: distances are counted, and a text may be as long as it will."""
        return None if self.design.positions in ("buckets", "functional", "relative") else self.design.longest

    @property
    def type_vocab_size(self) -> int:
        return self.design.segments


class OwnModel(PreTrainedModel):  # type: ignore[misc]
    """A network of our own behind the interface of transformers' models."""

    config_class = OwnConfig
    base_model_prefix = ""
    _keys_to_ignore_on_load_unexpected = [r"^head\.", r"^network\.decoder_"]

    def __init__(self, config: OwnConfig) -> None:
        super().__init__(config)
        self.network = Network(replace(config.design, decoder_layers=0))
        self.post_init()

    def _init_weights(self, module: nn.Module) -> None:
        """The network has drawn its own."""

    def get_input_embeddings(self) -> nn.Embedding:
        return self.network.words

    def set_input_embeddings(self, table: nn.Embedding) -> None:
        self.network.words = table

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        output_attentions: bool = False,
    ) -> BaseModelOutput:
        """The signature is that of transformers' models."""
        real = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        hidden, p = self.network.read(input_ids, real.bool(), token_type_ids, weigh=output_attentions)
        return BaseModelOutput(last_hidden_state=hidden, attentions=None if p is None else (p,))


AutoConfig.register(MODEL_TYPE, OwnConfig)
AutoModel.register(OwnConfig, OwnModel)
