import json
import unicodedata

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models, normalizers

from factpin.errors import BadModel
from factpin.tokens import Tokenizer
from factpin.tokens.small import build_tokenizer
from factpin.tokens.sources import open_tokenizer
from tests.tokens.families import CORPUS, FAMILIES, byte_level, characters, soup, unigram, word_piece


def said(text):
    """The text as UTF-8 can hold it."""
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


@pytest.mark.parametrize("name", FAMILIES)
@given(text=soup)
def test_offsets_are_ordered_and_hold_no_outer_white_space(name, text):
    pieces = FAMILIES[name]().encode(text)
    assert (pieces.start >= 0).all() and (pieces.start <= pieces.end).all() and (pieces.end <= len(text)).all()
    assert (np.diff(pieces.start) >= 0).all() and (np.diff(pieces.end) >= 0).all()
    assert all(surface == surface.strip() for surface in pieces.surfaces())


@given(text=soup)
def test_a_word_piece_is_its_normalised_characters(text):
    tokenizer = word_piece()
    normal = normalizers.BertNormalizer(lowercase=True)
    for i, known, surface in zip(
        (pieces := tokenizer.encode(text)).ids, ~pieces.unknown, pieces.surfaces(), strict=True
    ):
        assert surface
        if known:
            assert normal.normalize_str(said(surface)).replace(" ", "") == tokenizer.token(i).removeprefix("##")


@given(text=soup)
def test_byte_pieces_hold_all_the_bytes_of_their_characters(text):
    alphabet = {char: byte for byte, char in byte_alphabet().items()}
    tokenizer = byte_level()
    pieces = tokenizer.encode(text)
    for i, surface in zip(pieces.ids, pieces.surfaces(), strict=True):
        raw = bytes(alphabet[char] for char in tokenizer.token(i))
        if surface:
            assert raw.strip() in said(surface).encode() or raw.lstrip(b" ") in said(surface).encode()
        else:
            assert said(raw.decode("utf-8", "ignore")).strip() == ""
    assert_every_character_is_covered(pieces)


@given(text=soup)
def test_unigram_pieces_are_what_their_characters_normalise_to(text):
    tokenizer = unigram()
    pieces = tokenizer.encode(text)
    for i, known, surface in zip(pieces.ids, ~pieces.unknown, pieces.surfaces(), strict=True):
        token = tokenizer.token(i).strip("▁").strip()
        if known and token:
            assert token in unicodedata.normalize("NFKC", said(surface))
    assert_every_character_is_covered(pieces)


@given(text=soup)
def test_a_character_vocabulary_gives_one_piece_a_character(text):
    tokenizer = characters()
    pieces = tokenizer.encode(text)
    assert len(pieces) == len(text)
    for k, (i, surface) in enumerate(zip(pieces.ids, pieces.surfaces(), strict=True)):
        assert surface == text[k].strip()
        assert pieces.unknown[k] or tokenizer.token(i) == text[k]


def assert_every_character_is_covered(pieces):
    covered = np.zeros(len(pieces.text), bool)
    for s, e in zip(pieces.start, pieces.end, strict=True):
        covered[s:e] = True
    missing = [c for c, seen in zip(pieces.text, covered, strict=True) if not seen and not c.isspace() and c != "▁"]
    assert not missing


def byte_alphabet():
    """GPT-2's table: printable bytes stand for themselves, the others for characters from U+0100 on."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {byte: chr(byte) for byte in plain}
    for byte in range(256):
        table.setdefault(byte, chr(0x100 + len(table) - len(plain)))
    return table


@pytest.mark.parametrize("name", FAMILIES)
@given(texts=st.lists(soup, max_size=5))
def test_a_batch_gives_what_single_texts_give(name, texts):
    tokenizer = FAMILIES[name]()
    for text, pieces in zip(texts, tokenizer.encode_batch(texts), strict=True):
        alone = tokenizer.encode(text)
        assert pieces.ids.tolist() == alone.ids.tolist() and pieces.start.tolist() == alone.start.tolist()


@pytest.mark.parametrize("name", FAMILIES)
@given(before=soup, text=soup, after=soup)
def test_a_sentence_has_the_same_pieces_alone_and_inside_a_document(name, before, text, after):
    tokenizer = FAMILIES[name]()
    at, end = len(before), len(before) + len(text)
    inside = tokenizer.encode_sentences(before + text + after, [(0, at), (at, end), (end, end + len(after))])
    alone = tokenizer.encode(text.strip())
    first = at + len(text) - len(text.lstrip())
    low = len(tokenizer.encode(before.strip())) if before.strip() else 0
    here = slice(low, low + len(alone)) if text.strip() else slice(0, 0)
    if text.strip():
        assert inside.ids[here].tolist() == alone.ids.tolist()
        assert inside.start[here].tolist() == (alone.start + first).tolist()


def test_text_between_sentences_is_read_too():
    pieces = characters().encode_sentences("ab北京cd", [(2, 4)])
    assert pieces.surfaces() == ["a", "b", "北", "京", "c", "d"]


def test_accents_and_composed_marks_belong_to_the_letter_they_lean_on():
    assert word_piece().encode("cafe\u0301").end[-1] == 5
    assert unigram().encode("ｶﾞ").surfaces()[-1] == "ｶﾞ"


@pytest.mark.parametrize("name", ["byte_level", "unigram", "word_piece"])
def test_decode_undoes_encode(name):
    tokenizer = FAMILIES[name]()
    for text in ("北京大学的学生们去了上海。", "the café in Zürich opened"):
        ids = tokenizer.encode(text).ids
        read = tokenizer.decode(ids).strip()
        assert read == (text if name != "word_piece" else text.lower().translate({0xE9: "e", 0xFC: "u"}))
        assert tokenizer.decode(tokenizer.frame(ids)[0]).strip() == read
    assert tokenizer.decode(np.zeros(0, np.int32)) == ""


def test_what_is_decoded_tells_of_unknown_pieces_and_follows_the_decoder_of_the_file():
    tokenizer = word_piece()
    assert tokenizer.decode(tokenizer.encode("我爱 Python 3 和 ☃").ids) == "我爱 python 3 和 [UNK]"
    library = tokenizers.Tokenizer.from_str(tokenizer.to_json())
    library.decoder = tokenizers.decoders.WordPiece(prefix="@@", cleanup=False)
    assert Tokenizer(library).decode(tokenizer.encode("caf, b").ids) == "ca ##f , b"
    assert characters().decode(characters().encode("北京").ids) == "北 京"  # nothing says how its pieces join


@pytest.mark.parametrize("name", FAMILIES)
def test_a_text_cannot_smuggle_in_special_tokens(name):
    tokenizer = FAMILIES[name]()
    special = {*tokenizer.prefix, *tokenizer.suffix}
    pieces = tokenizer.encode("a [SEP] b </s> c <s> [CLS] [PAD] [MASK]")
    assert not special & set(pieces.ids.tolist())


@pytest.mark.parametrize("name", FAMILIES)
def test_nothing_is_truncated_or_padded(name):
    text = "谷爱凌出生于美国。" * 300
    assert FAMILIES[name]().encode(text).end[-1] == len(text)


@pytest.mark.parametrize("name", FAMILIES)
def test_loading_what_was_saved_changes_nothing(name, tmp_path):
    tokenizer = FAMILIES[name]()
    tokenizer.save(tmp_path)
    again = Tokenizer.load(tmp_path)
    for text in CORPUS:
        assert again.encode(text).ids.tolist() == tokenizer.encode(text).ids.tolist()
    assert (again.prefix, again.suffix, again.pad_id) == (tokenizer.prefix, tokenizer.suffix, tokenizer.pad_id)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_tokenizer_survives_its_own_json(name):
    tokenizer = FAMILIES[name]()
    again = Tokenizer.from_json(tokenizer.to_json(), tokenizer.names)
    assert (again.prefix, again.suffix) == (tokenizer.prefix, tokenizer.suffix)
    for text in CORPUS:
        assert again.encode(text).ids.tolist() == tokenizer.encode(text).ids.tolist()


def test_json_that_is_no_tokenizer_is_refused():
    with pytest.raises(BadModel, match=r"Not a tokenizer\.json"):
        Tokenizer.from_json("[]")


def test_truncation_and_padding_of_the_file_are_turned_off(tmp_path):
    library = open_tokenizer(saved(word_piece(), tmp_path))
    library.enable_truncation(4)
    library.enable_padding(length=9)
    library.save(str(tmp_path / "tokenizer.json"))
    tokenizer = Tokenizer.load(tmp_path)
    assert tokenizer.encode("北京大学的学生们").surfaces() == list("北京大学的学生们")
    assert len(tokenizer.encode("北")) == 1


def test_the_frame_is_that_of_the_post_processor():
    tokenizer = word_piece()
    ids, real = tokenizer.frame(tokenizer.encode("北京").ids)
    assert [tokenizer.token(i) for i in ids] == ["[CLS]", "北", "京", "[SEP]"]
    assert real.tolist() == [False, True, True, False]
    assert tokenizer.frame_size == 2


def test_the_frame_comes_from_the_names_where_there_is_no_post_processor():
    tokenizer = byte_level()
    assert [tokenizer.token(i) for i in (*tokenizer.prefix, *tokenizer.suffix)] == ["<s>", "</s>"]
    assert unigram().prefix == () and len(unigram().suffix) == 1


def test_a_word_list_alone_makes_the_same_tokenizer(tmp_path):
    tokenizer = build_tokenizer(CORPUS, 260, lowercase=False)
    words = [tokenizer.token(i) for i in range(tokenizer.vocab_size)]
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    made = Tokenizer.load(tmp_path)
    for text in CORPUS:
        assert made.encode(text).ids.tolist() == tokenizer.encode(text).ids.tolist()
    assert (made.prefix, made.suffix) == (tokenizer.prefix, tokenizer.suffix)


def test_a_folder_without_a_fast_tokenizer_says_what_to_do(tmp_path):
    (tmp_path / "spiece.model").write_bytes(b"x")
    with pytest.raises(BadModel, match="spiece.model.*save_pretrained"):
        Tokenizer.load(tmp_path)


def test_a_damaged_tokenizer_file_is_named(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(BadModel, match="tokenizer.json"):
        Tokenizer.load(tmp_path)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(BadModel, match="nowhere"):
        Tokenizer.load(tmp_path / "nowhere")


def test_a_word_list_that_is_not_word_piece_is_refused(tmp_path):
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    with pytest.raises(BadModel, match=r"\[UNK\]"):
        Tokenizer.load(tmp_path)


def test_a_tokenizer_that_loses_its_offsets_is_refused():
    library = tokenizers.Tokenizer(models.WordLevel({"x": 0}, unk_token="x"))
    library.normalizer = normalizers.Replace(tokenizers.Regex(".+"), "x")
    with pytest.raises(BadModel, match="keeps offsets"):
        Tokenizer(library)


def saved(tokenizer, folder):
    tokenizer.save(folder)
    return folder
