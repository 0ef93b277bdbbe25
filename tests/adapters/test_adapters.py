"""Adapters against the real libraries, where these are installed."""

from pathlib import Path

import pytest

import factpin
from factpin.adapters import doccano, huggingface, labelstudio, uie
from factpin.errors import BadInput

TEXT = "😀 谷爱凌出生于旧金山。"
CONFIG = """<View><Text name="t" value="$body"/><Labels name="l" toName="t"><Label value="person"/></Labels></View>"""


def test_hugging_face_entities_are_at_their_offsets() -> None:
    found = huggingface.pipeline("zh-facts")(TEXT)
    assert found and all(TEXT[row["start"] : row["end"]] == row["word"] for row in found)
    assert huggingface.pipeline("zh-facts")([TEXT]) == [found]


def test_uie_gives_relations_and_names_what_it_does_not_know() -> None:
    (record,) = uie.Taskflow([{"person": ["出生地", "身高体重"]}, "dragon"], "zh-facts")(TEXT)
    ((person,), (place,)) = (record["person"], record["person"][0]["relations"]["出生地"])
    assert (person["text"], place["text"]) == ("谷爱凌", "旧金山")
    assert "dragon" in record["unknown"]


def test_label_studio_predictions_leave_out_labels_that_the_project_does_not_have() -> None:
    (doc,) = factpin.extract(TEXT, "zh-facts")
    config = labelstudio.read_config(CONFIG)
    assert (config.field, config.labels) == ("body", {"person"})
    result, lost = labelstudio.prediction(doc, config, "v", utf16=True)
    (row,) = result["result"]
    assert (row["value"]["start"], row["value"]["text"]) == (3, "谷爱凌")
    assert lost == len(doc.mentions) - 1 + len(doc.facts)
    with pytest.raises(BadInput):
        labelstudio.read_config('<!DOCTYPE x [<!ENTITY a "b">]><View/>')


@pytest.mark.parametrize("other", ['name="i" toName="picture"', 'toName="t"', 'name="i"', 'name="" toName="t"'])
def test_label_studio_controls_that_do_not_label_a_text_are_passed_over(other: str) -> None:
    view = CONFIG.replace("<Labels", f'<Image name="picture" value="$url"/><Labels {other}/><Labels', 1)
    assert labelstudio.read_config(view) == labelstudio.read_config(CONFIG)
    with pytest.raises(BadInput, match="no <Labels> for a <Text>"):
        labelstudio.read_config(f'<View><Text name="t" value="$body"/><Labels {other}/></View>')


def test_a_label_studio_configuration_that_is_no_xml_or_too_long_is_refused() -> None:
    with pytest.raises(BadInput, match="is not XML"):
        labelstudio.read_config("<View>")
    filled = CONFIG + " " * (labelstudio.LONGEST_CONFIG - len(CONFIG))
    assert labelstudio.read_config(filled) == labelstudio.read_config(CONFIG)
    with pytest.raises(BadInput, match="longer than"):
        labelstudio.read_config(filled + " ")


def test_doccano_labels() -> None:
    (doc,) = factpin.extract(TEXT, "zh-facts")
    assert {"label": "person", "start_offset": 2, "end_offset": 5} in doccano.labels(doc)


def test_spacy_component() -> None:
    spacy = pytest.importorskip("spacy")
    import factpin.adapters.spacy  # noqa: F401  (an entry point once installed)

    nlp = spacy.blank("zh")
    nlp.add_pipe("factpin", config={"models": ["zh-facts"]})
    for doc in (nlp(TEXT), *nlp.pipe([TEXT])):
        assert {span.text for span in doc.spans["factpin"]} == {m.text for m in doc._.factpin.mentions}
        assert doc.ents and doc._.factpin.facts and doc._.factpin_lost == 0


def test_retrievers_give_passages_with_their_places(tmp_path: Path) -> None:
    langchain, haystack = pytest.importorskip("langchain_core"), pytest.importorskip("haystack")
    assert langchain and haystack
    from factpin.adapters.haystack import HaystackRetriever
    from factpin.adapters.langchain import FactpinRetriever

    with factpin.open_store(tmp_path / "kb.db", create=True) as base:
        base.add(factpin.Document("gu", TEXT), "gu.txt")
        (first,) = FactpinRetriever(base=base).invoke("谷爱凌")
        (second,) = HaystackRetriever(base).run(query="谷爱凌")["documents"]
    assert first.page_content == second.content == TEXT[first.metadata["start"] : first.metadata["end"]]
    assert first.metadata["uri"] == second.meta["uri"] == "gu.txt"
