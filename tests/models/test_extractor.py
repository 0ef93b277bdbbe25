"""A trained model as users meet it: any text in, exact spans out, whatever the length, batch or surroundings."""

import random
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

import factpin
from factpin.documents import Document
from factpin.errors import BadDocument, BadInput, BadModel
from factpin.models.checks import SUMS
from factpin.models.extractor import Extractor
from factpin.tasks.spans.task import SPANS, SpanOptions
from factpin.tokens import reading as module
from factpin.training.config import TrainConfig
from factpin.training.run import run_training
from tests.conftest import corpus


@pytest.fixture(scope="module")
def folder(encoder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("model") / "small"
    how = TrainConfig(epochs=12, batch_size=8, learning_rate=3e-3, head_learning_rate=3e-3, seed=7)
    run_training(SPANS, corpus(160, 1), corpus(40, 2), SpanOptions(str(encoder_folder)), how, target, quiet=True)
    return target


@pytest.fixture(scope="module")
def extractor(folder: Path) -> Extractor:
    return factpin.load(folder)


def spans(doc: Document) -> set[tuple[int, int, str]]:
    return {(m.start, m.end, m.type) for m in doc.mentions}


def test_every_mention_is_its_slice_on_any_text(extractor: Extractor) -> None:
    chance = random.Random(3)
    pieces = ["北京", "王小明", "Tom Hill", " ", "\n", "。", "😀", "é", "\u200b", "New York", "\t", "A", "１", "\x07"]
    texts = ["".join(chance.choices(pieces, k=chance.randrange(60))) for _ in range(200)]
    for text, doc in zip(texts, extractor.extract(texts), strict=True):
        assert doc.text == text
        assert all(doc.text[m.start : m.end] == m.text and m.score is not None for m in doc.mentions)


def test_an_entity_at_character_0_is_found(extractor: Extractor) -> None:
    (doc,) = extractor.extract(["王小明出生于北京。"])
    assert spans(doc) == {(0, 3, "person"), (6, 8, "place")}


def test_the_result_does_not_depend_on_the_batch(extractor: Extractor, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [doc.text for doc in corpus(60, 5)]
    together = extractor.extract(texts)
    alone = [extractor.extract([text])[0] for text in texts]
    monkeypatch.setattr(module, "BUDGET", 1)
    one_by_one = extractor.extract(texts)
    backwards = extractor.extract(texts[::-1])[::-1]
    for others in (alone, one_by_one, backwards):
        assert [d.mentions for d in together] == [d.mentions for d in others]


def test_a_sentence_gives_the_same_entities_alone_and_in_a_long_document(extractor: Extractor) -> None:
    """The model reads by sentence, so this holds for every sentence that the splitter finds in both."""
    sentences = [doc.text for doc in corpus(1400, 6)]
    whole = "\n".join(sentences)
    assert len(whole) > 20_000
    (doc,) = extractor.extract([whole])
    inside = {(s, e): {(m.start - s, m.end - s, m.type, m.score) for m in doc.mentions if s <= m.start < e}
              for s, e in doc.sentences}  # fmt: skip
    texts = [whole[s:e] for s, e in inside]
    alone = [{(m.start, m.end, m.type, m.score) for m in d.mentions} for d in extractor.extract(texts)]
    assert list(inside.values()) == alone
    assert sum(map(len, alone)) > 1000


def test_text_longer_than_a_window_is_read_to_its_end(extractor: Extractor) -> None:
    text = "王小明，" * 60 + "出生于北京。"  # one sentence of 246 characters, four windows
    (doc,) = extractor.extract([text])
    assert 3 < len(doc.coverage.read) < 12  # neighbours share half of a window at most
    assert doc.coverage.read[0][0] == 0 and doc.coverage.read[-1][1] == len(text)
    assert all(b[0] <= a[1] for a, b in zip(doc.coverage.read, doc.coverage.read[1:], strict=False))
    assert len(spans(doc)) == len(doc.mentions)
    assert max(m.end for m in doc.mentions) > 200


def test_overflow_can_be_refused(extractor: Extractor) -> None:
    strict = replace(extractor, on_overflow="error")
    assert strict.extract(["王小明出生于北京。" * 40])[0].mentions
    for text in ("王小明，" * 60, "\u200d\n\n" * 8 + "王小明，" * 60):
        with pytest.raises(BadInput, match="--on-overflow window"):
            strict.extract([text])


@pytest.mark.parametrize("text", ["", " ", "\n\n\t", "\u200b", "\x00"])
def test_texts_without_words_give_no_mention(extractor: Extractor, text: str) -> None:
    (doc,) = extractor.extract([text])
    assert doc.text == text and not doc.mentions


@pytest.mark.parametrize(
    ("model", "text", "language"),
    [("en", "王小明出生于北京。", "zh"), ("zh", "Anna Weber was born in Berlin.", "en"), ("en", "Anna Weber", "en"),
     ("en", " \n", None), ("zh", "", None), ("", "Столица это Москва.", None), ("", "王小明", "zh"),
     ("de", "Anna lebt in Berlin.", "de"), ("de", "王小明", "zh")],
)  # fmt: skip
def test_the_language_of_a_document_is_that_of_its_text(
    extractor: Extractor, model: str, text: str, language: str | None
) -> None:
    of_a_language = replace(extractor, settings=replace(extractor.settings, language=model))
    (doc,) = of_a_language.extract([text])
    assert doc.language == language
    (stated,) = of_a_language.annotate([Document("d", text, language="fr")])
    assert stated.language == "fr" and stated.mentions == doc.mentions


def test_two_hundred_thousand_characters_go_through(extractor: Extractor) -> None:
    text = "王小明出生于北京。" * 22_300
    (doc,) = extractor.extract([text])
    assert len(text) > 200_000 and len(doc.mentions) == 2 * 22_300


def test_half_an_emoji_is_a_clear_error(extractor: Extractor) -> None:
    with pytest.raises(BadDocument, match="lone surrogate"):
        extractor.extract(["王小明\ud83d"])


def test_old_annotation_is_not_kept(extractor: Extractor) -> None:
    doc = corpus(1, 9)[0]
    (found,) = extractor.annotate([replace(doc, mentions=())])
    (again,) = extractor.annotate([doc])
    assert found.mentions == again.mentions


def test_a_folder_that_is_no_model_is_a_clear_error(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(BadModel, match=r"factpin\.json is missing"):
        factpin.load(tmp_path)
    with pytest.raises(BadModel, match="neither a folder nor a shipped model"):
        factpin.load(tmp_path / "absent")


def copy(folder: Path, target: Path) -> Path:
    for file in folder.rglob("*"):
        if file.is_file() and "checkpoints" not in file.parts and file.name != SUMS:
            (target / file.relative_to(folder)).parent.mkdir(parents=True, exist_ok=True)
            (target / file.relative_to(folder)).write_bytes(file.read_bytes())
    return target


def test_a_cut_file_of_weights_is_a_clear_error(tmp_path: Path, folder: Path) -> None:
    broken = copy(folder, tmp_path / "broken")
    weights = broken / "model.safetensors"
    for size in (0, 7, 100, 5000, weights.stat().st_size - 1):
        weights.write_bytes((folder / "model.safetensors").read_bytes()[:size])
        with pytest.raises(BadModel, match="cannot be loaded"):
            factpin.load(broken)


@pytest.mark.parametrize(
    "change, words",
    [({"version": 99}, "newer factpin"), ({"head": "oracle"}, "not a head for spans"), ({"colour": 1}, "damaged"),
     ({"version": "x"}, "no version"), ({"head_config": {"labels": ["a"], "size": 3}}, "damaged"),
     ({"max_length": None}, "max_length"), ({"temperature": 0}, "temperature"), ({"head_config": []}, "head_config"),
     ({"language": 5}, "language"), ({"task_config": {"colour": 1}}, "settings for spans")],
)  # fmt: skip
def test_settings_of_another_world_are_refused(
    tmp_path: Path, folder: Path, change: dict[str, object], words: str
) -> None:
    broken = copy(folder, tmp_path / "broken")
    record = orjson.loads((broken / "factpin.json").read_bytes())
    (broken / "factpin.json").write_bytes(orjson.dumps({**record, **change}))
    with pytest.raises(BadModel, match=words):
        factpin.load(broken)


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_a_model_saved_in_any_precision_finds_the_same(extractor: Extractor, tmp_path: Path, precision: str) -> None:
    extractor.save(tmp_path / "m", precision)
    again = factpin.load(tmp_path / "m")
    texts = [doc.text for doc in corpus(60, 5)]
    before, after = (model.extract(texts) for model in (extractor, again))
    same = sum(spans(a) == spans(b) for a, b in zip(before, after, strict=True))
    assert same == 60 if precision != "int8" else same >= 55
    sizes = {p: (tmp_path / "m" / "model.safetensors").stat().st_size for p in [precision]}
    full = sum(w.numel() for w in extractor.model.state_dict().values())
    assert sizes[precision] < {"float32": 4.2, "float16": 2.2, "int8": 1.6}[precision] * full


@pytest.mark.parametrize("key", ["_attn_implementation", "attn_implementation"])
def test_a_kernel_that_a_folder_names_is_never_fetched(tmp_path: Path, folder: Path, key: str) -> None:
    broken = copy(folder, tmp_path / "broken")
    config = orjson.loads((broken / "encoder" / "config.json").read_bytes())
    (broken / "encoder" / "config.json").write_bytes(orjson.dumps({**config, key: "somebody/kernel"}))
    with pytest.raises(BadModel, match="never run"):
        factpin.load(broken)


def test_one_text_may_come_alone_and_other_things_are_refused(extractor: Extractor) -> None:
    assert extractor.extract("王小明出生于北京。") == extractor.extract(["王小明出生于北京。"])
    with pytest.raises(BadInput, match="type NoneType"):
        extractor.extract([None])  # type: ignore[list-item]


def test_the_card_tells_what_users_ask(folder: Path) -> None:
    card = (folder / "card.md").read_text(encoding="utf-8")
    for words in ("licence of the data", "licence of the encoder", "person, place", "calibration error", "| f1 |"):
        assert words in card
    assert (folder / "reliability.svg").read_text().startswith("<svg")


def test_half_precision_finds_the_same_names_and_nearly_the_same_scores(extractor: Extractor) -> None:
    texts = [doc.text for doc in corpus(40, 5)]
    exact, half = extractor.extract(texts), replace(extractor, bf16=True).extract(texts)
    for a, b in zip(exact, half, strict=True):
        assert [(m.start, m.end, m.type) for m in a.mentions] == [(m.start, m.end, m.type) for m in b.mentions]
        assert all(abs((m.score or 0) - (n.score or 0)) < 0.1 for m, n in zip(a.mentions, b.mentions, strict=True))
