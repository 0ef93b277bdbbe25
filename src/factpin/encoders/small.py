"""Small encoders with random weights: BERT-shaped, for tests and for training from nothing; ELECTRA's generator."""

from transformers import BertConfig, BertModel, ElectraConfig, ElectraModel

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


def small_electra(encoder: Encoder, share: float) -> Encoder:
    """ELECTRA's generator: `share` of the width, heads as wide as they are, and the encoder's own input vectors."""
    whole: ElectraConfig = encoder.config
    heads = max(1, int(whole.num_attention_heads * share))
    width = heads * (whole.hidden_size // whole.num_attention_heads)
    config = ElectraConfig(**{
        **whole.to_dict(), "hidden_size": width, "num_attention_heads": heads,
        "intermediate_size": max(1, int(whole.intermediate_size * share)),
    })  # fmt: skip
    model = ElectraModel(config)
    del model.embeddings
    model.__dict__["embeddings"] = encoder.model.embeddings  # borrowed: among the weights of the encoder alone
    return Encoder(model, encoder.tokenizer)
