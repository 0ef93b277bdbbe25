"""Run an encoder with any mask and any positions, using the forward of transformers.

    ids        (B, N)       positions  (B, N) counted from 0      segments  (B, N)
    allowed    (B, N, N)    True where a token may attend
    extra      (B, N, E)    added to the word vectors, or None

The mask is passed as the numbers 0 and -inf: eager attention would add a boolean mask as 0 and 1, which hides nothing.
Free positions need a table of positions, as in BERT and its relatives. In RoBERTa and MPNet, positions start after the
padding index. MPNet also adds a bias by distance, which transformers computes from the index of the cell; the
difference to the correct bias is added to the mask. If an encoder has fewer segments, segments are taken modulo their
number: UniLM's 4 and 5 become 0 and 1.
"""

from typing import Any

import torch
from torch import Tensor

from factpin.encoders.encoder import Encoder
from factpin.encoders.rows import NAME
from factpin.errors import BadInput, BadModel
from factpin.layers.masks import Bools, Ints, additive
from factpin.layers.positions import buckets

ABSOLUTE = ("albert", "bert", "camembert", "distilbert", "electra", "ernie", "mpnet", "roberta", "xlm-roberta")
WITHOUT_SEGMENTS = ("distilbert", "mpnet")


def refuse_relative(encoder: Encoder) -> None:
    """Reject an encoder without free positions."""
    config = encoder.config
    kind = getattr(config, "position_embedding_type", "absolute")
    if config.model_type not in ABSOLUTE or kind != "absolute":
        raise BadModel(
            f"Objectives need an encoder whose positions are a table, one of {', '.join(ABSOLUTE)}; this one is "
            f"{config.model_type} with {'its own' if kind == 'absolute' else kind} positions. Use one of these, or "
            "train one of factpin's own networks."
        )
    if config._attn_implementation not in ("eager", "sdpa", NAME):
        raise BadModel(
            f"{config._attn_implementation} attention has no custom masks. Load the encoder with sdpa or eager."
        )


def read_cells(
    encoder: Encoder, ids: Ints, positions: Ints, segments: Ints, allowed: Bools, extra: Tensor | None = None
) -> Tensor:
    """Return hidden states (B, N, D)."""
    refuse_relative(encoder)
    words = encoder.model.get_input_embeddings()
    device, dtype = words.weight.device, words.weight.dtype
    if encoder.max_length is not None and positions.size and positions.max() >= encoder.max_length:
        raise BadInput(
            f"This encoder has {encoder.max_length} positions, a batch needs {positions.max() + 1}. Shorten the texts."
        )
    mask = additive(allowed, dtype).to(device)  # (B, 1, N, N)
    if encoder.config.model_type == "mpnet":
        mask = mask + _bias_difference(encoder, torch.as_tensor(positions, device=device))
    inputs: dict[str, Any] = {
        "attention_mask": mask,
        "position_ids": torch.as_tensor(positions + _first_position(encoder), device=device),
    }
    if encoder.config.model_type not in WITHOUT_SEGMENTS:
        known = max(1, encoder.config.type_vocab_size)
        inputs["token_type_ids"] = torch.as_tensor(segments % known, device=device)
    tokens = torch.as_tensor(ids, device=device)
    if extra is None:
        inputs["input_ids"] = tokens
    else:
        inputs["inputs_embeds"] = words(tokens) + extra
    hidden: Tensor = encoder.model(**inputs).last_hidden_state
    return hidden


def _first_position(encoder: Encoder) -> int:
    padding = getattr(encoder.model.embeddings, "padding_idx", None)
    return 0 if padding is None else int(padding) + 1


def _bias_difference(encoder: Encoder, positions: Tensor) -> Tensor:
    """The correct bias of MPNet minus the one that transformers computes from the index: (B, heads, N, N)."""
    table = encoder.model.encoder.relative_attention_bias
    count = encoder.config.relative_attention_num_buckets
    row = torch.arange(positions.shape[1], device=positions.device)[None]
    right, made = (
        table(buckets(at[:, None, :] - at[:, :, None], count=count)).permute(0, 3, 1, 2) for at in (positions, row)
    )
    return right - made
