"""Outputs for other programs: every fact with its characters, no denied one as a triple, nothing lost unnoticed."""

import csv
import io
import re
from html import unescape
from pathlib import Path

import pytest

from factpin.documents import Argument, Document, Entity, Event, Evidence, Fact, Mention, Qualifier, Span
from factpin.extraction.select import select
from factpin.extraction.tables import TABLES
from factpin.extraction.write import WRITERS, write_csv, write_html, write_triples

TEXT = '周杰伦没有演唱过《红豆》。王菲, "Faye", 于 1998 年演唱了它。'


def mention(id: str, text: str, type: str, start: int = 0) -> Mention:
    at = TEXT.index(text, start)
    return Mention(id, at, at + len(text), text, type, 0.9)


def made() -> Document:
    mentions = (mention("m0", "周杰伦", "person"), mention("m1", "红豆", "work"), mention("m2", "王菲", "person"),
                mention("m3", "Faye", "person"), mention("m4", "1998 年", "date"), mention("m5", "演唱", "", 20),
                mention("m6", "它", "work"))  # fmt: skip
    entities = (Entity("e0", ("m0",), "person"), Entity("e1", ("m1", "m6"), "work"),
                Entity("e2", ("m2", "m3"), "person"), Entity("e3", ("m4",), "date"))  # fmt: skip
    facts = (
        Fact("e1", "歌手", "e0", "m1", "m0", 0.54, (Evidence(0),), "negated", cue=Span(3, 5)),
        Fact("e1", "歌手", "e2", "m6", "m2", 0.8, (Evidence(1),), "asserted", (Qualifier("date", "e3", "m4"),)),
    )
    event = Event("v0", "演出", "m5", (Argument("歌手", "m2"), Argument("时间", "m4")), score=0.7, assertion="asserted")
    return Document("d<1>", TEXT, "zh", (Span(0, 13), Span(13, len(TEXT))), mentions, entities, facts, (event,))


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def test_a_row_has_the_characters_of_its_fact(tmp_path: Path) -> None:
    lost = write_csv([made()], tmp_path / "a.csv")
    denied, said = table(tmp_path / "a.csv")
    assert lost == {"events": 1, "mentions": 2}
    assert (denied["head"], denied["relation"], denied["tail"]) == ("红豆", "歌手", "周杰伦")
    assert (denied["status"], denied["cue"], denied["score"]) == ("negated", "没有", "0.54")
    assert (said["head"], said["tail"], said["qualifiers"]) == ("红豆", "Faye", "date: 1998 年")
    assert TEXT[int(said["head_start"]) : int(said["head_end"])] == "它"
    assert TEXT[int(said["tail_start"]) : int(said["tail_end"])] == "王菲"
    assert said["evidence"] == TEXT[13:]


def test_the_other_parts_have_tables_of_their_own(tmp_path: Path) -> None:
    assert write_csv([made()], tmp_path / "a.csv", ("entities",)) == {"events": 1, "facts": 2}
    rows = table(tmp_path / "a.csv")
    assert [row["mention"] for row in rows] == [TEXT[int(row["start"]) : int(row["end"])] for row in rows]
    assert [row["entity"] for row in rows] == ["周杰伦", "红豆", "Faye", "Faye", "1998 年", "", "红豆"]
    write_csv([made()], tmp_path / "b.csv", ("events",))
    assert [(row["type"], row["trigger"], row["role"], row["argument"]) for row in table(tmp_path / "b.csv")] == [
        ("演出", "演唱", "歌手", "王菲"),
        ("演出", "演唱", "时间", "1998 年"),
    ]


@pytest.mark.parametrize("part", sorted(TABLES))
def test_every_row_fits_its_columns(part: str) -> None:
    columns, rows = TABLES[part]
    assert {len(row) for row in rows(made())} == {len(columns)}
    assert list(rows(Document("empty", ""))) == []


def test_what_the_text_denies_is_no_triple(tmp_path: Path) -> None:
    assert write_triples([made()], tmp_path / "a.tsv") == {"negated facts": 1, "events": 1}
    assert (tmp_path / "a.tsv").read_text() == "红豆\t歌手\tFaye\n"


def test_a_page_holds_every_text_as_it_is(tmp_path: Path) -> None:
    other = Document("e", "<script>alert(1)</script> & so on")
    assert write_html([made(), other], tmp_path / "a.html") == {}
    page = (tmp_path / "a.html").read_text()
    assert "<script" not in page and "http" not in page
    texts = re.findall(r'<p class="text"[^>]*>(.*?)</p>', page, re.DOTALL)
    assert [unescape(re.sub(r"<[^>]*>", "", text)) for text in texts] == [TEXT, other.text]
    assert "d&lt;1&gt;" in page and page.count("<style>") == 1


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_nothing_is_left_behind_where_a_document_fails(tmp_path: Path, name: str) -> None:
    def documents():  # type: ignore[no-untyped-def]
        yield made()
        raise RuntimeError

    with pytest.raises(RuntimeError):
        WRITERS[name](documents(), tmp_path / "out", ())
    assert list(tmp_path.iterdir()) == []


def test_a_part_keeps_the_mentions_that_it_needs() -> None:
    doc = made()
    assert select(doc, ()) is doc
    facts = select(doc, ("facts",))
    assert facts.facts == doc.facts and not facts.events
    assert [m.id for m in facts.mentions] == ["m0", "m1", "m2", "m3", "m4", "m6"]
    events = select(doc, ("events",))
    assert events.events == doc.events and not events.facts and [m.id for m in events.mentions] == ["m2", "m4", "m5"]
    entities = select(doc, ("entities",))
    assert (entities.mentions, entities.entities) == (doc.mentions, doc.entities)
    assert not entities.facts and not entities.events
    assert select(doc, ("facts", "entities", "events")) == doc
