"""Starting from a model: what is kept of it, what a run says of the rest, and what is refused."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from factpin.answers.reader import Reader
from factpin.documents import Document, Entity, Fact, Mention, Question, Span
from factpin.errors import BadInput, BadModel
from factpin.heads.efficient_global_pointer import EfficientGlobalPointer, EfficientGlobalPointerConfig
from factpin.heads.inherit import inherit
from factpin.models.extractor import Extractor
from factpin.models.model import torch_model
from factpin.models.reader_folder import load_reader
from factpin.models.settings import read_settings
from factpin.tasks.coreference.task import COREFERENCE, CoreferenceOptions
from factpin.tasks.document_relations.task import DOCUMENT_RELATIONS, RelationOptions
from factpin.tasks.events.task import EVENTS, EventOptions
from factpin.tasks.spans.task import SPANS, SpanOptions
from factpin.tasks.triples.task import TRIPLES, TripleOptions
from factpin.training.advice import advise, inherited
from factpin.training.config import TrainConfig, from_dict, read_recipe
from factpin.training.part_table import train_part
from factpin.training.plan import make_plan
from factpin.training.reader import start as start_reader
from factpin.training.reader_options import ReaderOptions
from factpin.training.request import train_request
from factpin.training.run import finish, run_training, start
from tests.conftest import corpus
from tests.events_corpus import corpus as events
from tests.models.small_coreference import corpus as coreference
from tests.training.test_document_relations import corpus as relations
from tests.training.test_document_relations import save_encoder
from tests.training.test_triples import corpus as triples

SHORT = TrainConfig(max_steps=1, batch_size=4, learning_rate=1e-3, seed=3)


@pytest.fixture(scope="module")
def tagger(encoder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a CRF."""
    folder = tmp_path_factory.mktemp("initial") / "tagger"
    run_training(SPANS, corpus(8, 1), [], SpanOptions(str(encoder_folder), head="crf"), SHORT, folder, quiet=True)
    return folder


def weight(extractor: Extractor, name: str) -> torch.Tensor:
    return dict(torch_model(extractor.model).named_parameters())[name]


def test_without_a_head_of_its_own_a_run_keeps_that_of_the_model(tagger: Path, tmp_path: Path) -> None:
    options = SpanOptions(initial=str(tagger))
    one, two = (start(SPANS, options, corpus(8, 1), seed) for seed in (1, 2))
    assert one.settings.head == "crf"
    assert torch.equal(weight(one, "head.emit.weight"), weight(two, "head.emit.weight"))  # none is drawn anew
    report = run_training(SPANS, corpus(8, 1), corpus(4, 2), options, SHORT, tmp_path / "on", quiet=True)
    assert report["initial"] == {"model": str(tagger), "heads": ["crf", "crf"], "kept": ["person", "place"],
                                 "types": []}  # fmt: skip
    recipe = from_dict(SpanOptions, read_recipe(tmp_path / "on" / "recipe.toml")["spans"], "spans")
    assert recipe == replace(options, head="crf")
    (tmp_path / "on" / "factpin.json").unlink()
    again = run_training(SPANS, corpus(8, 1), corpus(4, 2), recipe, SHORT, tmp_path / "on", resume=True, quiet=True)
    assert again["steps"] == 1  # the same run
    assert "The weights of `tagger`" in (tmp_path / "on" / "card.md").read_text(encoding="utf-8")


def test_a_run_says_what_was_not_kept(tagger: Path) -> None:
    done = {"scores": {"f1": 0.9}, "steps": 900, "noted": {}, "dev": 4}

    def says(options: object, task: object, documents: list[Document]) -> list[str]:
        new = start(task, options, documents, 1).settings  # type: ignore[arg-type]
        old = start(SPANS, SpanOptions(initial=str(tagger)), corpus(8, 1), 1).settings
        return advise({**done, "initial": {"model": "tagger", **inherited(old, new)}})

    assert says(SpanOptions(initial=str(tagger)), SPANS, corpus(8, 1)) == []
    (other,) = says(SpanOptions(initial=str(tagger), head="global-pointer"), SPANS, corpus(8, 1))
    assert other == "Only the encoder of tagger was kept: its head is crf, and that of this run is global_pointer."
    strange = [Document("d", "天晴了。", mentions=(Mention("m0", 0, 1, "天", "sky"),))]
    assert "no label in common" in says(SpanOptions(initial=str(tagger)), SPANS, strange)[0]


def test_new_types_of_arguments_are_named(encoder_folder: Path) -> None:
    def settings(type: str) -> object:
        text = "李雷去了巴黎。"
        mentions = (Mention("m0", 0, 2, "李雷", type), Mention("m1", 4, 6, "巴黎", "place"))
        entities = (Entity("e0", ("m0",)), Entity("e1", ("m1",)))
        doc = Document("d", text, mentions=mentions, entities=entities, facts=(Fact("e0", "went to", "e1"),))
        return start(TRIPLES, TripleOptions(str(encoder_folder)), [doc], 1).settings

    found = inherited(settings("person"), settings("人物"))  # type: ignore[arg-type]
    assert found == {"heads": ["gplinker", "gplinker"], "kept": ["went to"], "types": ["人物"]}
    (said,) = advise({"scores": {"f1": 0.9}, "steps": 9, "noted": {}, "initial": {"model": "m", **found}})
    assert "does not know the types 人物" in said


def test_the_licence_in_the_card_is_that_of_the_encoder_of_the_model(tagger: Path, tmp_path: Path) -> None:
    options = SpanOptions(initial=str(tagger))
    extractor = start(SPANS, options, corpus(8, 1), 1)
    extractor.settings = replace(extractor.settings, encoder="minilm-en")
    finish(SPANS, extractor, [], tmp_path / "m", options, {})
    assert "| licence of the encoder's weights | Apache-2.0 |" in (tmp_path / "m" / "card.md").read_text("utf-8")


def test_weights_that_would_be_read_in_another_way_are_refused() -> None:
    def head(**change: object) -> EfficientGlobalPointer:
        return EfficientGlobalPointer(EfficientGlobalPointerConfig(("a",), 8, **change), 16)  # type: ignore[arg-type]

    with pytest.raises(BadInput, match="rope is False there, True here"):
        inherit(head(), head(rope=False))
    with pytest.raises(BadInput, match="bias is hidden there, qk here"):
        inherit(head(), head(bias="hidden"))
    assert inherit(head(max_span=3), head()) == {"a"}


def test_a_run_starts_from_one_thing(tmp_path: Path) -> None:
    recipe = {"spans": {"encoder": "minilm-en", "head_size": 8}}
    with pytest.raises(BadInput, match="Both encoder and initial"):
        make_plan("spans", {"encoder": "minilm-en", "initial": "en-entities"})
    with pytest.raises(BadInput, match="Both encoder and initial"):
        make_plan("spans", {}, {"spans": {"encoder": "minilm-en", "initial": "en-entities"}})
    plan = make_plan("spans", {"initial": "en-entities"}, recipe)  # in place of what the recipe starts from
    assert (plan.config.encoder, plan.config.initial, plan.config.head_size) == ("", "en-entities", 8)
    assert make_plan("spans", {"encoder": "m3e-zh"}, {"spans": {"initial": "en-entities"}}).config.initial == ""


def test_what_cannot_start_from_a_model_says_so(tmp_path: Path) -> None:
    data, output = {"train": "train.json"}, tmp_path / "m"
    for part in ("judge", "hops", "classify", "generator", "retriever"):
        with pytest.raises(BadInput, match=f"no meaning for {part}, which starts from an encoder"):
            train_request(part, None, data, {"initial": "zh-reader"}, output)
        with pytest.raises(BadInput, match=r"no model hub\.$"):
            train_request(part, None, data, {}, output)
    for task in ("spans", "reader"):
        with pytest.raises(BadInput, match="--initial starts from a trained model instead"):
            train_request(task, None, data, {}, output)


def question(number: int) -> Question:
    name = ("李雷", "韩梅梅", "张伟", "刘洋")[number % 4]
    doc = Document(f"d{number}", f"昨天{name}来了。")
    return Question(f"q{number}", "谁来了？", "zh", (name,), context=(doc,), spans=((0, Span(2, 2 + len(name))),))


def test_a_reader_starts_from_a_reader_or_from_the_encoder_of_any_model(
    tagger: Path, encoder_folder: Path, tmp_path: Path
) -> None:
    asked, first = [question(i) for i in range(4)], tmp_path / "first"
    options = ReaderOptions(str(encoder_folder), max_length=48, overlap=4, language="zh")
    train_part("reader", asked, [], options, SHORT, first, quiet=True)
    on = ReaderOptions(initial=str(first), max_length=48, overlap=4)
    begun, settings = start_reader(on, asked, 9)
    for name, value in load_reader(first).model.state_dict().items():
        assert torch.equal(begun.model.state_dict()[name], value)
    assert (settings.encoder, settings.language) == (str(encoder_folder), "zh")
    report = train_part("reader", asked, asked, on, SHORT, tmp_path / "second", quiet=True)
    assert report["initial"]["kept"] == ["answer"] and isinstance(load_reader(tmp_path / "second"), Reader)
    above, _ = start_reader(replace(on, initial=str(tagger)), asked, 9)
    old = start(SPANS, SpanOptions(initial=str(tagger)), corpus(8, 1), 1)
    assert torch.equal(above.model.encoder.word_vectors, torch_model(old.model).encoder.word_vectors)
    below = start(SPANS, SpanOptions(initial=str(first)), corpus(8, 1), 1)  # and the other way round
    assert torch.equal(torch_model(below.model).encoder.word_vectors, load_reader(first).model.encoder.word_vectors)


def test_the_licence_in_the_card_of_a_reader_is_that_of_the_encoder_of_the_model(
    encoder_folder: Path, tmp_path: Path
) -> None:
    asked, first = [question(i) for i in range(2)], tmp_path / "first"
    train_part(
        "reader", asked, [], ReaderOptions(str(encoder_folder), max_length=48, overlap=4), SHORT, first, quiet=True
    )
    assert "weights | not stated |" in (first / "card.md").read_text("utf-8")
    file = first / "factpin.json"
    file.write_text(file.read_text("utf-8").replace(str(encoder_folder), "minilm-en"), "utf-8")
    (first / "SHA256SUMS").unlink()  # the digests that the folder had before
    on = ReaderOptions(initial=str(first), max_length=48, overlap=4)
    train_part("reader", asked, [], on, SHORT, tmp_path / "second", quiet=True)
    card = (tmp_path / "second" / "card.md").read_text("utf-8")
    assert "| licence of the encoder's weights | Apache-2.0 |" in card and "overlapping windows" in card


def test_a_reader_keeps_the_yes_and_no_of_the_one_it_starts_from(encoder_folder: Path, tmp_path: Path) -> None:
    asked = [question(i) for i in range(3)]
    snow = Question("s", "来了吗？", "zh", ("yes",), kind="yes_no", context=asked[0].context)
    options = ReaderOptions(str(encoder_folder), max_length=48, overlap=4)
    train_part("reader", [*asked, snow], [], options, SHORT, tmp_path / "first", quiet=True)
    on, _ = start_reader(ReaderOptions(initial=str(tmp_path / "first"), max_length=48, overlap=4), asked, 1)
    assert on.settings.choices == ("是", "否")


def test_a_model_that_is_neither_is_refused_by_name(tagger: Path, tmp_path: Path) -> None:
    shutil.copytree(tagger, tmp_path / "judge")
    file = tmp_path / "judge" / "factpin.json"
    file.write_text(file.read_text("utf-8").replace('"spans"', '"judge"'), "utf-8")
    with pytest.raises(BadInput, match="is a model of judge"):
        start(SPANS, SpanOptions(initial=str(tmp_path / "judge")), corpus(8, 1), 1)


TASK_CASES = {
    "spans": (SPANS, SpanOptions, corpus),
    "triples": (TRIPLES, TripleOptions, triples),
    "events": (EVENTS, EventOptions, events),
    "document_relations": (DOCUMENT_RELATIONS, RelationOptions, relations),
    "coreference": (COREFERENCE, CoreferenceOptions, coreference),
}


@pytest.mark.parametrize("name", TASK_CASES)
def test_every_task_goes_on_from_its_own_models_and_from_the_encoder_of_others(
    name: str, tagger: Path, encoder_folder: Path, tmp_path: Path
) -> None:
    task, options, documents = TASK_CASES[name]
    docs, marked = documents(6, 1), name == "document_relations"  # by a sign that the vocabulary needs
    folder = save_encoder(tmp_path / "encoder") if marked else encoder_folder
    old = start(task, options(str(folder)), docs, 1)
    old.save(tmp_path / "old")
    new = start(task, options(initial=str(tmp_path / "old")), docs, 2)
    assert set(torch_model(old.model).state_dict()) == set(torch_model(new.model).state_dict())
    for key, value in torch_model(old.model).state_dict().items():
        assert torch.equal(torch_model(new.model).state_dict()[key], value), key
    assert inherited(old.settings, new.settings)["kept"] == list(old.settings.labels)
    if marked:
        with pytest.raises(BadModel, match="The vocabulary has none of"):
            start(task, options(initial=str(tagger)), docs, 2).finder  # noqa: B018
        return
    above = start(task, options(initial=str(tagger)), docs, 2)
    kept = inherited(read_settings(tagger), above.settings)["kept"]
    assert kept == (["person", "place"] if name == "spans" else [])
