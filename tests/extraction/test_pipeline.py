"""Models asked together from Python: what `factpin extract` finds, in one object."""

import json
import os
from pathlib import Path

import pytest

import factpin
from factpin.documents import Document, from_json
from factpin.errors import BadInput, BadModel
from factpin.extraction import pipeline as module
from factpin.extraction.extract import extract, load_models
from factpin.extraction.pipeline import Pipeline, loaded
from factpin.models.extractor import Extractor
from factpin.models.shipped import shipped_folders, shipped_readers
from tests.models.small_model import small_model, variant

TEXTS = ["王小明出生于北京。", "Anna Weber was born in Berlin."]


@pytest.fixture(scope="module")
def folders(encoder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A Chinese model and an English one, with types of their own."""
    folder, root = small_model(encoder_folder), tmp_path_factory.mktemp("routed")
    return [variant(folder, root / "zh", language="zh", labels=("人物", "地点")),
            variant(folder, root / "en", language="en", labels=("man", "town"))]  # fmt: skip


@pytest.fixture(scope="module")
def pipeline(folders: list[Path]) -> Pipeline:
    return factpin.load(folders)


def types(doc: Document) -> set[str]:
    return {m.type for m in doc.mentions}


def test_each_text_is_read_by_the_models_of_its_language(pipeline: Pipeline) -> None:
    assert (pipeline.models, repr(pipeline)) == (("zh", "en"), "Pipeline(zh, en)")
    zh, en = pipeline.extract(TEXTS)
    assert types(zh) == {"人物", "地点"} and types(en) == {"man", "town"}
    assert [doc.id for doc in (zh, en)] == ["d0", "d1"]


def test_one_text_gives_a_list_of_one(pipeline: Pipeline) -> None:
    assert pipeline.extract(TEXTS[0]) == pipeline.extract(TEXTS[:1])
    assert pipeline.extract([]) == []
    assert [doc.text for doc in pipeline.extract(text for text in TEXTS)] == TEXTS


def test_documents_come_one_by_one_and_keep_their_ids(pipeline: Pipeline) -> None:
    asked = []

    def coming() -> object:
        for i in range(600):
            asked.append(i)
            yield Document(f"mine{i}", TEXTS[i % 2], meta={"i": i})

    found = pipeline.annotate(coming())
    assert next(found).id == "mine0" and len(asked) < 600
    assert [(doc.id, doc.meta["i"]) for doc in found] == [(f"mine{i}", i) for i in range(1, 600)]


@pytest.mark.parametrize("texts", [[b"x"], [Document("d", "x")], [None], 5])
def test_what_is_no_text_is_refused(pipeline: Pipeline, texts: object) -> None:
    with pytest.raises((BadInput, TypeError)):
        pipeline.extract(texts)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="from 0 to 1"):
        pipeline.extract(TEXTS, min_score=2)


def test_one_name_is_one_model_and_reads_every_language(folders: list[Path]) -> None:
    extractor = factpin.load(folders[0])
    assert isinstance(extractor, Extractor) and extractor.settings.language == "zh"
    assert types(extractor.extract(TEXTS[1:])[0]) == {"人物", "地点"}
    (zh,) = Pipeline.load(folders[:1]).extract(TEXTS[:1])
    assert zh.mentions == extractor.extract(TEXTS[:1])[0].mentions


def test_names_that_lead_nowhere_are_refused(folders: list[Path]) -> None:
    with pytest.raises(BadInput, match="empty"):
        factpin.load([])
    with pytest.raises(BadModel, match="zh-entities"):
        factpin.load([folders[0], "zh-entitis"])


def test_extract_keeps_its_models_until_their_folder_changes(folders: list[Path]) -> None:
    module._loaded.cache_clear()
    assert factpin.extract(TEXTS, folders) == factpin.load(folders).extract(TEXTS)
    assert factpin.extract(TEXTS[0], folders[0])[0].language == "zh"
    first = loaded(folders)
    assert loaded(folders) is first
    settings = folders[0] / "factpin.json"
    os.utime(settings, ns=(settings.stat().st_atime_ns, settings.stat().st_mtime_ns + 1))
    assert loaded(folders) is not first


def test_without_a_name_it_is_what_the_command_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from factpin.app.cli import main

    text = "Marie Curie was born in Warsaw. 谷爱凌出生于旧金山。"
    (tmp_path / "d0.txt").write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit) as stop:
        main(["extract", str(tmp_path / "d0.txt"), "--to", "jsonl", "--quiet"])
    assert not stop.value.code
    command = from_json(json.loads(capsys.readouterr().out))
    everything = factpin.load()
    extractors = [folder for folder in shipped_folders() if folder not in shipped_readers()]
    assert isinstance(everything, Pipeline) and everything.models == tuple(folder.name for folder in extractors)
    (doc,) = everything.extract(text)
    assert (doc.mentions, doc.entities, doc.facts, doc.coverage) == (
        command.mentions, command.entities, command.facts, command.coverage)  # fmt: skip
    assert all(text[m.start : m.end] == m.text for m in doc.mentions) and doc.mentions


def test_what_the_usual_minimum_score_hides_is_marked_where_everything_is_asked_for() -> None:
    names = [folder for folder in shipped_folders() if folder not in shipped_readers()]
    models = load_models(names)
    texts = [
        "In 2023 it invested in OpenAI, whose CEO Sam Altman was dismissed. The drug is made by Merck in Darmstadt, "
        "Germany. Dr Angela Hartmann of Heidelberg University Hospital read of it in the Merck Manual.",
        "华为技术有限公司成立于1987年，总部位于广东省深圳市，创始人是任正非。2012年获得诺贝尔文学奖。",
    ]
    documents = [Document(f"d{i}", text) for i, text in enumerate(texts)]
    usual = list(extract(documents, models))
    everything = list(extract(documents, models, 0.0, mark_unsure=True))
    for shown, doc in zip(usual, everything, strict=True):
        unsure = doc.meta["unsure"]
        assert unsure["least"] > 0.5 and unsure["mentions"]
        assert [m for m in doc.mentions if m.id not in unsure["mentions"]] == list(shown.mentions)
    assert "unsure" not in list(extract(documents[:1], models, 0.0))[0].meta
    old = Document("old", "", meta={"unsure": {"least": 0.73, "mentions": ["m1"]}, "source": "web"})
    assert list(extract([old], models, 0.0, mark_unsure=True))[0].meta == {"source": "web"}
