"""The page in a real browser: reading, lighting, filtering, asking, browsing, correcting, exporting."""

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

import factpin
from factpin.documents import Document, from_json, to_json
from factpin.extraction.annotator import annotator
from factpin.extraction.inputs import ENDINGS
from factpin.models.shipped import choose_models
from tests.extraction.papers import pdf

pytestmark = pytest.mark.browser
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
FAMILY = "👨‍👩‍👧 谷爱凌𠮷"
UNSURE = (
    "The drug is made by Merck in Darmstadt, Germany. Dr Angela Hartmann of Heidelberg University Hospital said so."
)
TRUE = {
    ("Marie Curie", "Warsaw"), ("Marie Curie", "Poland"), ("Marie Curie", "7 November 1867"),
    ("Marie Curie", "Polish"), ("Marie Curie", "French"),
    ("Marie Curie", "University of Paris"), ("Marie Curie", "Passy"), ("Marie Curie", "France"),
    ("Marie Curie", "4 July 1934"), ("Warsaw", "Poland"), ("Pierre Curie", "Paris"),
    ("Irène Joliot-Curie", "Paris"), ("Irène Joliot-Curie", "1897"),
}  # fmt: skip


def read(page: Any, text: str) -> Any:
    page.click("[data-mode=write]")
    page.fill("#write", text)
    with page.expect_response("**/v1/extract"):
        page.click("#read-it")
    page.wait_for_function("(text) => document.querySelector('#text').textContent.includes(text)", arg=text[:12])
    return page


def correct(page: Any) -> None:
    page.click("[data-mode=correct]")


def select(page: Any, start: int, end: int) -> None:
    """Select characters of the text, in UTF-16 units, as a reader would."""
    page.evaluate(
        """([start, end]) => {
          const at = (offset, last) => {
            for (const run of document.querySelectorAll("#text .run")) {
              const [from, to] = [+run.dataset.start, +run.dataset.end];
              if (offset >= from && (last ? offset <= to : offset < to)) return [run.firstChild, offset - from];
            }
          };
          getSelection().setBaseAndExtent(...at(start, false), ...at(end, true));
        }""",
        [start, end],
    )
    page.wait_for_selector("#correct .pick")


def exported(page: Any, tmp_path: Path) -> Any:
    page.click("#correct button:has-text('Export')")
    with page.expect_download() as event:
        page.click("#download")
    event.value.save_as(tmp_path / "corrected.jsonl")
    page.keyboard.press("Escape")
    page.wait_for_selector("#export", state="hidden")
    return from_json(json.loads((tmp_path / "corrected.jsonl").read_text("utf-8")))


def test_the_example_is_lit_with_true_facts_only(window: Any) -> None:
    page = window().open()
    facts = page.evaluate(
        """() => [...document.querySelectorAll("tr[data-fact]")].map((row) => [
          row.closest("tbody").querySelector(".group").firstChild.textContent, row.querySelector(".tail").textContent,
          row.querySelector(".relation").className])"""
    )
    assert len(facts) >= 10
    stated = {(head, tail) for head, tail, kind in facts if "asserted" in kind}
    assert stated <= TRUE
    denied = [(head, tail) for head, tail, kind in facts if "negated" in kind]
    assert denied == [("Marie Curie", "Harvard University")]
    assert page.locator("#text .chip[data-type=person]").count() >= 3


def test_three_nested_marks_are_apart(window: Any) -> None:
    page = read(window().open(), "Rome University Press of Italy")
    correct(page)
    for start, end in ((0, 4), (0, 15), (0, 21), (16, 30)):
        select(page, start, end)
        page.click("#correct .pick >> nth=0")
        page.keyboard.press("Escape")
    boxes = page.evaluate(
        """() => ["Rome", "Rome University", "Rome University Press", "Press of Italy"].map((text) => {
          const rows = [...document.querySelectorAll("#text .m")];
          const parts = new Map();
          for (const m of rows) parts.set(m.dataset.m, [...(parts.get(m.dataset.m) ?? []), m]);
          for (const list of parts.values()) {
            const said = list.flatMap((m) => [...m.querySelectorAll(".run")]).map((r) => r.textContent).join("");
            if (said === text) return list.at(-1).getBoundingClientRect().bottom;
          }
        })"""
    )
    assert None not in boxes
    lines = [round(bottom) for bottom in boxes]
    assert len({lines[0], lines[1], lines[2]}) == 3 and lines[2] != lines[3]
    assert min(abs(a - b) for i, a in enumerate(lines[:3]) for b in lines[:i]) > 10


def test_labels_are_apart_in_a_narrow_font(window: Any) -> None:
    page = window().open()
    page.evaluate("document.documentElement.style.setProperty('--serif', 'serif')")
    read(
        page,
        "She left Paris, Passy, Rome, Oslo, Bonn, Lima, and Bern in 1934. Ann met Bob, Tim, and Joe in Passy, France.",
    )
    labels = page.evaluate(
        """() => [...document.querySelectorAll("#text .chip")].map((chip) => {
          const brush = document.createElement("canvas").getContext("2d");
          brush.font = getComputedStyle(chip, "::after").font;
          const { left, top } = chip.getClientRects()[0];
          const lane = getComputedStyle(chip).getPropertyValue("--lane");
          return { left, right: left + brush.measureText(chip.dataset.type).width, row: `${Math.round(top)} ${lane}` };
        })"""
    )
    assert len(labels) >= 10
    rows: dict[str, list[Any]] = {}
    for label in sorted(labels, key=lambda label: label["left"]):
        rows.setdefault(label["row"], []).append(label)
    assert all(a["right"] < b["left"] for row in rows.values() for a, b in zip(row, row[1:], strict=False))


def test_pointing_at_a_fact_lights_where_it_comes_from(window: Any) -> None:
    page = window().open()
    page.hover("tr[data-fact]:has(.relation.negated)")
    assert page.locator("#text .m.lit").count() >= 2
    assert "never studied" in page.locator("#text .evidence").inner_text()
    assert page.locator("#text .cue").inner_text() == "never"
    assert page.locator("#text .arc text").text_content() == "educated at"
    page.hover("#tabs")
    assert page.locator("#text .evidence").count() == 0
    page.click("tr[data-fact]:has(.relation.negated)")
    page.hover("#tabs")
    assert page.locator("#text .evidence").count() == 1
    assert page.locator("tr[aria-selected=true]").count() == 1


def test_the_slider_hides_and_shows_facts(window: Any) -> None:
    page = window().open()
    before = page.locator("tr[data-fact]").count()
    page.focus("#least")
    page.keyboard.press("Home")
    assert page.locator("tr[data-fact]").count() > before
    page.keyboard.press("End")
    assert page.locator("tr[data-fact]").count() < before


def test_at_first_the_page_shows_the_mentions_that_the_command_line_shows(window: Any) -> None:
    page = read(window().open(), UNSURE)
    ids = "(all) => [...new Set(all.map((run) => run.dataset.m))].length"
    (doc,) = factpin.extract(UNSURE)
    (everything,) = factpin.extract(UNSURE, min_score=0)
    assert page.eval_on_selector_all("#text .m", ids) == len(doc.mentions) < len(everything.mentions)
    page.focus("#least-mentions")
    page.keyboard.press("Home")
    page.focus("#least")
    page.keyboard.press("Home")
    assert page.eval_on_selector_all("#text .m", ids) == len(everything.mentions)


def hidden_mention() -> Any:
    """A mention of UNSURE that is hidden at first, with no other on its characters."""
    (shown,), (everything,) = factpin.extract(UNSURE), factpin.extract(UNSURE, min_score=0)
    kept = {m.id for m in shown.mentions}
    return next(
        m
        for m in everything.mentions
        if m.id not in kept and not any(o.start < m.end and m.start < o.end for o in everything.mentions if o != m)
    )


def marked(page: Any) -> set[tuple[str, str]]:
    """The shown mentions, with their types as the page names them."""
    return {
        (text, kind)
        for text, kind in page.evaluate(
            """() => [...document.querySelectorAll("#text .chip")].map((chip) => {
              const id = chip.closest(".m").dataset.m;
              const runs = [...document.querySelectorAll(`#text .m[data-m="${id}"] .run`)];
              return [runs.map((run) => run.textContent).join(""), chip.dataset.type];
            })"""
        )
    }


def test_a_correction_of_a_hidden_mention_outlives_a_reload_and_is_kept(window: Any, tmp_path: Path) -> None:
    page, mention = read(window().open(), UNSURE), hidden_mention()
    assert mention.text not in {text for text, _ in marked(page)}
    for slider in ("#least-mentions", "#least"):
        page.focus(slider)
        page.keyboard.press("Home")
    correct(page)
    page.click(f"#text [data-m={mention.id}] .run")
    page.click("#correct .pick[data-type=work]")
    assert (mention.text, "work") in marked(page)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert (mention.text, "work") in marked(page)
    correct(page)
    assert (mention.text, "work") in {(m.text, m.type) for m in exported(page, tmp_path).mentions}


def test_what_is_marked_by_hand_is_shown_though_it_was_found_and_hidden(window: Any, tmp_path: Path) -> None:
    page, mention = read(window().open(), UNSURE), hidden_mention()
    correct(page)
    select(page, mention.start, mention.end)
    page.click(f"#correct .pick[data-type={mention.type}]")
    assert (mention.text, mention.type) in marked(page)
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert (mention.text, mention.type) in marked(page)
    correct(page)
    found = [m for m in exported(page, tmp_path).mentions if (m.start, m.end) == (mention.start, mention.end)]
    assert [(m.type, m.score) for m in found] == [(mention.type, None)]


def test_each_text_is_first_shown_as_the_command_line_shows_it(window: Any, tmp_path: Path) -> None:
    page = read(window().open(), UNSURE)
    (doc,) = factpin.extract(UNSURE)
    ids = "(all) => [...new Set(all.map((run) => run.dataset.m))].length"
    path = tmp_path / "drug.txt"
    path.write_text(UNSURE, encoding="utf-8")
    values = "[...document.querySelectorAll('#least, #least-mentions')].map((slider) => slider.value).join()"
    usual = page.evaluate(values)
    for slider in ("#least-mentions", "#least"):
        page.focus(slider)
        page.keyboard.press("Home" if slider == "#least" else "End")
        assert page.eval_on_selector_all("#text .m", ids) != len(doc.mentions)
        with page.expect_response("**/v1/files"):
            page.set_input_files("#file", str(path))  # the slider keeps the focus
        page.wait_for_function(f"(usual) => {values} === usual", arg=usual)
        assert page.locator("tr[data-fact]").count() == len(doc.facts)
        assert page.eval_on_selector_all("#text .m", ids) == len(doc.mentions)


def test_a_file_of_several_texts_says_that_one_is_shown(window: Any, tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    texts = ["Ada Lovelace was born in London.", "Alan Turing was born in London.", "Pierre Curie was born in Paris."]
    path.write_text("".join(json.dumps({"id": t[:3], "text": t}) + "\n" for t in texts), encoding="utf-8")
    page = window(locale="zh-CN").open()
    with page.expect_response("**/v1/files"):
        page.set_input_files("#file", str(path))
    page.wait_for_selector("#one-of")
    assert "3" in page.locator("#toast").inner_text() and "Ada Lovelace" in page.locator("#text").inner_text()
    assert page.locator("#one-of").inner_text() == "文件中有 3 篇文本，这里显示第一篇。"
    page.click("#language")
    assert page.locator("#one-of").inner_text() == "The file has 3 texts; this is the first."
    read(page, texts[1])
    assert page.locator("#one-of").count() == 0


def test_a_file_without_text_and_files_that_are_not_read_are_named(window: Any) -> None:
    page = window().open()
    drop = """(files) => {
      const data = new DataTransfer();
      for (const [name, text] of files) data.items.add(new File([text], name));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    said = "(words) => document.querySelector('#toast').textContent.includes(words)"
    page.evaluate(drop, [["ada.txt", "Ada Lovelace was born in London."], ["b.txt", "B"]])
    page.wait_for_function(said, arg="Only one file is read at a time: ada.txt.")
    assert "Ada Lovelace" in page.locator("#text").inner_text()
    page.evaluate(drop, [["none.jsonl", "\n"]])
    page.wait_for_function(said, arg="There is no text in the file.")


def test_unread_text_is_hatched_with_its_reason(window: Any) -> None:
    page = read(window().open(), "Это предложение на русском языке.")
    unread = page.locator("#text .unread").first
    assert unread.count() and unread.get_attribute("title")


def test_the_graph_shows_names_and_follows_the_selection(window: Any) -> None:
    page = window().open()
    page.click("#tab-graph")
    names = page.locator("#panel-graph .node text").all_text_contents()
    assert "Marie Curie" in names and len(names) >= 8
    assert page.locator("#panel-graph .edge.unsure").count() == 1
    page.focus(".node[aria-label^='Marie Curie']")
    assert page.locator("#text .m.lit").count() >= 3


def test_names_of_edges_in_the_graph_cover_neither_each_other_nor_names_of_nodes(window: Any) -> None:
    page = read(window().open(), "Pierre Curie was born in Paris. Pierre Curie died in Paris. Ada Lee lives in Oslo.")
    page.click("#tab-graph")
    edges, nodes = (
        page.evaluate(
            """(kind) => [...document.querySelectorAll(`#panel-graph .${kind} text`)].map((text) => {
              const { left, right, top, bottom } = text.getBoundingClientRect();
              return [left, right, top, bottom];
            })""",
            kind,
        )
        for kind in ("edge", "node")
    )
    assert len(edges) >= 2 and len(nodes) >= 2
    for i, (left, right, top, bottom) in enumerate(edges):
        for other in edges[:i] + nodes:
            assert other[1] <= left or right <= other[0] or other[3] <= top + 2 or bottom - 2 <= other[2]


def test_other_tabs(window: Any) -> None:
    page = window().open()
    page.click("#tab-entities")
    assert "Marie Curie" in page.locator("#panel-entities").inner_text()
    page.click("#tab-events")
    assert "factpin train events" in page.locator("#panel-events").inner_text()
    page.click("#tab-json")
    doc = from_json(json.loads(page.locator("#panel-json pre").text_content()))
    assert doc.facts and all(doc.text[m.start : m.end] == m.text for m in doc.mentions)


def test_ask_with_conflict_path_and_citations(window: Any) -> None:
    page = window().open()
    page.click("[data-view=ask]")
    page.fill("#question", "Where was the director of Still Water born?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer .conflict")
    assert set(page.locator("#answer .side .answer").all_text_contents()) == {"Rome", "Oslo"}
    assert page.locator(".path .node text").all_text_contents()[:2] == ["Still Water", "Ann Ash"]
    page.wait_for_selector("#cited .cited")
    assert page.locator("#cited .cited").inner_text() in ("Rome", "Oslo")
    page.click("#answer .hops .edge.lit[role=button] >> nth=0", force=True)
    page.wait_for_selector("#cited .cited")
    drawn = set(page.locator("#answer .hops .node text").all_text_contents())
    assert {"Still Water", "Ann Ash", "Rome", "Oslo"} <= drawn
    page.fill("#question", "Who painted the moon?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer .abstained")
    assert "No text in the store answers this" in page.locator("#answer").inner_text()
    page.fill("#question", "Who wrote the book about Ann Ash?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer .abstained .side .cite")
    assert page.locator("#answer .abstained .side").count() > 1
    assert "[object" not in page.locator("#answer").inner_text()


def test_browse_the_store(window: Any) -> None:
    page = window().open()
    page.click("[data-view=store]")
    page.wait_for_selector("#store-list .cite")
    assert page.locator("#store-list .cite").count() == 4
    page.click("[data-part=entities]")
    page.click("#store-list .cite:has-text('Ann Ash')")
    page.wait_for_selector("#store-detail .fact")
    assert "Rome" in page.locator("#store-detail").inner_text()
    page.click("[data-part=facts]")
    page.click("#store-list .cite:has-text('Oslo')")
    page.wait_for_selector("#store-detail .fact .cite")
    page.click("[data-part=conflicts]")
    page.wait_for_selector("#store-list .conflict")
    assert page.locator("#store-list .conflict .side").count() == 2
    page.click("[data-part=timeline]")
    page.wait_for_selector("#store-list dt")
    assert page.locator("#store-list dt").first.inner_text() == "2015"


def test_a_stored_document_shows_what_reading_it_shows(window: Any) -> None:
    """The store keeps all mentions, and marks those that the models are not sure of."""
    (doc,) = annotator(choose_models(())).annotate([Document(id="d", text=UNSURE)])
    found: Any = to_json(doc)
    unsure = found["meta"]["unsure"]["mentions"]
    assert unsure and len(unsure) < len(found["mentions"])
    page = window().open()
    answer = {"source": {"uri": "d.txt", "title": "", "published": ""}, "document": found}
    page.route("**/v1/store/document?*", lambda to: to.fulfill(json=answer))
    page.click("[data-view=store]")
    page.click("#store-list .cite >> nth=0")
    page.wait_for_selector("#store-detail .source .m")
    drawn = page.locator("#store-detail .source .m").count()
    assert 0 < drawn <= len(found["mentions"]) - len(unsure)


def test_facts_that_were_added_by_hand_have_no_key_as_their_place(window: Any) -> None:
    page = window().open()
    page.click("[data-view=store]")
    page.wait_for_selector("#store-list .cite")
    shown = page.locator("#store-list").inner_text()
    assert "added by hand" in shown and "manual:" not in shown
    page.click("#store-list .cite >> nth=0")
    page.wait_for_selector("#store-detail .source")
    assert "manual:" not in page.locator("#store-detail").inner_text()


def test_the_timeline_says_where_it_stops_and_goes_on(window: Any) -> None:
    page = window().open()
    page.route("**/v1/store/facts?*", lambda to: to.continue_(url=to.request.url.replace("limit=1000", "limit=1")))
    page.click("[data-view=store]")
    page.click("[data-part=timeline]")
    for seen in range(1, 4):
        page.wait_for_selector(f"#timeline-part:has-text('{seen}')")
        page.click("#store-list button:has-text('Show more')")
    page.wait_for_selector("#timeline-part", state="detached")
    page.wait_for_selector("#store-list dt")
    assert page.locator("#store-list dt").all_text_contents() == ["2015"]


def test_correct_undo_export_and_read_back(window: Any, tmp_path: Path) -> None:
    page = read(window().open(), FAMILY)
    correct(page)
    at = FAMILY.encode("utf-16-le").index("谷".encode("utf-16-le")) // 2
    select(page, 0, at - 1)
    page.click("#correct .pick[data-type=other]")
    page.keyboard.press("Escape")
    select(page, at + 3, at + 5)
    page.click("#correct .pick[data-type=work]")
    page.click("#correct button:has-text('Link to')")
    page.select_option("#correct select", index=1)
    page.fill("#relation", "seen with")
    page.keyboard.press("Enter")
    page.wait_for_selector("tr[data-fact]:has-text('seen with')")
    doc = exported(page, tmp_path)
    assert doc.text == FAMILY and doc.meta["edited"] is True
    assert {("👨‍👩‍👧", "other"), ("𠮷", "work")} <= {(m.text, m.type) for m in doc.mentions}
    assert [fact.relation for fact in doc.facts if fact.score is None] == ["seen with"]
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    undone = exported(page, tmp_path)
    assert "𠮷" not in {m.text for m in undone.mentions if m.type == "work"} and not undone.facts
    page.keyboard.press("Control+y")
    page.keyboard.press("Control+y")
    assert exported(page, tmp_path) == doc
    page.reload()
    page.wait_for_selector("body[data-ready]")
    correct(page)
    assert exported(page, tmp_path) == doc


def test_borders_verdicts_and_the_command(window: Any, tmp_path: Path) -> None:
    page = window().open()
    correct(page)
    before = len(exported(page, tmp_path).facts)
    page.keyboard.press("n")
    page.keyboard.press("Alt+ArrowLeft")
    page.keyboard.press("Escape")
    page.click("tr[data-fact] >> nth=0 >> button[aria-label=Reject]")
    page.click("tr[data-fact] >> nth=1 >> button[aria-label=Accept]")
    doc = exported(page, tmp_path)
    assert doc.mentions[0].text == "Marie Curi"
    assert len([f for f in doc.facts if f.score is None]) == 1 and len(doc.facts) == before - 1
    page.click("#correct button:has-text('Done')")
    page.click("#correct button:has-text('Export')")
    assert page.locator("#export pre").inner_text().startswith("factpin train triples --train corrected.jsonl")


def test_relabel_remove_and_turn_with_keys(window: Any, tmp_path: Path) -> None:
    page = read(window().open(), "Ada Lovelace was born in London.")
    correct(page)
    page.keyboard.press("n")
    page.click("#correct .pick[data-type=work]")
    page.keyboard.press("n")
    page.keyboard.press("Delete")
    page.keyboard.press("Escape")
    doc = exported(page, tmp_path)
    assert [(m.text, m.type) for m in doc.mentions] == [("Ada Lovelace", "work")] and not doc.facts
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    page.click("tr[data-fact] >> nth=0 >> button[aria-label='Change status']")
    doc = exported(page, tmp_path)
    assert [m.type for m in doc.mentions] == ["person", "location"]
    assert [fact.assertion for fact in doc.facts] == ["negated"]


def test_facts_are_filtered_and_each_relation_has_a_threshold(window: Any) -> None:
    page = window().open()
    page.fill("#filter", "harvard")
    assert page.locator("tr[data-fact] .tail").all_text_contents() == ["Harvard University"]
    page.fill("#filter", "")
    before = page.locator("tr[data-fact]").count()
    page.click(".bar summary >> nth=0")
    page.focus("#least-0")
    page.keyboard.press("End")
    assert 0 < page.locator("tr[data-fact]").count() < before


def test_export_in_another_format(window: Any, tmp_path: Path) -> None:
    page = window().open()
    correct(page)
    page.click("#correct button:has-text('Export')")
    page.select_option("#format", "brat")
    page.check("#lossy")
    with page.expect_download() as event:
        page.click("#download")
    assert Path(event.value.path()).stat().st_size > 100


def upload_of(ending: str, text: str) -> bytes:
    """A file with this text."""
    if ending == ".pdf":
        return pdf(text)
    if ending == ".docx":
        document = pytest.importorskip("docx").Document()
        document.add_paragraph(text)
        document.save(stream := io.BytesIO())
        return stream.getvalue()
    return (f"<html><body><article><p>{text}</p></article></body></html>" if ending == ".html" else text).encode()


@pytest.mark.parametrize("ending", [".txt", ".md", ".html", ".pdf", ".docx"])
def test_upload(window: Any, tmp_path: Path, ending: str) -> None:
    if ending not in ENDINGS:
        pytest.skip(f"{ending} is not read")
    text = "Ada Lovelace was born in London."
    page = window().open()
    path = tmp_path / f"ada{ending}"
    path.write_bytes(upload_of(ending, text))
    with page.expect_response("**/v1/files"):
        page.set_input_files("#file", str(path))
    page.wait_for_function("() => document.querySelector('#text').textContent.includes('Ada Lovelace')")
    assert "London" in page.locator("tr[data-fact] .tail").all_text_contents()


def test_the_column_of_a_table_is_asked_for(window: Any, tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text("stars,comment\n5,Ada Lovelace was born in London.\n", "utf-8")
    opened = window()
    page = opened.open()
    page.set_input_files("#file", str(path))
    page.wait_for_selector("#column[open]")
    assert "stars, comment" in page.locator("#column").inner_text()
    page.fill("#column-input", "coment")
    page.press("#column-input", "Enter")
    page.wait_for_function("() => document.querySelector('#column').textContent.includes('coment')")
    page.fill("#column-input", "comment")
    page.press("#column-input", "Enter")
    page.wait_for_function("() => document.querySelector('#text').textContent.includes('Ada Lovelace')")
    assert page.locator("dialog[open]").count() == 0
    assert len(opened.problems) == 2 and all("status of 422" in problem for problem in opened.problems)
    opened.problems.clear()


def test_languages_and_themes_are_kept(window: Any) -> None:
    page = window(locale="zh-CN", color_scheme="dark").open()
    assert page.locator("#tab-facts").inner_text() == "事实"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("tr[data-fact]:has(.relation.negated) .tail").inner_text() == "周杰伦"
    page.click("#language")
    page.click("#theme")
    assert page.locator("#tab-facts").inner_text() == "Facts"
    page.reload()
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#tab-facts").inner_text() == "Facts"
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_on_a_phone_nothing_is_wider_than_the_screen(window: Any) -> None:
    page = window(**PHONE).open()
    for view in ("read", "ask", "store"):
        page.tap(f"[data-view={view}]")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.tap("[data-view=read]")
    page.tap("tr[data-fact] >> nth=0")
    assert page.locator("#text .m.lit").count() >= 2
    assert (
        page.evaluate("Math.max(...[...document.querySelectorAll('.panel')].map((p) => p.scrollWidth - p.clientWidth))")
        <= 0
    )


def test_with_the_keyboard_alone(window: Any) -> None:
    page = window().open()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    assert page.locator("tr[aria-selected=true]").count() == 1
    page.keyboard.press("g")
    page.keyboard.press("g")
    assert page.locator("#panel-graph").count() == 1
    page.keyboard.press("g")
    page.keyboard.press("f")
    page.keyboard.press("/")
    page.keyboard.type("death")
    assert page.locator("tr[data-fact]").count() == 3
    page.keyboard.press("Escape")
    page.focus("#text")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    assert page.locator("#correct").is_visible()
    seen = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"language", "theme", "help-button", "text", "filter", "least"} <= seen


def test_a_text_is_read_corrected_and_exported_with_the_keyboard_alone(window: Any, tmp_path: Path) -> None:
    page = window().open()
    tab_to(page, "[data-mode=write]")
    page.keyboard.press("Enter")
    tab_to(page, "#write")
    page.keyboard.press("Control+a")
    page.keyboard.type("Ada Lovelace was born in London.")
    with page.expect_response("**/v1/extract"):
        page.keyboard.press("Control+Enter")
    page.wait_for_selector("tr[data-fact]:has-text('London')")
    tab_to(page, "#text")
    page.keyboard.press("e")
    page.keyboard.press("n")
    page.keyboard.press("Alt+ArrowLeft")
    moved = page.locator("#text .chosen").all_text_contents()
    assert moved and not any(text.endswith("e") for text in moved)
    page.keyboard.press("Control+z")
    tab_to(page, "#correct button:has-text('Done')")
    page.keyboard.press("Enter")
    tab_to(page, "#correct button:has-text('Export')")
    page.keyboard.press("Enter")
    tab_to(page, "#download")
    with page.expect_download() as event:
        page.keyboard.press("Enter")
    doc = from_json(json.loads(Path(event.value.path()).read_text("utf-8")))
    assert "Ada Lovelace" in [m.text for m in doc.mentions] and doc.facts


def tab_to(page: Any, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(200):
        if page.evaluate("([e]) => document.activeElement === e", [page.query_selector(selector)]):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached with Tab")


def test_a_link_holds_the_text(window: Any) -> None:
    one = window(permissions=["clipboard-read", "clipboard-write"])
    page = one.open()
    read(page, "Ada Lovelace was born in London. 👨‍👩‍👧")
    page.click("#share")
    page.wait_for_function("() => document.querySelector('#toast').textContent.includes('copied')")
    link = page.evaluate("navigator.clipboard.readText()")
    other = window().open(link.removeprefix(one.address))
    assert "Ada Lovelace" in other.locator("#text").inner_text()


def test_a_long_text_is_drawn_block_by_block(window: Any) -> None:
    page = window().open()
    read(page, "\n".join(f"{i}. Ada Lovelace was born in London." for i in range(150)))
    blocks = page.locator("#text .block")
    assert blocks.count() == 150
    assert (
        page.evaluate("[...document.querySelectorAll('#text .block')].map((b) => b.textContent).join('').length") > 4500
    )


@pytest.mark.parametrize("options", [{"color_scheme": "light"}, {"color_scheme": "dark", "locale": "zh-CN"}, PHONE])
def test_no_serious_finding_of_axe(window: Any, options: dict[str, Any]) -> None:
    axe = Path(os.environ.get("AXE_CORE", "node_modules/axe-core/axe.min.js"))
    if not axe.exists():
        pytest.skip("needs axe-core: npm install --no-save axe-core, or AXE_CORE=its axe.min.js")
    page = window(**options).open()

    def check(seen: str) -> None:
        page.wait_for_timeout(300)
        page.evaluate(axe.read_text("utf-8"))
        found = page.evaluate("axe.run()")["violations"]
        serious = [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")]
        assert not serious, (seen, serious)

    check("facts")
    page.click("#tab-graph")
    check("graph")
    correct(page)
    check("correct")
    page.click("[data-view=store]")
    check("store")
    page.click("[data-part=conflicts]")
    page.wait_for_selector("#store-list .conflict")
    check("conflicts")
    page.click("[data-view=ask]")
    page.fill("#question", "Where was the director of Still Water born?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#cited .cited")
    check("answer")
    page.click("#help-button")
    check("help")
