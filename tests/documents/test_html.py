"""A document as HTML: the whole text, nothing but the text, and nothing in it that a browser would run."""

from html.parser import HTMLParser
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import Argument, Document, Entity, Event, Evidence, Fact, Mention, Qualifier, Span
from factpin.documents.html import find_lanes

TAGS = {"html", "head", "meta", "title", "body", "style", "div", "p", "span", "br"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td"}
ATTRIBUTES = {"charset", "class", "content", "data-type", "lang", "name", "style", "title"}
HOSTILE = (
    "<script>alert(1)</script> & \"quotes\" 'too' </p></style><!-- <img src=x onerror=y> ]]>&amp;&#60;\r\n\t\u202e"
)


class Page(HTMLParser):
    """What a parser sees: elements, the text of the document, the cells of tables."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text, self.title, self.cells = "", "", list[str]()
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("br", "meta"):
            self._open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "p" in self._open:
            self.text += data
        elif "td" in self._open:
            self.cells[-1] += data
        elif "title" in self._open:
            self.title += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    @property
    def labels(self) -> list[str | None]:
        return [value for name, value in self.attributes if name == "data-type"]


@st.composite
def marked(draw: st.DrawFn) -> Document:
    """Any text, with mentions that nest, cross and coincide."""
    text = draw(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
    spans = draw(st.lists(st.tuples(st.integers(0, len(text)), st.integers(0, len(text))), max_size=8))
    places = [(min(pair), max(pair)) for pair in spans if pair[0] != pair[1]]
    types = draw(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), min_size=8, max_size=8))
    mentions = [Mention(f"m{i}", s, e, text[s:e], types[i]) for i, (s, e) in enumerate(places)]
    return Document("d", text, mentions=tuple(mentions))


@given(marked())
def test_every_character_stands_there_once_and_in_order(doc: Document) -> None:
    page = Page(doc.to_html())
    assert page.text == doc.text
    assert sorted(map(str, page.labels)) == sorted(m.type or "mention" for m in doc.mentions)
    assert set(page.tags) <= TAGS and {name for name, _ in page.attributes} <= ATTRIBUTES


@given(marked())
def test_mentions_that_overlap_have_lines_of_their_own(doc: Document) -> None:
    lanes = find_lanes(doc.mentions)
    assert lanes.keys() == {m.id for m in doc.mentions}
    for a, b in combinations(doc.mentions, 2):
        assert a.end <= b.start or b.end <= a.start or lanes[a.id] != lanes[b.id]


def test_the_inner_of_two_mentions_is_nearer_to_the_text() -> None:
    outer, inner = Mention("a", 0, 16, "北京大学的校园很大，老师也很多。", "机构"), Mention("b", 0, 2, "北京", "地点")
    assert find_lanes([outer, inner]) == {"a": 1, "b": 0}


def test_a_label_that_is_longer_than_its_mention_does_not_run_into_the_next() -> None:
    a, b, c = Mention("a", 0, 1, "x", "long type"), Mention("b", 2, 3, "y", "t"), Mention("c", 40, 41, "z", "long type")
    lanes = find_lanes([a, b, c])
    assert lanes["a"] != lanes["b"] and lanes["a"] == lanes["c"] == 0


def hostile() -> Document:
    size = len(HOSTILE)
    mention = Mention("m", 0, size, HOSTILE, HOSTILE)
    return Document(
        HOSTILE,
        HOSTILE,
        language='"><script>',
        sentences=(Span(0, size),),
        mentions=(mention,),
        entities=(Entity("e", ("m",), HOSTILE, HOSTILE),),
        facts=(Fact("e", HOSTILE, "e", evidence=(Evidence(0),), qualifiers=(Qualifier(HOSTILE, "e"),)),),
        events=(Event("v", HOSTILE, "m", (Argument(HOSTILE, "m"),)),),
    )


def test_hostile_text_stays_text() -> None:
    page = Page(hostile().to_html())
    assert page.text == page.title == HOSTILE
    assert set(page.tags) <= TAGS and {name for name, _ in page.attributes} <= ATTRIBUTES
    assert page.tags.count("style") == 1 and "script" not in page.tags


def test_facts_and_events_stand_in_tables() -> None:
    text = "Marie Curie was born in Warsaw."
    doc = Document(
        "d",
        text,
        language="en",
        sentences=(Span(0, 31),),
        mentions=(Mention("m0", 0, 11, "Marie Curie", "person"), Mention("m1", 24, 30, "Warsaw", "place")),
        entities=(Entity("e0", ("m0",)), Entity("e1", ("m1",), name="Warszawa")),
        facts=(Fact("e0", "born in", "e1", score=0.84, evidence=(Evidence(0),), assertion="asserted"),),
        events=(Event("v", "birth", "m0", (Argument("place", "m1"),), 0.5),),
    )
    page = Page(doc.to_html())
    assert page.cells[:6] == ["Marie Curie person", "born in", "Warszawa place", "0.84", "asserted", text]
    assert page.cells[6:] == ["birth", "Marie Curie", "place Warsaw", "0.50", ""]
    assert ("lang", "en") in page.attributes


def test_a_notebook_gets_a_part_of_a_page() -> None:
    doc = Document("d", "a", mentions=(Mention("m", 0, 1, "a", "t"),))
    part = doc._repr_html_()
    assert part in doc.to_html() and "<html" not in part and Page(part).text == "a"


def test_it_loads_nothing_and_has_a_dark_side() -> None:
    html = hostile()._repr_html_().split("</style>")[0]
    assert "prefers-color-scheme: dark" in html
    assert not any(word in html for word in ("http", "url(", "@import", "<link", "src="))
