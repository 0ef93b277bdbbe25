"""Load a tokenizer and the names of its special tokens from a folder."""

import json
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, processors

from factpin.errors import BadModel

PARTS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
BERT_NAMES = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}


def open_tokenizer(folder: Path) -> tokenizers.Tokenizer:
    """The tokenizer of a folder: its tokenizer.json, or one made from a WordPiece vocab.txt."""
    if not folder.is_dir():
        raise BadModel(f"{folder}: expected a folder with a tokenizer, but there is no such folder. Check the path.")
    file = folder / "tokenizer.json"
    if file.is_file():
        try:
            return tokenizers.Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises bare Exception
            raise BadModel(f"{file}: not a tokenizer ({error}). Save it again with save_pretrained.") from None
    if (folder / "vocab.txt").is_file():
        return word_piece(folder / "vocab.txt", read_config(folder))
    present = ", ".join(sorted(path.name for path in folder.iterdir())) or "nothing"
    raise BadModel(
        f"{folder}: tokenizer.json is missing (found: {present}). "
        f"Make it with transformers: AutoTokenizer.from_pretrained(folder).save_pretrained(folder)."
    )


def word_piece(vocab: Path, config: dict[str, Any]) -> tokenizers.Tokenizer:
    """BERT's tokenizer from its list of words."""
    words = {word.rstrip("\r"): i for i, word in enumerate(vocab.read_text(encoding="utf-8").rstrip("\n").split("\n"))}
    missing = [token for token in ("[UNK]", "[CLS]", "[SEP]") if token not in words]
    if missing:
        raise BadModel(
            f"{vocab}: not a WordPiece vocabulary; {', '.join(missing)} is missing. "
            f"Save the tokenizer of this model as tokenizer.json with save_pretrained."
        )
    library = tokenizers.Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    library.normalizer = normalizers.BertNormalizer(
        lowercase=bool(config.get("do_lower_case", True)),
        strip_accents=config.get("strip_accents"),
        handle_chinese_chars=bool(config.get("tokenize_chinese_chars", True)),
    )
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    library.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(token, words[token]) for token in ("[CLS]", "[SEP]")]
    )
    library.add_special_tokens([token for token in BERT_NAMES.values() if token in words])
    return library


def special_names(folder: Path) -> dict[str, str]:
    """Which special tokens the folder's files name, such as {"cls_token": "[CLS]"}."""
    names: dict[str, str] = {}
    for file in ("special_tokens_map.json", "tokenizer_config.json"):
        for part, token in read_config(folder, file).items():
            if part in PARTS and token is not None:
                names[part] = token["content"] if isinstance(token, dict) else str(token)
    if not (folder / "tokenizer.json").is_file():
        names = {**BERT_NAMES, **names}
    return names


def read_config(folder: Path, name: str = "tokenizer_config.json") -> dict[str, Any]:
    """A JSON object of the folder; {} if the file is missing."""
    file = folder / name
    if not file.is_file():
        return {}
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadModel(f"{file}: not JSON ({error}). Save the tokenizer again with save_pretrained.") from None
    return config if isinstance(config, dict) else {}
