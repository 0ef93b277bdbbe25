"""The texts of the entity models: tokens to text, labels to types, what a text claims, and how they are judged."""

import importlib
import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from factpin.documents import Document, Mention, Span
from factpin.formats import read

RECIPES = Path(__file__).parents[2] / "recipes"


@pytest.fixture
def prepare(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(RECIPES)
    return importlib.import_module("_prepare")


def load_script(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise AssertionError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ('He said : " It is n\'t ours , " and left .', 'He said: "It isn\'t ours," and left.'),
        ("Mr. Li ( born 7 May , 1822 ) paid $ 5 .", "Mr. Li (born 7 May, 1822) paid $5."),
        ("the men 's event in 1939 – 1945", "the men's event in 1939–1945"),
        ("Zuma ’ s “ new ” plan is 40 % done", "Zuma’s “new” plan is 40% done"),
        ("-LRB- see -LSB- 1 -RSB- -RRB- at 10 : 30", "(see [1]) at 10:30"),
        ("It was made in the U.S. .", "It was made in the U.S."),
        ("the students ' room and / or ' free ' seats", "the students' room and/or 'free' seats"),
        ("I can not go , @ anna # now", "I cannot go, @anna #now"),
        ("born in Quebec - died here", "born in Quebec - died here"),
    ],
)
def test_tokens_become_running_text(prepare: Any, tokens: str, text: str) -> None:
    assert prepare.detokenise(tokens.split())[0] == text


def test_hyphens_join_words_where_the_corpus_parts_them(prepare: Any) -> None:
    tokens = "a Beijing - based , well - to - do firm - the debt - has risen"
    assert (
        prepare.detokenise(tokens.split(), hyphens=True)[0] == "a Beijing-based, well-to-do firm - the debt - has risen"
    )


def test_offsets_follow_the_text(prepare: Any) -> None:
    tokens = 'Wilfried " Willi " Schneider , of St. Moritz , won .'
    tags = "B-PER I-PER I-PER I-PER I-PER O O B-LOC I-LOC O O O"
    sentence = prepare.from_tokens(tokens.split(), prepare.decode_tags(tags.split()))
    found = [(sentence.text[s.start : s.end], s.label) for s in sentence.spans]
    assert found == [('Wilfried "Willi" Schneider', "PER"), ("St. Moritz", "LOC")]


def test_tags_without_a_beginning_begin_a_span(prepare: Any) -> None:
    assert prepare.decode_tags(["I-A", "I-A", "B-A", "I-B", "O", "B-O"]) == [
        (0, 2, "A"),
        (2, 3, "A"),
        (3, 4, "B"),
        (5, 6, "O"),
    ]


def test_uner_keeps_the_published_text(prepare: Any, tmp_path: Path) -> None:
    lines = [
        "# newdoc id = a", "# text = I do n't know Al-Ani.", "1\tI\tO\t-\t-", "2\tdo\tO\t-\t-", "3\tn't\tO\t-\t-",
        "4\tknow\tO\t-\t-", "5\tAl\tB-PER\t-\tx", "6\t-\tI-PER\t-\tx", "7\tAni\tI-PER\t-\tx", "8\t.\tB-O\t-\tx", "",
        "# newdoc id = b", "# text = 在杭州。", "1\t在\tO", "2\t杭州\tB-LOC", "3\t。\tO", "",
    ]  # fmt: skip
    path = tmp_path / "x.iob2"
    path.write_text("\n".join(lines), encoding="utf-8")
    (first, one), (second, two) = prepare.read_uner(path)
    assert (first, second) == ("a", "b")
    assert one == [prepare.Sentence("I don't know Al-Ani.", ((13, 19, "PER"),))]
    assert two == [prepare.Sentence("在杭州。", ((1, 3, "LOC"),))]


def test_every_label_maps_to_a_type_of_ours(prepare: Any) -> None:
    known = {*prepare.types(), ""}
    for name, corpus in prepare.corpora().items():
        assert set(corpus.labels.values()) <= known, name
        assert set(corpus.annotated) <= set(corpus.labels.values()), name


@pytest.mark.parametrize(
    ("corpus", "label", "text", "kind"),
    [
        ("docred", "LOC", "South Korean", "other"),
        ("docred", "LOC", "South Korea", "location"),
        ("boson_ner", "org_name", "中国", "location"),
        ("boson_ner", "org_name", "中国男篮", "organization"),
        ("worldwide_newswire", "Misc", "Tuesday", "date"),
        ("worldwide_newswire", "Misc", "coronavirus", ""),
        ("crossner", "algorithm", "SVM", ""),
        ("btc", "PER", "@", ""),
        ("cluener", "scene", "西湖", "location"),
        ("scierc", "Task", "parsing", "other"),
    ],
)
def test_labels_and_types(prepare: Any, corpus: str, label: str, text: str, kind: str) -> None:
    assert prepare.corpora()[corpus].type_of(label, text) == kind


@pytest.mark.parametrize(
    ("corpus", "language", "text", "spans", "claims"),
    [
        ("docred", "en", "Two of them left Spain in 1990.", [(17, 22, "LOC"), (26, 30, "TIME")],
         ["person", "organization", "location", "date", "other"]),
        ("worldwide_newswire", "en", "Li left today.", [(0, 2, "Person")],
         ["person", "organization", "location", "other"]),
        ("uner_zh", "zh", "他是美国人。", [], ["person", "organization"]),
        ("msra", "zh", "发展中国家。", [], ["person", "organization", "location"]),
        ("cluener", "zh", "导演《神曲》", [(0, 2, "position")], ["person", "organization", "title"]),
    ],
)  # fmt: skip
def test_a_text_gives_up_types_that_it_leaves_unmarked(
    prepare: Any, corpus: str, language: str, text: str, spans: list[tuple[int, int, str]], claims: list[str]
) -> None:
    sentence = prepare.Sentence(text, tuple(prepare.Labelled(*span) for span in spans))
    doc = prepare.make_document("x", sentence, corpus, language)
    assert doc.meta == {"source": corpus, "annotated": {"mentions": claims}}
    whole = prepare.make_document("x", sentence, corpus, language, strictly=False)
    assert whole.meta["annotated"]["mentions"] == list(prepare.corpora()[corpus].annotated)


def test_mentions_are_trimmed_and_do_not_overlap(prepare: Any) -> None:
    spans = (prepare.Labelled(0, 9, "ORG"), prepare.Labelled(1, 8, "PER"), prepare.Labelled(10, 12, "LOC"))
    doc = prepare.make_document("x", prepare.Sentence("#android, UK", spans), "btc", "en")
    assert [(m.text, m.type) for m in doc.mentions] == [("android", "organization"), ("UK", "location")]


def test_groups_keep_every_sentence_in_order(prepare: Any) -> None:
    sentences = [prepare.Sentence(f"Sentence {i} names Bo.", ((17, 19),)) for i in range(50)]
    groups = list(prepare.grouped(sentences, random.Random(3)))
    assert [s for group in groups for s in group] == sentences
    assert {len(group) for group in groups} == {1, 2, 3, 4}
    merged, borders = prepare.merge([prepare.Sentence("Bo.", (prepare.Labelled(0, 2, "PER"),))] * 2)
    assert merged == prepare.Sentence("Bo. Bo.", ((0, 2, "PER"), (4, 6, "PER")))
    assert borders == ((0, 3), (4, 7))


def make(text: str, *sentences: tuple[int, int]) -> Document:
    meta = {"source": "x", "annotated": {"mentions": []}}
    return Document("", text, "en", tuple(Span(*s) for s in sentences) or (Span(0, len(text)),), meta=meta)


def test_nothing_that_judges_is_learned(prepare: Any) -> None:
    judge = make("The ＡＢＣ won.")
    shared = make("So. The ABC  won.", (0, 3), (4, 17))
    parts = prepare.Parts([shared, make("New."), make("New."), make("Dev.")], [make("Dev."), judge], [], {"j": [judge]})
    kept, dropped = prepare.separate(parts)
    assert [doc.text for doc in kept.train] == ["New."]
    assert [doc.text for doc in kept.dev] == ["Dev."]
    assert dropped == Counter({"x: in a judge": 2, "x: in dev or calibration": 1, "x: copy": 1})


def test_titles_are_no_part_of_a_name(prepare: Any) -> None:
    script = load_script(RECIPES / "en-entities" / "prepare.py")
    text = "Iraqi Prime Minister Nouri al-Maliki met President Bush."
    people = [prepare.Labelled(0, 36, "per"), prepare.Labelled(41, 55, "per"), prepare.Labelled(6, 20, "per")]
    found = [script.untitled(text, span) for span in people]
    assert [text[s.start : s.end] if s else None for s in found] == ["Nouri al-Maliki", "Bush", None]


def test_boson_is_cut_and_its_products_are_doubtful(prepare: Any, tmp_path: Path) -> None:
    script = load_script(RECIPES / "zh-entities" / "prepare.py")
    path = tmp_path / "boson.txt"
    lines = ["{{person_name: 方英}}看{{product_name:《英雄》}}。用{{product_name:微信}}。", "坏{{time:今天"]
    path.write_text("\n".join(lines), encoding="utf-8")
    ((first, second),) = script.read_boson(path)
    docs = [script.boson_document(s) for s in (first, second)]
    assert [[(m.text, m.type) for m in doc.mentions] for doc in docs] == [
        [("方英", "person"), ("英雄", "work")],
        [],
    ]
    assert ["work" in doc.meta["annotated"]["mentions"] for doc in docs] == [True, False]


def test_a_shipped_model_is_judged(
    prepare: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "彭小军认为，国内银行现在走的是台湾的发卡模式。"
    sentence = prepare.Sentence(text, (prepare.Labelled(0, 3, "name"), prepare.Labelled(15, 17, "address")))
    judge = prepare.make_document("x", sentence, "cluener", "zh", strictly=False)
    prepare.write_parts(prepare.Parts([], [], [], {"cluener": [judge]}), tmp_path / "zh-entities")
    assert [doc.text for doc in read(tmp_path / "zh-entities" / "judges" / "cluener.jsonl.xz")] == [text]
    out = tmp_path / "out.json"
    arguments = ["judge", "zh-entities", "--language", "zh", "--data", str(tmp_path), "--json", str(out)]
    monkeypatch.setattr(sys, "argv", arguments)
    script = load_script(RECIPES / "judge_entities.py")
    script.main()
    result = json.loads(out.read_text(encoding="utf-8"))["zh-entities"]["cluener"]
    assert result["strict"] == {"gold": 1, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert (result["types"]["location"]["claimed"], result["types"]["location"]["recall"]) == (False, 1.0)
    assert "cluener" in capsys.readouterr().out


class Fixed:
    """A model that always finds the same mentions."""

    def __init__(self, labels: tuple[str, ...], mentions: tuple[Mention, ...]) -> None:
        self.settings = type("Settings", (), {"labels": labels})
        self.mentions = mentions

    def extract(self, texts: list[str]) -> list[Document]:
        return [Document(f"d{i}", text, mentions=self.mentions) for i, text in enumerate(texts)]


def test_types_that_are_not_claimed_are_never_wrong(prepare: Any) -> None:
    script = load_script(RECIPES / "judge_entities.py")
    sentence = prepare.Sentence("Bo left Rome today.", (prepare.Labelled(0, 2, "PER"), prepare.Labelled(8, 12, "LOC")))
    gold = prepare.make_document("x", sentence, "uner_ewt", "en", strictly=False)
    mentions = (
        Mention("m0", 0, 2, "Bo", "person"),
        Mention("m1", 8, 12, "Rome", "other"),  # wrong type, right place
        Mention("m2", 13, 18, "today", "date"),  # not claimed
        Mention("m3", 3, 7, "left", "organization"),  # wrong
    )
    result = script.judge(Fixed(tuple(prepare.types()), mentions), "uner_ewt", [gold])
    assert (result.strict.tp, result.strict.fp, result.strict.fn) == (1, 1, 1)
    assert (result.boundary.tp, result.boundary.fp, result.boundary.fn) == (2, 1, 0)
    assert script.judge(Fixed(tuple(prepare.types()), mentions), "scierc", [gold]).boundary.fp == 2
