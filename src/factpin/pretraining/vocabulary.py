"""The vocabulary of a pretraining run: a tokenizer is trained, or a given one extended; marks get numbers and rows.

    train_tokenizer    texts -> WordPiece (Chinese by characters, other words in pieces) or byte-level BPE
    frequent           the words of a corpus that a WordPiece vocabulary cuts up or does not know, dearest first
    extended           these words as pieces of their own
    with_marks         the special tokens that an objective needs and the tokenizer lacks
    vocabulary_of      which numbers are special, and which say little: PEGASUS compares sentences without these
    grow               rows for all new numbers: a word's is the mean of its pieces' rows, a mark's is drawn like others

A word costs (pieces - 1) x (how often it occurs). Chinese words are not candidates: WordPiece reads Chinese character
by character. Unknown characters are; nothing tells what their rows should be, so these are drawn as a mark's is.

Training twice gives the same pieces with the same numbers. The library's trainer numbers the letters inside words in
the order of a hash table, and ties between merges go by these numbers; so the letters are counted and numbered here.

What says little is punctuation, and the Chinese and English function words of a list, where the tokenizer has them as
one piece.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tokenizers
import torch
from tokenizers import models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor, nn

from factpin.corpora import vocabulary as doctor
from factpin.documents import Document
from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.objectives import Vocabulary
from factpin.pretraining.config import Kind
from factpin.pretraining.needs import BLANKS, MARKS
from factpin.tokens import Tokenizer
from factpin.tokens.small import SPECIAL
from factpin.tokens.sources import BERT_NAMES

SENTINELS = 100
LEAST = 5  # occurrences of a word that gets a piece of its own
SPLIT = 3  # pieces of a word that is cut up too much
LETTERS = 0.7  # largest share of a trained vocabulary that single characters take
COUNTED = 2_000_000  # different words that are counted at once; then the rarest are forgotten
PARTS = {"pad": ("pad_token",), "cls": ("cls_token", "bos_token"), "sep": ("sep_token", "eos_token"),
         "mask": ("mask_token",), "end": ("eos_token", "sep_token")}  # fmt: skip
PLANE = range(1 << 16)  # the characters among which punctuation is looked for
SAYING_LITTLE = """
    a an and are as at be been but by can for from had has have he her his if in into is it its more no not of on one or
    other our she so such than that the their them then there these they this those to was we were when which who will
    with would you
    的 了 是 在 和 与 及 或 而 但 也 都 就 被 把 对 从 于 以 之 其 这 那 有 为 由 至 并 且
    因 所 等 此 则 还 又 很 我 你 他 她 它 们 个 這 與 並 從 對 還 為 們 個
"""
INSIDE = "##"  # before a piece that does not begin a word
_WORD = re.compile(r"[^\W\d_]+")
_NO_WORD = re.compile(
    r"[^\W\u3040-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]{101,}"
)  # WordPiece reads 100 letters at most


def train_tokenizer(
    texts: Callable[[], Iterable[str]],
    size: int,
    kind: Kind = "wordpiece",
    *,
    lowercase: bool = True,
    pad_second: bool = False,
) -> Tokenizer:
    """A tokenizer of `size` pieces. The texts are asked for twice; runs of letters that are no words are left out.

    `pad_second`: padding is piece 1, not piece 0.
    """
    train = _word_pieces if kind == "wordpiece" else _byte_pairs
    special = (SPECIAL[1], SPECIAL[0], *SPECIAL[2:]) if pad_second else tuple(SPECIAL)
    library = train(lambda: (_NO_WORD.sub(" ", text) for text in texts()), size, lowercase, special)
    if library.get_vocab_size() <= len(SPECIAL):
        raise BadInput("There is no text to train a tokenizer on. Check the corpus with `factpin doctor`.")
    library.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(token, special.index(token)) for token in ("[CLS]", "[SEP]")]
    )
    return Tokenizer(library, BERT_NAMES)


def _word_pieces(
    texts: Callable[[], Iterable[str]], size: int, lowercase: bool, special: Sequence[str]
) -> tokenizers.Tokenizer:
    library = tokenizers.Tokenizer(models.WordPiece({}, unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    letters, inside = _letters(library, texts(), max(1, int(LETTERS * size)))
    fixed = [*special, *(INSIDE + letter for letter in inside)]
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=fixed, show_progress=False, min_frequency=2,
        initial_alphabet=letters, limit_alphabet=len(letters),
    )  # fmt: skip
    library.train_from_iterator(texts(), trainer)
    trained = tokenizers.Tokenizer(models.WordPiece(library.get_vocab(), unk_token="[UNK]"))
    trained.normalizer, trained.pre_tokenizer = library.normalizer, library.pre_tokenizer
    trained.add_special_tokens(list(special))  # and these alone: a letter inside a word is none
    return trained


def _letters(library: tokenizers.Tokenizer, texts: Iterable[str], most: int) -> tuple[list[str], list[str]]:
    """The most frequent letters of the texts, and those of them that occur inside a word, both in order."""
    seen, inside = Counter[str](), Counter[str]()
    for text in texts:
        words = library.pre_tokenizer.pre_tokenize_str(library.normalizer.normalize_str(text))
        seen.update("".join(word for word, _ in words))
        inside.update("".join(word[1:] for word, _ in words))
    kept = sorted(sorted(seen, key=lambda letter: (-seen[letter], letter))[:most])
    return kept, [letter for letter in kept if inside[letter]]


def _byte_pairs(
    texts: Callable[[], Iterable[str]], size: int, lowercase: bool, special: Sequence[str]
) -> tokenizers.Tokenizer:
    library = tokenizers.Tokenizer(models.BPE(unk_token=None))
    library.normalizer = normalizers.Sequence([normalizers.NFC(), *([normalizers.Lowercase()] * lowercase)])
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=list(special), show_progress=False, min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    library.train_from_iterator(texts(), trainer)
    return library


def with_marks(tokenizer: Tokenizer, wanted: Iterable[str]) -> Tokenizer:
    """The tokenizer with a special token for each wanted mark; padding and frames are always there."""
    wanted = {"pad", "cls", "sep", *wanted}
    library = _copy(tokenizer)
    missing = {
        name: f"[{name.upper()}]" for name in MARKS if name in wanted and _number(tokenizer, library, name) is None
    }
    blanks = [_blank(k) for k in range(SENTINELS)] if BLANKS in wanted else []
    fresh = [token for token in (*missing.values(), *blanks) if library.token_to_id(token) is None]
    if not fresh:
        return tokenizer
    library.add_special_tokens([tokenizers.AddedToken(token, special=True, normalized=False) for token in fresh])
    names = {PARTS[name][0]: token for name, token in missing.items() if name in PARTS and name != "end"}
    return Tokenizer(library, {**tokenizer.names, **names})


def vocabulary_of(tokenizer: Tokenizer) -> Vocabulary:
    """Which numbers of a tokenizer are special. A mark that it lacks, since nobody asks for it, is padding."""
    library = _copy(tokenizer)
    found = {name: _number(tokenizer, library, name) for name in MARKS}
    pad = found["pad"]
    if pad is None:
        raise BadInput("The tokenizer has no padding token: a piece of text would be taken for it. Use `with_marks`.")
    number = {name: pad if i is None else i for name, i in found.items()}
    blanks = [library.token_to_id(_blank(k)) for k in range(SENTINELS)]
    special = [i for i, token in library.get_added_tokens_decoder().items() if token.special]
    return Vocabulary(
        size=tokenizer.vocab_size,
        pad=pad,
        cls=number["cls"],
        sep=number["sep"],
        mask=number["mask"],
        gap=number["gap"],
        tail=number["tail"],
        start=number["start"],
        end=number["end"],
        sentinels=tuple(blank for blank in blanks if blank is not None),
        others=tuple(i for i in special if i != tokenizer.unknown_id),
        stop=_saying_little(library) - {tokenizer.unknown_id, *special},
    )


def _saying_little(library: tokenizers.Tokenizer) -> frozenset[int]:
    """Function words in front or behind a space, small or capitalised, and punctuation also behind a letter."""
    words = SAYING_LITTLE.split()
    asked = [(before, word) for word in (*words, *map(str.title, words)) for before in ("", " ")]
    marks = [mark for mark in map(chr, PLANE) if unicodedata.category(mark).startswith("P")]
    asked += [(before, mark) for mark in marks for before in ("", " ", "x")]
    found = set()
    said = library.encode_batch([before + word for before, word in asked], add_special_tokens=False)
    for (before, word), one in zip(asked, said, strict=True):
        text = before + word
        of_it = [i for i, (a, b) in zip(one.ids, one.offsets, strict=True) if text[a:b].strip() == word]
        found |= set(of_it if len(of_it) == 1 else [])  # the bytes of a character all say that they are it
    return frozenset(found)


def _number(tokenizer: Tokenizer, library: tokenizers.Tokenizer, name: str) -> int | None:
    """The number of a mark: of the token that plays its part, of the frame, or of its own name."""
    tokens = [tokenizer.names[part] for part in PARTS.get(name, ()) if part in tokenizer.names]
    for token in (*tokens, f"[{name.upper()}]", f"<{name}>"):
        number = library.token_to_id(token)
        if number is not None:
            return int(number)
    framed = {"cls": tokenizer.prefix[:1], "sep": tokenizer.suffix[-1:], "end": tokenizer.suffix[-1:]}
    return framed[name][0] if framed.get(name) else None


def _blank(k: int) -> str:
    return f"[BLANK{k}]"


def _copy(tokenizer: Tokenizer) -> tokenizers.Tokenizer:
    library = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    library.encode_special_tokens = True
    return library


def frequent(tokenizer: Tokenizer, texts: Iterable[str], count: int) -> list[str]:
    """At most `count` words that are cut into SPLIT pieces or more, or unknown, by what they cost."""
    library = _word_piece(tokenizer)
    seen: Counter[str] = Counter()
    for text in texts:
        text = library.normalizer.normalize_str(text) if library.normalizer else text
        seen.update(word for word, _ in library.pre_tokenizer.pre_tokenize_str(text) if _WORD.fullmatch(word))
        if len(seen) > COUNTED:
            seen = Counter(dict(seen.most_common(COUNTED // 2)))
    costs: dict[str, int] = {}
    for word, times in seen.items():
        if times < LEAST:
            continue
        pieces = library.encode(word, add_special_tokens=False).ids
        if tokenizer.unknown_id in pieces:
            costs[word] = times * len(word)
        elif len(pieces) >= SPLIT:
            costs[word] = times * (len(pieces) - 1)
    return sorted(costs, key=lambda word: (-costs[word], word))[:count]


def extended(tokenizer: Tokenizer, words: Sequence[str]) -> tuple[Tokenizer, dict[int, tuple[int, ...]]]:
    """The tokenizer with these words, and of each new number the pieces that it stands for, where all are known."""
    library = _word_piece(tokenizer)
    spec = json.loads(library.to_str())
    known: dict[str, int] = spec["model"]["vocab"]
    new = [word for word in dict.fromkeys(words) if word not in known]
    pieces = {word: tuple(library.encode(word, add_special_tokens=False).ids) for word in new}
    numbers = {word: tokenizer.vocab_size + k for k, word in enumerate(new)}
    # A tokenizer that is loaded numbers its special tokens anew, behind the vocabulary, unless they are in it.
    known.update({token["content"]: token["id"] for token in spec["added_tokens"]})
    known.update(numbers)
    return (
        Tokenizer.from_json(json.dumps(spec), tokenizer.names),
        {numbers[word]: pieces[word] for word in new if tokenizer.unknown_id not in pieces[word]},
    )


def _word_piece(tokenizer: Tokenizer) -> tokenizers.Tokenizer:
    library = _copy(tokenizer)
    kind = type(library.model).__name__
    if kind != "WordPiece" or library.pre_tokenizer is None:
        raise BadInput(f"The vocabulary is {kind}; only WordPiece can be extended with words. Leave --extend out.")
    return library


def grow(encoder: Encoder, tokenizer: Tokenizer, made_of: Mapping[int, Sequence[int]], seed: int) -> Encoder:
    """The encoder with a row for every number of the tokenizer. Rows that were there stay as they are."""
    old = encoder.model.get_input_embeddings().weight.detach()  # (V, E)
    rows = grown(old, tokenizer.vocab_size, made_of, seed)
    if len(rows) > len(old):
        table = nn.Embedding(len(rows), rows.shape[1])
        encoder.model.set_input_embeddings(table)
        encoder.config.vocab_size = len(rows)
    with torch.no_grad():
        encoder.model.get_input_embeddings().weight.copy_(rows)
    return Encoder(encoder.model, tokenizer, cap=encoder.max_length)


def grown(old: Tensor, size: int, made_of: Mapping[int, Sequence[int]], seed: int) -> Tensor:
    """old (V, E) -> (size, E), or more where there were more; a row that is made of pieces is the mean of theirs."""
    rows = old.clone()
    if size > len(old):
        chance = torch.Generator().manual_seed(seed)
        drawn = old.mean(0) + old.std(0) * torch.randn(size - len(old), old.shape[1], generator=chance)
        rows = torch.cat([old, drawn.to(old.dtype)])
    for number, pieces in made_of.items():
        rows[number] = old[list(pieces)].mean(0)
    return rows


def measure(tokenizer: Tokenizer, texts: Iterable[str]) -> dict[str, Any]:
    """How a tokenizer copes with texts, counted as `factpin doctor` counts."""
    counts = doctor.VocabularyCheck(tokenizer)
    for k, text in enumerate(texts):
        counts.add(Document(str(k), text))
    summary = counts.summary()
    names = ("words", "pieces_per_word", "oversplit_words", "unknown_pieces")
    return {"pieces": sum(counts.lengths), **{name: summary[name] for name in names}}
