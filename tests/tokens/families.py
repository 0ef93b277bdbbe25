"""Four tiny tokenizers, one of each family, and texts that are hard on offsets."""

import functools

import tokenizers
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers, trainers

from factpin.tokens import Tokenizer
from factpin.tokens.small import build_tokenizer

CORPUS = [
    "Hello world, the café in Zürich opened in 2024 😀.",
    "谷爱凌出生于美国加利福尼亚州旧金山。北京大学的学生们去了上海。",
    "ﬁne Ⅳ ＡＢＣ don't stop 株式会社 ガ 한",
    "我爱 Python 3.11 和 BERT-base 模型！",
] * 4

SCRAPS = [
    *"abZéİß北京大学。，ﬁⅣＡ㍿한ﾞ０①½…—",
    *["Hello", "world", "café", "加利福尼亚", "don't", "[SEP]", "</s>", "<s>", "[UNK]", "##a", "▁", "Ġ", "▁a"],
    *[" ", "  ", "\t", "\n", "\r\n", "\u3000", "\u00a0", "\u2028", "\x1f"],
    *["\u0301", "\u0308", "\ufe0f", "\u200b", "\u200d", "\ufeff", "\x00", "\x07", "\ud800", "\ufffd", "\u00ad"],
    *["e\u0301", "n\u0303o", "\u1112\u1161\u11ab", "ｶﾞ", "☃", "😀", "❤\ufe0f"],
    *["👨\u200d👩\u200d👧", "👍🏽", "🇨🇳", "𠮷", "\u0e33", "ﷺ"],
]
soup = st.lists(st.one_of(st.sampled_from(SCRAPS), st.characters()), max_size=24).map("".join)


@functools.cache
def word_piece() -> Tokenizer:
    return build_tokenizer(CORPUS, 260)


@functools.cache
def byte_level() -> Tokenizer:
    library = tokenizers.Tokenizer(models.BPE())
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(
        vocab_size=340,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<s>", "</s>"],
        show_progress=False,
    )
    library.train_from_iterator(CORPUS, trainer)
    return Tokenizer(library, {"cls_token": "<s>", "sep_token": "</s>"})


@functools.cache
def unigram() -> Tokenizer:
    library = tokenizers.Tokenizer(models.Unigram())
    library.normalizer = normalizers.NFKC()
    library.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=140, special_tokens=["<unk>", "</s>"], unk_token="<unk>", show_progress=False
    )
    library.train_from_iterator(CORPUS, trainer)
    return Tokenizer(library, {"eos_token": "</s>"})


@functools.cache
def characters() -> Tokenizer:
    vocabulary = {char: i for i, char in enumerate(["[UNK]", *sorted(set("".join(CORPUS)))])}
    library = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    library.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    return Tokenizer(library)


FAMILIES = {"byte_level": byte_level, "characters": characters, "unigram": unigram, "word_piece": word_piece}
