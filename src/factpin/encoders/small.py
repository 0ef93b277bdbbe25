"""A small BERT-shaped encoder with random weights: for tests, and for training from nothing."""

from transformers import BertConfig, BertModel

from factpin.encoders.encoder import Encoder
from factpin.tokens import Tokenizer


def small_encoder(
    vocab_size: int,
    width: int = 64,
    layers: int = 2,
    *,
    heads: int = 4,
    max_length: int = 512,
    dropout: float = 0.1,
    tokenizer: Tokenizer | None = None,
) -> Encoder:
    config = BertConfig(
        vocab_size=vocab_size,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=max_length,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        pad_token_id=0 if tokenizer is None else tokenizer.pad_id,
    )
    return Encoder(BertModel(config, add_pooling_layer=False), tokenizer)
