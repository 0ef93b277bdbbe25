import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factpin.documents import Document, Entity, Mention, canonical
from factpin.errors import BadFile, BadRecord
from factpin.formats import Options, duie, triples, uie
from tests.formats.loading import ABSENT, DATA, SAMPLES, load, load_lines, pins, told

COUNTS = {  # documents, facts and unfound, relations, unfound, given twice
    "duie/duie1_17rel_triples": (11191, 17026, 17, 0, 0),
    "webnlg/WebNLG/train_triples": (5019, 11313, 211, 0, 1),
    "webnlg/WebNLG/val_triples": (500, 1224, 144, 0, 1),
    "webnlg/WebNLG/test_triples": (703, 1607, 149, 0, 0),
    "webnlg/WebNLG-star/train_triples": (5019, 11776, 170, 0, 89),
    "webnlg/WebNLG-star/val_triples": (500, 1118, 110, 0, 5),
    "webnlg/WebNLG-star/test_triples": (703, 1591, 125, 0, 10),
    "nyt/NYT/val_triples": (5000, 8489, 22, 47, 504),
    "nyt/NYT/test_triples": (5000, 8616, 22, 44, 496),
    "nyt/NYT-star/val_triples": (4999, 7976, 22, 0, 0),
    "nyt/NYT-star/test_triples": (5000, 8110, 22, 0, 0),
}


def test_a_whole_word_is_preferred_and_every_triple_is_a_fact():
    docs, report = load(triples, SAMPLES / "triples.json")
    assert told(docs[0]) == [("Aaron Field", "birthPlace", "Harbour Town"), ("Ron", "knows", "Aaron Field")]
    assert pins(docs[0]) == [(8, 23), (0, 8)]
    assert len(docs[1].facts) == 2
    assert docs[1].meta["unfound"] == [["Linden Bridge", "country", "Germany"]]
    assert report.counts == {"ambiguous_argument": 1, "duplicate_fact": 1, "argument_not_found": 1}


def test_the_nearest_pair_is_a_choice():
    docs, _ = load(triples, SAMPLES / "triples.json", Options(occurrences="nearest"))
    assert pins(docs[0]) == [(8, 23), (0, 8)]
    docs, _ = load(triples, SAMPLES / "triples.json", Options(occurrences="all"))
    assert [len(e.mentions) for e in docs[0].entities] == [1, 2, 1]


def test_lists_and_lines_are_read_and_the_name_chooses_what_is_written(tmp_path):
    docs, _ = load(triples, SAMPLES / "triples.json")
    triples.write(docs, tmp_path / "a.json", Options())
    triples.write(docs, tmp_path / "a.jsonl.gz", Options())
    assert len(json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))) == 3
    for name in ("a.json", "a.jsonl.gz"):
        again, _ = load(triples, tmp_path / name)
        assert [canonical(doc) for doc in again] == [canonical(doc) for doc in docs]


@pytest.mark.parametrize("wrong", [["a", "r"], ["a", "", "b"], "arb", ["a", "r", 3], None])
def test_an_error_names_the_item_and_the_triple(tmp_path, wrong):
    path = tmp_path / "file.json"
    path.write_text(json.dumps([{"text": "a b", "triple_list": []}, {"text": "a b", "triple_list": [wrong]}]))
    with pytest.raises(BadRecord) as caught:
        load(triples, path)
    assert (caught.value.line, caught.value.field) == (2, "triple_list[0]")


def test_a_bad_record_can_be_set_aside(tmp_path):
    good = {"text": "a b", "triple_list": [["a", "r", "b"]]}
    docs, report = load_lines(triples, tmp_path, [good, {"text": 3}, good], Options(skip_bad=True))
    assert (len(docs), report.rejected) == (2, 1)


def test_a_file_cut_short_is_an_error(tmp_path):
    path = tmp_path / "file.json"
    path.write_text('[{"text": "a b", "triple_list": [["a", "r"')
    with pytest.raises((BadRecord, BadFile)):
        load(triples, path)


def test_a_mention_outside_all_facts_is_a_loss():
    doc = Document("d", "a b", mentions=(Mention("m", 0, 1, "a"),), entities=(Entity("e", ("m",), "", "a"),))
    assert triples.lost(doc, Options()) == {"entities": 1, "mentions outside facts": 1}


WORDS = ["林晚", "北岸", "Ron", "Aaron", "的", "1971", "😀", "of"]


@st.composite
def records(draw):
    """A text and triples whose arguments are words of it."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=3, max_size=8))
    triple = st.tuples(st.sampled_from(words), st.sampled_from(["r", "作者", "a的b"]), st.sampled_from(words))
    return {"id": "d", "text": " ".join(words), "triple_list": draw(st.lists(triple, min_size=1, max_size=5))}


@pytest.mark.parametrize("module", [triples, duie, uie])
@pytest.mark.parametrize("choice", ["first", "nearest", "all"])
def test_documents_made_of_told_facts_come_back_or_their_loss_is_named(module, choice, tmp_path):
    """Facts given as strings alone, then written in each format that has to find or name them."""
    held = []
    options = Options(occurrences=choice)

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(records())
    def check(record):
        (doc,), _ = load_lines(triples, tmp_path, [record], options)
        if module is not triples:
            doc = Document(doc.id, doc.text, None, doc.sentences, doc.mentions, doc.entities, doc.facts)
        if module.lost(doc, options):
            return
        path = tmp_path / f"out{module.ENDING}"
        module.write([doc], path, options)
        (back,), _ = load(module, path, options)
        back = Document(
            back.id, back.text, None, doc.sentences, back.mentions, back.entities, back.facts, meta=back.meta
        )
        assert canonical(back) == canonical(doc)
        held.append(len(doc.facts))

    check()
    assert sum(held) > 10


@pytest.mark.skipif(not DATA.exists(), reason=ABSENT)
@pytest.mark.parametrize("name", COUNTS)
def test_the_public_sets_have_the_counts_of_their_source(name, tmp_path):
    docs, report = load(triples, DATA / f"{name}.json.xz")
    unfound = [triple for doc in docs for triple in doc.meta.get("unfound", [])]
    relations = {fact.relation for doc in docs for fact in doc.facts} | {triple[1] for triple in unfound}
    total = sum(len(doc.facts) for doc in docs) + len(unfound)
    twice = report.counts["duplicate_fact"]
    assert (len(docs), total, len(relations), len(unfound), twice) == COUNTS[name]
    assert not any(triples.lost(doc, Options()) for doc in docs[:500])
    triples.write(docs[:500], tmp_path / "out.json", Options())
    again, _ = load(triples, tmp_path / "out.json")
    assert [canonical(doc) for doc in again] == [canonical(doc) for doc in docs[:500]]
