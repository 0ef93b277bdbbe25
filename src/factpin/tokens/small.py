"""A small WordPiece tokenizer trained on given texts: Chinese character by character, other words in pieces.

For tests and for encoders that are trained from nothing.
"""

from collections.abc import Iterable

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, processors, trainers

from factpin.tokens.sources import BERT_NAMES
from factpin.tokens.tokenizer import Tokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def build_tokenizer(texts: Iterable[str], vocab_size: int = 4000, *, lowercase: bool = True) -> Tokenizer:
    library = tokenizers.Tokenizer(models.WordPiece({}, unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocab_size, special_tokens=list(SPECIAL), show_progress=False, min_frequency=1
    )
    library.train_from_iterator(texts, trainer)
    library.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(token, SPECIAL.index(token)) for token in ("[CLS]", "[SEP]")]
    )
    return Tokenizer(library, BERT_NAMES)
