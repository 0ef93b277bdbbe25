"""Documents for people: nothing of the text is lost on the way to a terminal, and nothing steers it."""

import io
import random
from dataclasses import replace

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from factpin.app.show.highlight import COLOURS, by_number, colour, events, facts, highlight, shown, table
from factpin.documents import Argument, Document, Entity, Event, Evidence, Fact, Mention, Span


def document(text: str, *spans: tuple[int, int, str], **meta: object) -> Document:
    mentions = tuple(Mention(f"m{i}", s, e, text[s:e], t, 0.5) for i, (s, e, t) in enumerate(spans))
    return Document("d", text, "zh", mentions=mentions, meta=meta)


def printed(what: Table | Text, *, terminal: bool = False, width: int = 80) -> str:
    stream = io.StringIO()
    colours = "standard" if terminal else "auto"
    Console(file=stream, force_terminal=terminal, width=width, color_system=colours).print(what, soft_wrap=True)
    return stream.getvalue()


def test_every_mention_is_followed_by_its_label() -> None:
    doc = document("王小明出生于北京。", (0, 3, "person"), (6, 8, "place"))
    text = highlight(doc)
    assert text.plain == "王小明[person]出生于北京[place]。"
    bold = [text.plain[span.start : span.end] for span in text.spans if str(span.style).startswith("bold")]
    assert bold == ["王小明", "北京"]


def test_nested_and_crossing_mentions_keep_the_text_and_all_labels() -> None:
    chance = random.Random(1)
    for _ in range(100):
        text = "".join(chance.choices("甲乙丙丁ab ", k=20))
        spans = [(s, s + chance.randrange(1, 21 - s), chance.choice("xyz")) for s in chance.choices(range(20), k=6)]
        found = highlight(document(text, *spans)).plain
        assert sorted(c for c in found if c in "xyz") == sorted(label for *_, label in spans)
        for label in "xyz":
            found = found.replace(f"[{label}]", "")
        assert found == text


def test_what_lies_in_two_mentions_is_underlined_in_the_colour_of_the_inner() -> None:
    doc = document("北京大学", (0, 4, "school"), (0, 2, "place"))
    styles = {span.start: str(span.style) for span in highlight(doc).spans}
    assert styles[0] == f"bold {colour('place')} underline"
    assert highlight(doc).plain == "北京[place]大学[school]"


def test_without_colours_both_ends_of_a_mention_are_marked() -> None:
    doc = document("不屈法国的总理李强说", (2, 4, "location"), (5, 9, "person"), (5, 7, "title"))
    assert highlight(doc, colours=False).plain == "不屈[法国|location]的[[总理|title]李强|person]说"
    same = document("总理说", (0, 2, "title"), (0, 2, "person"))
    assert highlight(same, colours=False).plain.startswith("[[总理|")


def test_fifty_thousand_mentions_are_shown() -> None:
    text = "北京。" * 50_000
    spans = [(i, i + 2, "place") for i in range(0, len(text), 3)]
    assert highlight(document(text, *spans)).plain.count("[place]") == 50_000


def test_colour_without_a_terminal_has_no_escape_codes() -> None:
    doc = document("王小明\x1b[31m\x1b]0;x\x07出生于北京。\r\n", (0, 3, "person"))
    for what in (highlight(doc), table(doc)):
        assert "\x1b" not in printed(what)
        assert "\x1b" in printed(what, terminal=True)


def test_a_text_cannot_steer_the_terminal() -> None:
    raw = "".join(map(chr, range(0xA0)))
    assert not any(ord(c) < 32 and c not in "\t\n" or 0x7F <= ord(c) < 0xA0 for c in shown(raw))
    assert shown("\x1b[2J") == "␛[2J"


def test_a_label_has_always_the_same_colour() -> None:
    assert colour("人物") == colour("人物") and {colour(f"label {i}") for i in range(100)} == set(COLOURS)


def test_markup_in_a_text_is_text() -> None:
    doc = document("[bold]王小明[/bold] [red", (6, 9, "[x]"))
    assert highlight(doc).plain == "[bold]王小明[[x]][/bold] [red"
    assert "[x]" in printed(table(doc))


@pytest.mark.parametrize("width", [30, 80])
def test_a_table_cuts_no_mention(width: int) -> None:
    name = "".join(map(chr, range(0x4E00, 0x4E00 + 60)))
    stream = io.StringIO()
    Console(file=stream, width=width).print(table(document(name, (0, 60, "company"))))
    assert "".join(c for c in stream.getvalue() if c in name) == name
    assert "…" not in stream.getvalue()


def test_a_table_tells_the_page_of_each_mention_where_there_are_pages() -> None:
    doc = document("北京。\n\n上海。", (0, 2, "place"), (5, 7, "place"), pages=[[0, 3], [5, 8]])
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]] for line in printed(table(doc)).splitlines() if "│" in line
    ]
    assert rows == [["0", "2", "1", "北京", "place", "0.50"], ["5", "7", "2", "上海", "place", "0.50"]]
    assert "page" not in printed(table(document("北京", (0, 2, "place"))))


def test_the_table_of_events_shows_how_each_is_said() -> None:
    text = "蓝天科技没有裁员。"
    mentions = (Mention("m0", 0, 4, "蓝天科技"), Mention("m1", 6, 8, "裁员"))
    event = Event("v0", "裁员", "m1", (Argument("裁员方", "m0"),), 0.5, "negated", Span(4, 6))
    rows = printed(events(Document("d", text, "zh", mentions=mentions, events=(event,))))
    assert "status" in rows and "negated (没有)" in rows
    bare = Event("v0", "裁员", "m1")
    assert "negated" not in printed(events(Document("d", text, "zh", mentions=mentions, events=(bare,))))


def two_facts(*evidence: int) -> Document:
    text = "Peter Whitcombe was born in London. Peter, who never liked it, died in Paris a long while after that."
    mentions = (Mention("m0", 0, 15, "Peter Whitcombe"), Mention("m1", 28, 34, "London"),
                Mention("m2", 36, 41, "Peter"), Mention("m3", 71, 76, "Paris"))  # fmt: skip
    entities = (Entity("e0", ("m0", "m2"), name="Peter Whitcombe"), Entity("e1", ("m1",)), Entity("e2", ("m3",)))
    told = (Fact("e0", "born in", "e1", "m0", "m1", evidence=(Evidence(0),)),
            Fact("e0", "died in", "e2", "m2", "m3", evidence=tuple(map(Evidence, evidence))))  # fmt: skip
    return Document("d", text, "en", (Span(0, 35), Span(36, len(text))), mentions, entities, told)


def test_the_table_of_facts_has_entities_not_mentions() -> None:
    rows = printed(facts(two_facts(1), 200), width=200)
    assert rows.count("│ Peter Whitcombe │") == 2 and "│ Peter  " not in rows
    assert "London" in rows and "Paris" in rows


def test_evidence_is_told_by_number_where_its_text_has_no_room() -> None:
    one, both = two_facts(1), two_facts(0, 1)
    assert not by_number(one, 100) and "never liked" in printed(facts(one, 200), width=200)
    assert by_number(one, 60) and "never" not in printed(facts(one, 60), width=60)
    assert by_number(both, 200) and "│ 0" not in printed(facts(both, 200)) and "1, 2" in printed(facts(both, 200))
    assert not by_number(document("北京。"), 20)


def test_narrow_tables_of_facts_have_short_names_of_relations() -> None:
    from factpin.app.show.short_names import SHORT

    assert all(len(short) < len(name) for name, short in SHORT.items())
    assert len(set(SHORT.values())) == len(SHORT), "one short name for one relation"
    text = "Warsaw is in Poland."
    mentions = (Mention("m0", 0, 6, "Warsaw", "location"), Mention("m1", 13, 19, "Poland", "location"))
    entities = (Entity("e0", ("m0",)), Entity("e1", ("m1",)))
    fact = Fact("e0", "located in the administrative territorial entity", "e1", score=0.6, assertion="asserted")
    doc = Document("d", text, mentions=mentions, entities=entities, facts=(fact,))
    relation = facts(doc, 60).columns[1]
    assert [str(cell) for cell in relation.cells] == ["located in"]
    assert [str(cell) for cell in facts(doc, 120).columns[1].cells] == [fact.relation]
    short = replace(doc, facts=(replace(fact, relation="place of birth"),))
    assert [str(cell) for cell in facts(short, 80).columns[1].cells] == ["born in"], "by the width alone"
