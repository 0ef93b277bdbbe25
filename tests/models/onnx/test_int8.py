"""int8: an encoder that multiplies in bytes, on request alone, with thresholds of its own where they were fitted."""

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

import factpin
from factpin.answers.reader import WholeText
from factpin.errors import BadInput, BadModel
from factpin.models.checks import SUMS
from factpin.models.graphs.int8 import write_int8
from factpin.models.graphs.write import write_onnx
from factpin.models.onnx.graph import FILES, INT8, has_graph
from factpin.models.onnx.session import quantised
from factpin.models.readers import open_reader
from factpin.models.shipped import find_model
from factpin.models.weights import stored_weights
from factpin.tokens.reading import collate
from tests.conftest import corpus
from tests.models.small_model import small_model

SHIPPED = ("en-entities", "en-facts", "zh-entities", "zh-facts")
READERS = {  # a question, a text, and the answer
    "en-reader": ("Where was Marie Curie born?", "Marie Curie was born in Warsaw in 1867.", "Warsaw"),
    "zh-reader": ("居里夫人出生在哪里？", "居里夫人1867年出生于华沙。", "华沙"),
}
TEXTS = {  # of several lengths; some with pieces whose numbers are large
    "en": [
        "Marie Curie was born in Warsaw and worked in Paris.",
        "zzzz qqqq $$$$ 12345 !!!! ((((",
        "Tim Cook became CEO of Apple in 2011.",
        "The Danube flows through Vienna and Budapest.",
        "She won the Nobel Prize in Literature in 1934, and moved to Bonn, Lima, Bern and Passy soon after that.",
    ],
    "zh": [
        "居里夫人出生于华沙，在巴黎工作。",
        "zzzz ￥￥￥￥ 12345！！！！（（（（",
        "库克2011年成为苹果公司的首席执行官。",
        "《流浪地球》由郭帆执导，吴京主演，2019年2月5日在中国上映，票房超过46亿元。",
        "谷爱凌出生于美国加利福尼亚州旧金山。",
    ],
}


@pytest.fixture
def folder(encoder_folder: Path, tmp_path: Path) -> Path:
    target = tmp_path / "model"
    write_onnx(small_model(encoder_folder), target)
    return target


def test_bytes_and_scales_are_the_matrix_again() -> None:
    W = np.random.default_rng(0).normal(size=(40, 7)).astype(np.float32)
    W[:, 3] = 0.0
    bytes_, scale = quantised(W)
    assert bytes_.dtype == np.uint8 and np.abs((bytes_.astype(np.float32) - 128) * scale - W).max() <= scale.max() / 2


def test_weights_that_are_stored_as_int8_do_not_change() -> None:
    weights = stored_weights(Path(factpin.__file__).parent / "shipped" / "zh-entities")
    name, W = next((n, w) for n, w in weights.items() if n.startswith("encoder.") and n.endswith("query.weight"))
    bytes_, scale = quantised(W.T)
    np.testing.assert_allclose((bytes_.astype(np.float32) - 128) * scale, W.T, rtol=2e-3, atol=1e-7, err_msg=name)


def test_int8_is_used_on_request_alone(folder: Path) -> None:
    with pytest.raises(BadModel, match="factpin onnx .* --precision int8"):
        factpin.load(folder, precision="int8")
    before = factpin.load(folder).extract([doc.text for doc in corpus(5, 1)], 0.0)
    report = write_int8(folder)
    assert report.documents == 0 and has_graph(folder, INT8) and FILES[INT8][0] in (folder / SUMS).read_text()
    assert factpin.load(folder).extract([doc.text for doc in corpus(5, 1)], 0.0) == before
    int8 = factpin.load(folder, precision="int8")
    assert type(int8.model).__name__ == "WindowNetwork" and int8.model.session.graph.precision == INT8
    factpin.load(folder, runtime="torch").save(folder)
    assert not has_graph(folder, INT8)


def test_what_cannot_be_is_refused(folder: Path) -> None:
    write_int8(folder)
    for options in ({"runtime": "torch"}, {"device": "cuda"}):
        with pytest.raises(BadInput, match="runtime onnx on the CPU"):
            factpin.load(folder, precision="int8", **options)
    with pytest.raises(BadInput, match="Known: auto, bf16, float32, int8"):
        factpin.load(folder, precision="int4")
    with pytest.raises(BadInput, match="--precision bf16"):
        factpin.load(folder, precision="bf16", runtime="onnx")


def test_a_text_is_computed_alike_whatever_texts_are_beside_it(folder: Path) -> None:
    write_int8(folder)
    model = factpin.load(folder, precision="int8")
    chance = np.random.default_rng(0)
    windows = [chance.integers(0, model.tokenizer.vocab_size, 12).astype(np.int32) for _ in range(5)]

    def outputs(chosen: list[Any]) -> dict[str, Any]:
        batch = collate(chosen, model.tokenizer)
        return model.model.session.run({"ids": batch.ids, "mask": batch.mask, "real": batch.real})

    together = outputs(windows)
    for i, window in enumerate(windows):
        for name, alone in outputs([window]).items():
            np.testing.assert_allclose(alone[0], together[name][i], atol=1e-5, err_msg=name)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_models_find_the_same_alone_and_together(name: str) -> None:
    model = factpin.load(name, precision="int8")
    together = model.extract(TEXTS[name[:2]], 0.0)
    for text, expected in zip(TEXTS[name[:2]], together, strict=True):
        (alone,) = model.extract(text, 0.0)
        assert [(m.start, m.end, m.type) for m in alone.mentions] == [
            (m.start, m.end, m.type) for m in expected.mentions
        ]
        assert [m.score for m in alone.mentions] == pytest.approx([m.score for m in expected.mentions], abs=2e-4)
        assert [f.score for f in alone.facts] == pytest.approx([f.score for f in expected.facts], abs=2e-4)


@pytest.mark.parametrize("name", READERS)
def test_shipped_readers_are_as_sure_alone_as_together(name: str) -> None:
    reader = open_reader(find_model(name), precision="int8")
    question, text, _ = READERS[name]
    others = [WholeText(str(i), other) for i, other in enumerate(TEXTS[name[:2]])]
    (alone,) = reader.read(question, [WholeText("d", text)])
    (together,) = [one for one in reader.read(question, [*others, WholeText("d", text)]) if one.document == "d"]
    assert (alone.text, alone.probability) == (together.text, pytest.approx(together.probability, abs=2e-4))


def test_thresholds_are_fitted_again_and_kept_beside_the_graph(folder: Path) -> None:
    dev = corpus(40, 5)
    report = write_int8(folder, dev)
    assert report.documents == 40 and report.after >= report.same - 1e-9
    own, exact = factpin.load(folder, precision="int8").settings, factpin.load(folder).settings
    record = orjson.loads((folder / FILES[INT8][1]).read_bytes())
    assert own.thresholds == record["tuned"]["thresholds"] and own.temperature != exact.temperature
    record["tuned"]["encoder"] = "other"
    (folder / FILES[INT8][1]).write_bytes(orjson.dumps(record))
    (folder / SUMS).unlink(missing_ok=True)
    with pytest.raises(BadModel, match="settings of its own"):
        factpin.load(folder, precision="int8")


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_models_find_nearly_the_same(name: str) -> None:
    text = {"en": "Marie Curie was born in Warsaw, Poland.", "zh": "谷爱凌出生于美国加利福尼亚州旧金山。"}[name[:2]]
    (exact,), (rough,) = (factpin.load(name, precision=p).extract(text) for p in ("float32", "int8"))
    assert [(m.start, m.end, m.type) for m in exact.mentions] == [(m.start, m.end, m.type) for m in rough.mentions]
    assert exact.mentions and all(
        abs(a.score - b.score) < 0.1 for a, b in zip(exact.mentions, rough.mentions, strict=True)
    )


@pytest.mark.parametrize("name", READERS)
def test_shipped_readers_answer_the_same(name: str) -> None:
    question, text, answer = READERS[name]
    for precision in ("float32", "int8"):
        (reading,) = open_reader(find_model(name), precision=precision).read(question, [WholeText("d", text)])
        assert reading.text == answer and text[reading.span.start : reading.span.end] == answer
