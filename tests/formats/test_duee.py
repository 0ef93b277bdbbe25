import json

import pytest

from factpin.documents import Argument, Document, Event, Mention, canonical
from factpin.errors import BadRecord
from factpin.formats import FORMATS, Options, duee
from factpin.formats._guess import head
from tests.events_corpus import corpus
from tests.formats.loading import SAMPLES, load, load_lines

TEXT = "海星科技裁员300人"


def argument(start=0, surface="海星科技", role="裁员方", **more):
    return {"argument_start_index": start, "argument": surface, "role": role, "alias": []} | more


def record(*arguments, text=TEXT, **more):
    event = {"event_type": "组织关系-裁员", "trigger": "裁员", "trigger_start_index": 4, "arguments": [*arguments],
             "class": "组织关系"}  # fmt: skip
    return {"text": text, "id": "d", "event_list": [event | more]}


def test_events_share_the_mention_of_one_place():
    docs, _ = load(duee, SAMPLES / "duee.json")
    buys, buys_too, fires = docs[0].events
    assert [m.text for m in docs[0].mentions] == [
        "海星科技", "周一", "收购", "云杉软件", "长河数据", "裁员", "300人",
    ]  # fmt: skip
    assert buys.trigger == buys_too.trigger != fires.trigger
    assert {v.arguments[0].mention for v in docs[0].events} == {"m0"}
    assert [(a.role, docs[0].mention(a.mention).text) for a in fires.arguments] == [
        ("裁员方", "海星科技"), ("裁员人数", "300人"),
    ]  # fmt: skip
    winner, place, prize = (docs[1].mention(a.mention) for a in docs[1].events[0].arguments)
    assert (winner.start, winner.end, place.start, place.end, prize.start) == (0, 8, 0, 4, 10)
    assert all(m.type == "" for doc in docs for m in doc.mentions)


def test_what_is_read_is_written_as_it_was(tmp_path):
    docs, _ = load(duee, SAMPLES / "duee.json")
    duee.write(docs, tmp_path / "out.json", Options())
    before, after = (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in (SAMPLES / "duee.json", tmp_path / "out.json")
    )
    assert after == before
    assert docs[1].meta == {
        "source": "sample",
        "duee": {"event_list[0]": {"class": "竞赛"}, "event_list[0].arguments[2]": {"note": "初审"}},
    }
    assert docs[0].meta == {"duee": {"event_list[0].arguments[0]": {"alias": ["海星"]}}}


def test_the_small_world_of_events_comes_back(tmp_path):
    docs = corpus(22, 0)
    assert not any(duee.lost(doc, Options()) for doc in docs)
    duee.write(docs, tmp_path / "out.json", Options())
    again, _ = load(duee, tmp_path / "out.json")
    for back, doc in zip(again, docs, strict=True):
        assert canonical(back) == canonical(Document(doc.id, doc.text, mentions=doc.mentions, events=doc.events))


def test_an_event_may_have_no_trigger_and_a_file_may_be_a_list(tmp_path):
    bare = record(argument())
    for key in ("trigger", "trigger_start_index"):
        del bare["event_list"][0][key]
    (doc,), _ = load_lines(duee, tmp_path, [[bare]])
    assert doc.events == (Event("v0", "组织关系-裁员", None, (Argument("裁员方", "m0"),)),)
    duee.write([doc], tmp_path / "out.json", Options())
    assert "trigger" not in (tmp_path / "out.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wrong", "field", "words"),
    [
        (record(argument(1)), "event_list[0].arguments[0]", "It is at 0:4"),
        (record(argument(0, "海星科枝")), "event_list[0].arguments[0]", "not in the text"),
        (record(argument(), argument(6, "300人啊")), "event_list[0].arguments[1]", "not in the text"),
        (record(argument(), trigger_start_index=5), "event_list[0].trigger", "It is at 4:6"),
        (record(argument(-1)), "event_list[0].arguments[0]", "0 or more"),
        (record(argument(0, "")), "event_list[0].arguments[0]", "a string"),
        (record(argument("0")), "event_list[0].arguments[0].argument_start_index", "a whole number"),
        (record(argument(role=None)), "event_list[0].arguments[0].role", "a string"),
        (record(argument(), trigger_start_index=None), "event_list[0].trigger_start_index", "a whole number"),
        (record(argument(), event_type=3), "event_list[0].event_type", "a string"),
        (record("海星科技"), "event_list[0].arguments[0]", "an object"),
        (record(argument()) | {"duee": 1}, "duee", "Rename"),
    ],
)
def test_an_error_names_file_line_and_field(tmp_path, wrong, field, words):
    with pytest.raises(BadRecord, match=words) as caught:
        load_lines(duee, tmp_path, [record(argument()), wrong])
    assert (caught.value.line, caught.value.field) == (2, field)
    assert caught.value.file.endswith("file.jsonl")


def test_what_has_no_place_is_named():
    text = "ab cd"
    doc = Document(
        "d",
        text,
        mentions=(Mention("a", 0, 2, "ab"), Mention("b", 3, 5, "cd"), Mention("x", 0, 5, text, "T")),
        events=(
            Event("v0", "E", "a", (Argument("r", "b"),)),
            Event("v1", "E", "b", (Argument("of", event="v0"),), 0.5),
        ),
        meta={"text": "no", "duee": {"event_list[7]": {"k": 1}}, "kept": 1},
    )
    assert duee.lost(doc, Options()) == {
        "arguments that are events": 1, "mentions outside events": 1, "types": 1, "scores": 1, "meta": 2,
    }  # fmt: skip


def test_meta_that_would_overwrite_the_record_is_a_loss_and_is_left_out(tmp_path):
    for own in (3, {"event_list[0]": 1}, {"event_list[0]": {"trigger": "x"}}):
        doc = Document("d", "ab", mentions=(Mention("a", 0, 2, "ab"),), events=(Event("v", "E", "a"),),
                       meta={"duee": own, "kept": 1})  # fmt: skip
        assert duee.lost(doc, Options()) == {"meta": 1}
        duee.write([doc], tmp_path / "out.json", Options(lossy=True))
        (again,), _ = load(duee, tmp_path / "out.json")
        assert (again.events[0].trigger, again.meta) == ("m0", {"kept": 1})


def test_the_sample_is_recognised_and_no_other_format_claims_it():
    beginning = head(SAMPLES / "duee.json", "utf-8")
    assert duee.fits(beginning)
    assert not [name for name, format in FORMATS.items() if format is not duee and format.fits(beginning)]
    others = [path for path in SAMPLES.iterdir() if path.is_file() and path.name != "duee.json"]
    assert len(others) > 10 and not any(duee.fits(head(path, "utf-8")) for path in others)
