"""One tiny model with random weights of every architecture that is promised to work."""

import copy

import torch
from transformers import (
    AlbertConfig,
    AutoModel,
    BartConfig,
    BertConfig,
    DebertaConfig,
    DebertaV2Config,
    DistilBertConfig,
    ElectraConfig,
    ErnieConfig,
    ModernBertConfig,
    MPNetConfig,
    RobertaConfig,
    RoFormerConfig,
    T5Config,
    XLMRobertaConfig,
    XLNetConfig,
)

from factpin.encoders import Encoder

WORDS = 120
USUAL = {
    "vocab_size": WORDS,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 66,
}
DEBERTA = {**USUAL, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False}
ENDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
HALF = {"encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "encoder_attention_heads": 4, "decoder_attention_heads": 4}

CONFIGS = {
    "albert": AlbertConfig(**USUAL, embedding_size=16),
    "bart": BartConfig(
        vocab_size=WORDS, d_model=32, encoder_layers=2, decoder_layers=2, max_position_embeddings=66, **HALF
    ),
    "bert": BertConfig(**USUAL),
    "deberta": DebertaConfig(**DEBERTA),
    "deberta_v2": DebertaV2Config(**DEBERTA),
    "distilbert": DistilBertConfig(
        vocab_size=WORDS, dim=32, n_layers=2, n_heads=4, hidden_dim=48, max_position_embeddings=66
    ),
    "electra": ElectraConfig(**USUAL, embedding_size=16),
    "ernie": ErnieConfig(**USUAL),
    "modernbert": ModernBertConfig(**USUAL, **ENDS, cls_token_id=1, sep_token_id=2, local_attention=8),
    "mpnet": MPNetConfig(**USUAL),
    "roberta": RobertaConfig(**USUAL),
    "roformer": RoFormerConfig(**USUAL, embedding_size=32),
    "t5": T5Config(vocab_size=WORDS, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4),
    "xlm_roberta": XLMRobertaConfig(**USUAL),
    "xlnet": XLNetConfig(vocab_size=WORDS, d_model=32, n_layer=2, n_head=4, d_inner=48),
}
LONGEST = {
    "mpnet": 64,  # positions are counted from padding_idx + 1
    "roberta": 64,
    "xlm_roberta": 64,
    "t5": None,
    "xlnet": None,
}


def tiny(name, tokenizer=None):
    torch.manual_seed(0)
    return Encoder(AutoModel.from_config(copy.deepcopy(CONFIGS[name])), tokenizer).eval()
