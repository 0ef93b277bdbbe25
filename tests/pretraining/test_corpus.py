"""A corpus as texts: nothing is lost, nothing is too long, and reading can begin at any text."""

import lzma
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from factpin import formats
from factpin.documents import Document, Mention
from factpin.errors import BadFile, BadInput
from factpin.pretraining import corpus as module
from factpin.pretraining.config import Packing
from factpin.pretraining.corpus import FRAME, Corpus, PackedTexts, TextCut
from factpin.pretraining.known import KnownPhrases
from factpin.tokens import Tokenizer
from factpin.tokens.lexicon import Lexicon
from factpin.tokens.small import build_tokenizer
from tests.conftest import corpus as world

DOCUMENTS = ["\n".join(doc.text for doc in world(1 + seed % 7, seed)) for seed in range(12)]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return build_tokenizer(DOCUMENTS, vocab_size=300)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("\n\n".join(DOCUMENTS[:5]) + "\n\n\n", encoding="utf-8")
    with lzma.open(tmp_path / "b.txt.xz", "wb") as stream:
        stream.write("\n \n".join(DOCUMENTS[5:9]).encode())
    formats.write([Document(f"d{k}", text) for k, text in enumerate(DOCUMENTS[9:])], tmp_path / "c.jsonl")
    (tmp_path / "d.csv").write_text("not read")
    return tmp_path


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    return tokenizer.encode_sentences(text, module.split_sentences(text)).ids.tolist()


def joined(texts: list[PackedTexts]) -> list[int]:
    return [piece for packed in texts for piece in packed.text.ids.tolist()]


def test_files_of_every_kind_are_read_document_by_document(files: Path) -> None:
    corpus = Corpus([files])
    assert [portion.text.strip() for portion in corpus.portions()] == DOCUMENTS
    assert [portion.document for portion in corpus.portions()] == list(range(12))
    assert corpus.passed == {".csv": 1}
    lines = Corpus([files / "a.txt"], divide="line")
    assert len({p.document for p in lines.portions()}) == sum(text.count("\n") + 1 for text in DOCUMENTS[:5])
    assert [p.document for p in Corpus([files / "a.txt"], divide="file").portions()] == [0]


def test_a_long_document_comes_in_portions_and_stays_one(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONG", 40)
    portions = list(Corpus([files]).portions())
    assert len(portions) > 12 and {p.document for p in portions} == set(range(12))
    whole = Corpus([files / "a.txt", files / "b.txt.xz"], divide="file")
    assert {p.document for p in whole.portions()} == {0, 1}
    assert all(len(p.text) < 40 + max(map(len, "\n".join(DOCUMENTS).split("\n"))) for p in portions[:-3])


@pytest.mark.parametrize("cells", [6, 16, 48, 400])
@pytest.mark.parametrize("packing", ["full", "document", "filled", "apart"])
def test_every_piece_stands_in_exactly_one_text_that_is_not_too_long(
    packing: Packing, cells: int, files: Path, tokenizer: Tokenizer
) -> None:
    texts = list(Corpus([files]).texts(tokenizer, TextCut(cells, packing, None)))
    assert joined(texts) == [piece for text in DOCUMENTS for piece in ids(tokenizer, text)]
    for packed in texts:
        documents = packed.text.units("documents")
        assert len(documents) == len(packed.documents) and (packing != "document" or len(documents) == 1)
        frame = FRAME * len(documents) if packing == "apart" else max(FRAME, 1 + len(documents))
        assert len(packed.text) + frame <= cells


def test_sentences_stay_whole_and_no_text_could_have_held_one_more(files: Path, tokenizer: Tokenizer) -> None:
    cut = TextCut(48, words=None)
    texts = list(Corpus([files]).texts(tokenizer, cut))
    sentences = sum(len(module.split_sentences(text)) for text in DOCUMENTS)
    assert sum(len(packed.text.ends) for packed in texts) == sentences
    for packed, after in pairwise(texts):
        first = int(after.text.ends[0])
        more = packed.documents | {min(after.documents)}
        assert len(packed.text) + first + max(FRAME, 1 + len(more)) > cut.cells


@pytest.mark.parametrize("packing", ["full", "document", "filled", "apart"])
def test_reading_can_begin_where_any_text_ended(
    packing: Packing, files: Path, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONG", 60)
    cut = TextCut(20, packing, "characters", memory=7)
    texts = list(Corpus([files]).texts(tokenizer, cut))
    for k, packed in enumerate(texts):
        rest = list(Corpus([files]).texts(tokenizer, cut, start=packed.next))
        assert joined(rest) == joined(texts[k + 1 :])
        if rest:
            assert rest[0].text.before.tolist() == texts[k + 1].text.before.tolist()
            assert rest[0].text.words.tolist() == texts[k + 1].text.words.tolist()


def test_the_memory_is_what_stood_before_in_the_same_document(files: Path, tokenizer: Tokenizer) -> None:
    cut = TextCut(20, "document", None, memory=9)
    seen: dict[int, list[int]] = {}
    remembered = 0
    for packed in Corpus([files]).texts(tokenizer, cut):
        (document,) = packed.documents
        assert packed.text.before.tolist() == seen.setdefault(document, [])[-9:]
        remembered += len(packed.text.before)
        seen[document] += packed.text.ids.tolist()
    assert remembered > 0


def test_mentions_are_entities_and_a_lexicon_finds_phrases(tmp_path: Path, tokenizer: Tokenizer) -> None:
    text = "王小明出生于旧金山。"
    formats.write([Document("d", text, mentions=(Mention("m", 0, 3, "王小明", "person"),))], tmp_path / "d.jsonl")
    cut = TextCut(48, words="characters")
    lexicon = Lexicon(["旧金山", "山"])
    (packed,) = Corpus([tmp_path / "d.jsonl"]).texts(tokenizer, cut, known=KnownPhrases(lexicon, lexicon))
    assert packed.text.entities is not None and packed.text.phrases is not None
    assert np.flatnonzero(packed.text.entities >= 0).tolist() == [0, 1, 2]
    assert np.flatnonzero(packed.text.phrases >= 0).tolist() == [6, 7, 8]


def test_a_kind_behind_a_tab_tells_phrases_from_entities(tmp_path: Path, tokenizer: Tokenizer) -> None:
    text = "王小明出生于旧金山。"
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")

    def places(*lines: str) -> tuple[list[int], list[int]]:
        (tmp_path / "names.tsv").write_text("\n".join(lines), encoding="utf-8")
        known, cut = KnownPhrases.load(tmp_path / "names.tsv"), TextCut(48, words="characters")
        (packed,) = Corpus([tmp_path / "t.txt"]).texts(tokenizer, cut, known=known)
        phrases, entities = packed.text.phrases, packed.text.entities
        assert entities is not None
        return [] if phrases is None else np.flatnonzero(phrases >= 0).tolist(), np.flatnonzero(entities >= 0).tolist()

    assert places("王小明\tentity", "出生于\tphrase", "旧金山") == ([3, 4, 5, 6, 7, 8], [0, 1, 2, 6, 7, 8])
    assert places("王小明", "旧金山") == ([0, 1, 2, 6, 7, 8], [0, 1, 2, 6, 7, 8])
    assert places("王小明\tentity") == ([], [0, 1, 2])
    assert places("王小明\tphrase", "王小明\tentity") == ([0, 1, 2], [0, 1, 2])
    with pytest.raises(BadFile, match="line 2: 'person' after the tab; expected phrase or entity"):
        places("出生于\tphrase", "王小明\tperson")
    with pytest.raises(BadFile, match="two characters"):
        places("山")


def test_a_lexicon_takes_the_longest_entry_and_whole_words() -> None:
    lexicon = Lexicon(["New York", "New York City", "art", "北京", "北京大学"])
    text = "New York City, New Yorkers, art and cart; 北京大学在北京。"
    assert [text[a:b] for a, b in lexicon.find(text)] == ["New York City", "art", "北京大学", "北京"]


def test_what_cannot_be_read_again_or_at_all_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a")
    with pytest.raises(BadInput, match="standard input"):
        Corpus([Path("-")])
    with pytest.raises(BadInput, match=r"there is: \.csv"):
        Corpus([tmp_path])
    with pytest.raises(BadInput, match="5 cells"):
        TextCut(4)


def test_the_digest_changes_with_the_files(files: Path) -> None:
    before = Corpus([files]).digest()
    assert Corpus([files]).digest() == before
    with open(files / "a.txt", "a", encoding="utf-8") as stream:
        stream.write("More.")
    assert Corpus([files]).digest() != before
