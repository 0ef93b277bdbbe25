import json

import pytest

from factpin.documents import Argument, Document, Event, Mention, Span
from factpin.errors import BadRecord
from factpin.formats import Options, oneie
from factpin.formats._guess import head
from factpin.formats._writing import overlapping
from tests.formats.loading import ABSENT, DATA, SAMPLES, load, load_lines, spans, told


def record(**fields):
    mentions = [
        {"id": "a", "start": 0, "end": 1, "entity_type": "X"},
        {"id": "b", "start": 1, "end": 3, "entity_type": "Y"},
    ]
    return {"doc_id": "d", "sent_id": "d-0", "tokens": ["One", "two", "three"], "entity_mentions": mentions} | fields


def arguments(*pairs):
    return [{"entity_id": id, "role": role} for id, role in pairs]


def test_mentions_facts_and_events_are_read():
    docs, report = load(oneie, SAMPLES / "oneie.jsonl")
    news = docs[0]
    assert (news.id, news.meta["doc_id"], news.sentences) == ("news-1-0", "news-1", (Span(0, len(news.text)),))
    assert spans(news)[1:3] == [(19, 43, "ORG"), (19, 28, "GPE")]
    assert told(news) == [("Ines Calder", "ORG-AFF", "Northmere Bridge Company")]
    (event,) = news.events
    assert (event.type, news.mention(event.trigger).text) == ("Movement:Transport", "arrived")
    assert event.arguments[1] == Argument("Destination", "news-1-0-E4")
    assert news.meta["extra"]["entity_mentions[0]"] == {"mention_type": "NAM"}
    assert [m.text for m in docs[2].mentions] == ["human IL-2 gene promoter", "IL-2"]
    assert not report.counts


def test_the_head_is_arg_1_wherever_it_stands(tmp_path):
    chinese = load(oneie, SAMPLES / "oneie.jsonl")[0][1]
    assert chinese.text == "林晓在南湾市工作。"
    assert told(chinese) == [("林晓", "GEN-AFF", "南湾市")]
    item = record(relation_mentions=[{"relation_type": "R", "arguments": arguments(("b", "who"), ("a", "what"))}])
    (doc,), _ = load_lines(oneie, tmp_path, [item])
    assert told(doc) == [("two three", "R", "One")]
    oneie.write([doc], tmp_path / "out.jsonl", Options())
    assert json.loads((tmp_path / "out.jsonl").read_text())["relation_mentions"] == item["relation_mentions"]


def test_a_text_that_is_not_its_tokens_is_noted(tmp_path):
    mentions = [{"start": 0, "end": 2, "entity_type": "X", "text": "Onetwo"}, {"start": 2, "end": 3, "text": "four"}]
    (doc,), report = load_lines(oneie, tmp_path, [record(entity_mentions=mentions)])
    assert report.counts == {"text_differs": 1}
    assert [m.text for m in doc.mentions] == ["One two", "three"]


def test_events_that_share_trigger_and_arguments_come_back(tmp_path):
    doc = Document(
        "d",
        "One two three",
        sentences=(Span(0, 13),),
        mentions=(
            Mention("m0", 0, 3, "One", "PER"),
            Mention("m1", 4, 7, "two", "Hit"),
            Mention("m2", 8, 13, "three", "Run"),
        ),
        events=(
            Event("v0", "Hit", "m1", (Argument("who", "m0"),)),
            Event("v1", "Run", "m2", (Argument("why", event="v0"), Argument("with", "m2"))),
            Event("v2", "Sit", "m0"),
            Event("v3", "Lie", None),
        ),
    )
    assert not oneie.lost(doc, Options())
    oneie.write([doc], tmp_path / "out.jsonl", Options())
    item = json.loads((tmp_path / "out.jsonl").read_text())
    assert [m["id"] for m in item["entity_mentions"]] == ["m0", "m2"]
    (back,), _ = load(oneie, tmp_path / "out.jsonl")
    assert set(back.mentions) == set(doc.mentions)
    assert back.events == doc.events


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"entity_mentions": [{"start": 2, "end": 4}]}, "entity_mentions[0]", "a sentence of 3"),
        ({"entity_mentions": [{"start": 2, "end": 2}]}, "entity_mentions[0]", "start and end"),
        ({"entity_mentions": [{"id": 1, "start": 0, "end": 1}] * 2}, "entity_mentions[1].id", "used twice"),
        ({"relation_mentions": [{"relation_type": "R", "arguments": arguments(("a", "Arg-1"))}]},
         "relation_mentions[0].arguments", "two arguments"),
        ({"relation_mentions": [{"relation_type": "R", "arguments": arguments(("a", ""), ("z", ""))}]},
         "relation_mentions[0]", "not a span of this record"),
        ({"event_mentions": [{"event_type": "E", "trigger": {"start": 3, "end": 4}}]}, "event_mentions[0].trigger",
         "a sentence of 3"),
        ({"event_mentions": [{"event_type": "E", "arguments": arguments(("z", "who"))}]}, "events[0].arguments",
         "not in the document"),
        ({"tokens": ["a", None]}, "tokens[1]", "a string"),
    ],
)  # fmt: skip
def test_a_wrong_record_is_named_by_file_line_and_field(fields, field, words, tmp_path):
    with pytest.raises(BadRecord) as caught:
        load_lines(oneie, tmp_path, [record(), record(**fields)])
    assert (caught.value.line, caught.value.field) == (2, field)
    assert words in str(caught.value)


def test_other_json_lines_are_not_taken_for_oneie(tmp_path):
    assert oneie.fits(head(SAMPLES / "oneie.jsonl", "utf-8"))
    for other in ({"tokens": ["a"], "entities": []}, {"text": "a", "entity_mentions": []}, [record()]):
        (tmp_path / "other.json").write_text(json.dumps(other), encoding="utf-8")
        assert not oneie.fits(head(tmp_path / "other.json", "utf-8"))


@pytest.mark.skipif(not DATA.exists(), reason=ABSENT)
@pytest.mark.parametrize(("name", "counts"), [("dev", (1765, 199, 4714, 444)), ("test", (1732, 199, 5119, 603))])
def test_genia_is_read_completely_and_comes_back(name, counts, tmp_path):
    docs, report = load(oneie, DATA / "genia" / f"{name}.jsonlines.xz")
    inside = 0
    for doc in docs:
        places = {(m.start, m.end) for m in doc.mentions}
        inside += sum(any(s <= m.start and m.end <= e and (s, e) != (m.start, m.end) for s, e in places)
                      for m in doc.mentions)  # fmt: skip
    assert counts == (len(docs), len({d.meta["doc_id"] for d in docs}), sum(len(d.mentions) for d in docs), inside)
    assert not report.counts
    assert sum(len(overlapping(d.mentions)) for d in docs) >= inside
    assert not any(oneie.lost(d, Options()) for d in docs)
    oneie.write(docs, tmp_path / "out.jsonl", Options())
    assert load(oneie, tmp_path / "out.jsonl")[0] == docs
