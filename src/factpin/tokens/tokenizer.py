"""Tokenizer: text -> Pieces, with offsets that hold in the original text, for any tokenizer.json.

It never truncates or pads, and text is never read as a special token: "[SEP]" in a text is five characters. `frame`
puts the special tokens of the model around pieces; `prefix` and `suffix` come from the tokenizer's post-processor, or
else from the names of its special tokens.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
import orjson
import tokenizers
from tokenizers import decoders

from factpin.errors import BadModel
from factpin.tokens.offsets import BLANK_MARKS, mend
from factpin.tokens.pieces import Bools, Ints, Pieces, join
from factpin.tokens.sources import open_tokenizer, special_names

_LONE_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_CHINESE = "[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"  # and its punctuation
_BETWEEN = re.compile(f"(?<={_CHINESE}) (?={_CHINESE})")
DECODERS = {"BPE": decoders.ByteLevel, "Unigram": decoders.Metaspace, "WordPiece": decoders.WordPiece}
PROBE = "A b 北 1"
_SHARED: WeakValueDictionary[str, "Tokenizer"] = WeakValueDictionary()


class Tokenizer:
    """A tokenizer with exact offsets."""

    def __init__(self, library: tokenizers.Tokenizer, names: dict[str, str] | None = None) -> None:
        """`names` says which special tokens play which part, such as {"cls_token": "[CLS]"}; only used at need."""
        self._library = library
        library.no_truncation()
        library.no_padding()
        library.encode_special_tokens = True
        self.names = dict(names or {})
        self.unknown_id = _unknown_id(library)
        vocabulary = library.get_vocab(with_added_tokens=True)
        self.vocab_size = max(vocabulary.values()) + 1
        self._blank = np.zeros(self.vocab_size, np.bool_)
        self._blank[[i for token, i in vocabulary.items() if token and not token.strip(BLANK_MARKS)]] = True
        self._special = np.zeros(self.vocab_size, np.bool_)
        self._special[[i for i, token in library.get_added_tokens_decoder().items() if token.special]] = True
        self.prefix, self.suffix = _frame(library, vocabulary, self.names)
        self.pad_id = _pad_id(vocabulary, self.names)
        self._refuse_without_offsets()

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        folder = Path(folder)
        return cls(open_tokenizer(folder), special_names(folder))

    @classmethod
    def shared(cls, folder: Path) -> "Tokenizer":
        """The same, but one for all folders with equal files, as long as a model uses it. It must not be changed."""
        file = Path(folder) / "tokenizer.json"
        if not file.is_file():
            return cls.load(folder)
        names = special_names(folder)
        key = hashlib.sha256(file.read_bytes()).hexdigest() + repr(sorted(names.items()))
        found = _SHARED.get(key)
        if found is None:
            found = _SHARED[key] = cls(open_tokenizer(Path(folder)), names)
        return found

    @classmethod
    def from_json(cls, text: str, names: dict[str, str] | None = None) -> "Tokenizer":
        """From the text of a tokenizer.json."""
        try:
            return cls(tokenizers.Tokenizer.from_str(text), names)
        except BadModel:
            raise
        except Exception as error:  # the library raises bare Exception
            raise BadModel(f"Not a tokenizer.json ({error}). Save the tokenizer again.") from None

    def to_json(self) -> str:
        """The text of a tokenizer.json."""
        return str(self._library.to_str())

    def save(self, folder: Path, *, max_length: int | None = None) -> None:
        """Write tokenizer.json, and tokenizer_config.json with the parts that the special tokens play."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_text(self.to_json(), encoding="utf-8")
        config: dict[str, str | int] = {"tokenizer_class": "PreTrainedTokenizerFast", **self.names}
        if max_length is not None:
            config["model_max_length"] = max_length
        text = json.dumps(config, ensure_ascii=False, indent=1)
        (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")

    def encode(self, text: str) -> Pieces:
        return self._pieces(text, self._library.encode(_sayable(text), add_special_tokens=False))

    def encode_batch(self, texts: Sequence[str]) -> list[Pieces]:
        encodings = self._library.encode_batch([_sayable(text) for text in texts], add_special_tokens=False)
        return [self._pieces(text, encoding) for text, encoding in zip(texts, encodings, strict=True)]

    def encode_sentences(self, text: str, sentences: Iterable[tuple[int, int]]) -> Pieces:
        """The pieces of a text, tokenized sentence by sentence.

        No piece crosses a border of a sentence, and a sentence has the same pieces in any document; byte-level and ▁
        vocabularies would otherwise include the space before it. Text between sentences is tokenized too.
        """
        return self.encode_parts(text, _cover(len(text), sentences))

    def encode_parts(self, text: str, spans: Iterable[tuple[int, int]]) -> Pieces:
        """The pieces of some parts of a text, each tokenized by itself."""
        spans = [_strip(text, s, e) for s, e in spans if text[s:e].strip()]
        parts = self.encode_batch([text[s:e] for s, e in spans])
        return join(text, [(s, part) for (s, _), part in zip(spans, parts, strict=True)])

    def decode(self, ids: Ints) -> str:
        """The text of pieces, as near as the vocabulary keeps it: spaces and capitals may be lost.

        Special pieces are left out, but for the unknown one. WordPiece has no spaces to remember: none is put between
        Chinese characters.
        """
        kept = [i for i in np.asarray(ids).tolist() if i == self.unknown_id or not self._special[i]]
        model, decoder = type(self._library.model).__name__, self._library.decoder
        if decoder is None and model in DECODERS:
            decoder = DECODERS[model]()
        if decoder is None:
            return str(self._library.decode(kept, skip_special_tokens=False))
        text = str(decoder.decode([self.token(i) for i in kept]))
        return _BETWEEN.sub("", text) if model == "WordPiece" else text

    def frame(self, ids: Ints) -> tuple[Ints, Bools]:
        """The ids between the model's special tokens, and a mask that is True where they carry text."""
        framed = np.concatenate([np.array(self.prefix, np.int32), ids, np.array(self.suffix, np.int32)])
        real = np.zeros(len(framed), np.bool_)
        real[len(self.prefix) : len(self.prefix) + len(ids)] = True
        return framed, real

    @property
    def frame_size(self) -> int:
        """How many special tokens `frame` adds."""
        return len(self.prefix) + len(self.suffix)

    def id_of(self, token: str) -> int | None:
        """The number of a token by its name in the vocabulary, such as [MASK]; None if it has no such token."""
        return self._library.token_to_id(token)

    def token(self, piece_id: int) -> str:
        """What a number stands for in the vocabulary."""
        return str(self._library.id_to_token(int(piece_id)))

    def _pieces(self, text: str, encoding: tokenizers.Encoding) -> Pieces:
        ids = np.array(encoding.ids, np.int32)
        ranges = np.array(encoding.offsets, np.int32).reshape(-1, 2)
        start, end = mend(text, ranges[:, 0].copy(), ranges[:, 1].copy(), self._blank[ids])
        if (np.diff(start) < 0).any() or (np.diff(end) < 0).any():
            start, end = np.maximum.accumulate(start), np.maximum.accumulate(end)
        unknown = np.zeros(len(ids), np.bool_)
        if self.unknown_id is not None:
            # A Unigram vocabulary finds "</s>" in a text by itself, as a word: the model must not read it as an order.
            ids[self._special[ids]] = self.unknown_id
            unknown = ids == self.unknown_id
        return Pieces(text, ids, start, end, unknown)

    def _refuse_without_offsets(self) -> None:
        probe = self.encode(PROBE)
        places = {place for s, e in zip(probe.start, probe.end, strict=True) for place in range(s, e)}
        if len(places) < len(PROBE.split()) // 2:
            raise BadModel(
                f"The tokenizer has no usable offsets: of {PROBE!r} it covers {len(places)} "
                f"characters. Use an encoder with a fast tokenizer that keeps offsets."
            )


def _sayable(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot hold; as long as before."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.translate(_LONE_SURROGATES)
    return text


def _unknown_id(library: tokenizers.Tokenizer) -> int | None:
    token = getattr(library.model, "unk_token", None)
    if token is None:  # Unigram has a number, which only its JSON has
        model = orjson.loads(library.to_str())["model"]
        if isinstance(model.get("unk_id"), int):
            return int(model["unk_id"])
        token = model.get("unk_token")
    found = library.token_to_id(token) if token is not None else None
    return None if found is None else int(found)


def _frame(
    library: tokenizers.Tokenizer, vocabulary: dict[str, int], names: dict[str, str]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The special tokens before and behind a text."""
    encoding = library.encode("a", add_special_tokens=True)
    mask = encoding.special_tokens_mask
    if 1 in mask and 0 in mask:
        first, last = mask.index(0), len(mask) - mask[::-1].index(0)
        return tuple(encoding.ids[:first]), tuple(encoding.ids[last:])

    def known(*parts: str) -> tuple[int, ...]:
        found = [vocabulary[names[part]] for part in parts if names.get(part) in vocabulary]
        return tuple(found[:1])

    return known("cls_token", "bos_token"), known("sep_token", "eos_token")


def _pad_id(vocabulary: dict[str, int], names: dict[str, str]) -> int:
    for token in (names.get("pad_token", "[PAD]"), "[PAD]", "<pad>", "<|padding|>"):
        if token in vocabulary:
            return vocabulary[token]
    return 0  # padding is never read


def _cover(length: int, sentences: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The sentences and the gaps between them, in order."""
    spans: list[tuple[int, int]] = []
    at = 0
    for start, end in sorted(sentences):
        if start > at:
            spans.append((at, start))
        spans.append((max(start, at), end))
        at = max(at, end)
    return [*spans, (at, length)]


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())
