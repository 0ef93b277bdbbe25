"""Vocabularies: marks have numbers of their own, new words begin as the mean of their pieces, the rest stays."""

from pathlib import Path

import numpy as np
import pytest
import torch

from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.objectives import OBJECTIVES, Text
from factpin.pretraining.needs import BLANKS, MARKS
from factpin.pretraining.vocabulary import (
    SENTINELS,
    extended,
    frequent,
    grow,
    measure,
    train_tokenizer,
    vocabulary_of,
    with_marks,
)
from factpin.tokens import Tokenizer
from tests.conftest import corpus

TEXTS = [doc.text for doc in corpus(200, 3)]
WORD = "phosphatase"
RARE = "犇"


@pytest.fixture
def tokenizer(encoder_folder: Path) -> Tokenizer:
    return Tokenizer.load(encoder_folder)


def again(tokenizer: Tokenizer) -> Tokenizer:
    return Tokenizer.from_json(tokenizer.to_json(), tokenizer.names)


def test_every_mark_has_a_number_of_its_own_that_no_text_can_spell(tokenizer: Tokenizer) -> None:
    marked = with_marks(tokenizer, [*MARKS, BLANKS])
    found = vocabulary_of(marked)
    numbers = [found.pad, found.cls, found.sep, found.mask, found.gap, found.tail, found.start, *found.sentinels]
    assert len(set(numbers)) == len(numbers) and len(found.sentinels) == SENTINELS
    assert (found.cls, found.sep) == (*marked.prefix, *marked.suffix) and found.pad == tokenizer.pad_id
    assert found.end == found.sep  # BERT's vocabulary has no other end
    assert vocabulary_of(again(marked)) == found
    spelled = marked.encode("[GAP] [MASK] [BLANK0] [TAIL][SEP]").ids.tolist()
    assert not set(spelled) & found.specials
    assert not set(found.ordinary.tolist()) & found.specials


@pytest.mark.parametrize("kind", ["wordpiece", "bpe"])
def test_punctuation_and_function_words_say_little(kind: str) -> None:
    """PEGASUS compares sentences without them; a word that is cut up, and a byte of a character, do not count."""
    texts = ["The mother of the king, 王小明的母亲。他们在北京！", "the other bathe, of 的 。"] * 50
    trained = train_tokenizer(lambda: texts, 360, kind)  # type: ignore[arg-type]
    found = vocabulary_of(with_marks(trained, MARKS))
    pieces = lambda word: set(trained.encode(word).ids.tolist())  # noqa: E731
    for word in (" the", " of", ",", "的", "。", "！"):
        assert len(pieces(word)) == 1 and pieces(word) <= found.stop, word
    for word in (" king", "王", "北京", " mother"):
        assert not pieces(word) & found.stop, word
    assert not found.stop & found.specials and trained.unknown_id not in found.stop


def test_pegasus_takes_out_the_sentence_that_shares_words_not_commas() -> None:
    sentences = ["他说，在，在，的，的。", "北京大学很大。", "这，在，的，是，的。", "北京大学在北京。"]
    trained = train_tokenizer(lambda: ["".join(sentences)] * 5, 100)
    found = vocabulary_of(with_marks(trained, MARKS))
    ids = [trained.encode(sentence).ids.tolist() for sentence in sentences]
    ends = np.cumsum([len(one) for one in ids])
    text = Text(np.concatenate(ids), np.arange(ends[-1]), ends)
    view = OBJECTIVES["pegasus_large"].declare(text, found, np.random.default_rng(0))
    said = view.labels("decoder").tolist()
    assert said[:-1] in (ids[1], ids[3])


def test_nothing_is_added_that_is_not_asked_for(tokenizer: Tokenizer) -> None:
    assert with_marks(tokenizer, ["cls", "sep", "mask"]) is tokenizer
    assert with_marks(tokenizer, ["gap"]).vocab_size == tokenizer.vocab_size + 1
    assert vocabulary_of(tokenizer).gap == tokenizer.pad_id


@pytest.mark.parametrize("kind", ["wordpiece", "bpe"])
def test_a_trained_tokenizer_knows_its_texts(kind: str) -> None:
    trained = train_tokenizer(lambda: TEXTS, 500, kind)  # type: ignore[arg-type]
    assert trained.vocab_size <= 500
    assert measure(trained, TEXTS)["unknown_pieces"] == 0
    text = TEXTS[0]
    assert "".join(trained.encode(text).surfaces()).replace(" ", "") == text.replace(" ", "")
    found = vocabulary_of(with_marks(trained, MARKS))
    assert len({found.pad, found.cls, found.sep, found.mask}) == 4
    with pytest.raises(BadInput, match="no text"):
        train_tokenizer(list, 500, "wordpiece")


@pytest.mark.parametrize("kind", ["wordpiece", "bpe"])
def test_training_twice_gives_the_same_pieces_with_the_same_numbers(kind: str) -> None:
    chance = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz中文字符王小明北京"))
    texts = [" ".join("".join(chance.choice(letters, 5)) for _ in range(40)) for _ in range(20)]  # ties in plenty
    first, second = (train_tokenizer(lambda: texts, 400, kind) for _ in range(2))  # type: ignore[arg-type]
    assert first.to_json() == second.to_json()
    assert again(first).encode("##a [CLS]").ids.tolist() == first.encode("##a [CLS]").ids.tolist()


@pytest.mark.parametrize("kind", ["wordpiece", "bpe"])
def test_a_run_of_letters_that_is_no_word_is_left_out(kind: str) -> None:
    run = "".join(f"q{k:x}" for k in range(30_000))  # would take minutes
    trained = train_tokenizer(lambda: [f"a word {run} and 王小明" * 2, run], 400, kind)  # type: ignore[arg-type]
    assert len(trained.encode(" word").ids) == 1
    assert kind == "bpe" or trained.encode("q").unknown.all()


def test_frequent_words_are_those_that_cost_most(tokenizer: Tokenizer) -> None:
    texts = [f"{WORD}, {RARE}."] * 9 + ["Xylophonist!"] * 5 + ["Zygomorphic"] * 2
    assert frequent(tokenizer, texts, 10) == [WORD, "xylophonist", RARE]
    assert frequent(tokenizer, texts, 1) == [WORD]


def test_a_new_word_is_one_piece_and_begins_as_the_mean_of_its_pieces(encoder_folder: Path) -> None:
    encoder, old = Encoder.load(encoder_folder), Tokenizer.load(encoder_folder)
    before = encoder.model.get_input_embeddings().weight.detach().clone()
    marked = with_marks(old, ["gap", "mask"])
    new, made_of = extended(marked, [WORD, RARE, "in"])  # "in" is there already
    new = again(new)
    (number,) = new.encode(WORD.title()).ids.tolist()
    assert made_of == {number: tuple(old.encode(WORD).ids.tolist())}  # nothing shows what an unknown word is like
    assert not new.encode(RARE).unknown.any() and old.encode(RARE).unknown.all()
    assert all((new.encode(text).ids == old.encode(text).ids).all() for text in TEXTS)
    assert vocabulary_of(new).gap == vocabulary_of(marked).gap

    grown = grow(encoder, new, made_of, seed=0)
    rows = grown.model.get_input_embeddings().weight
    assert rows.shape[0] == new.vocab_size == grown.config.vocab_size
    assert torch.equal(rows[: len(before)], before)
    assert torch.allclose(rows[number], before[list(made_of[number])].mean(0))
    assert torch.isfinite(rows).all()
    (drawn,) = new.encode(RARE).ids.tolist()
    assert not (rows[drawn] == before).all(1).any()  # not the row of [UNK], nor any other


def test_only_word_pieces_can_be_extended() -> None:
    with pytest.raises(BadInput, match="only WordPiece"):
        extended(train_tokenizer(lambda: TEXTS, 400, "bpe"), [WORD])
