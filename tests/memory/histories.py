"""Random histories of a store, as hypothesis strategies, and everything that can be asked of it."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from factpin.documents import Document, Relation, Schema
from factpin.errors import BadInput
from factpin.memory import ALL, Filter, PassageSettings, Pattern, Source, Store, TypedFact
from factpin.memory.terms import query_terms
from tests.memory.world import ENCODER, Said, embed, fill, tell

SCHEMA = Schema((), {"出生地": Relation("出生地", functional=True), "CEO": Relation("CEO", changes=True)})
SMALL = PassageSettings(24)
URIS = ["a.txt", "b.txt", "新闻/c.txt", "d"]
PEOPLE = ["谷爱凌", "Eileen Gu", "李娜", "Dr. 李娜", "李 娜"]
PLACES = ["旧金山", "北京", "New York"]
FRAMES = ["{h}的{r}是{t}。", "{h} is from {t}.", "据说{h}的{r}在{t}！\n\n", "{h}，{t}人，自{d}起。"]
QUESTIONS = ["谷爱凌出生在哪里", "Eileen GU", "李", "北", "new york", "的", "nobody", "谷爱凌 谷爱凌 是", "😀", ""]
FILTERS = [ALL, Filter("2020"), Filter("2021-06"), Filter("2021-06-15")]
DATES = ["", "2019", "2020-05", "2021-06-15", "2021-06-16", "2023"]


@dataclass(frozen=True)
class Step:
    """One thing that happens to a store; `which` chooses among what is there."""

    verb: str
    uri: str = ""
    doc: Document | None = None
    source: Source | None = None
    name: str = ""
    other: str = ""
    which: int = 0


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A document of a few sentences."""
    said = draw(st.lists(st.builds(
        Said,
        head=st.sampled_from(PEOPLE), relation=st.sampled_from(["出生地", "CEO", "住"]), tail=st.sampled_from(PLACES),
        frame=st.sampled_from(FRAMES), head_type=st.sampled_from(["PER", ""]),
        assertion=st.sampled_from([None, "asserted", "negated", "hedged", "reported"]),
        score=st.sampled_from([None, 0.25, 0.9, 1 / 3]), date=st.sampled_from(["2019", "2020-05", "明天"]),
        link=st.sampled_from(["", "", "Q5"]),
    ), min_size=0, max_size=4))  # fmt: skip
    extra = draw(st.sampled_from(["", "😀 café 𠮷野家。", "他说：“李娜来了。”", " \n"]))
    return tell(*said, id=draw(st.sampled_from(["x", "y"])), extra=extra, partly=draw(st.booleans()))


sources = st.builds(Source, uri=st.sampled_from(URIS), title=st.sampled_from(["", "谷爱凌", "Li Na (tennis)"]),
                    published=st.sampled_from(DATES), model=st.sampled_from(["", "zh-facts"]))  # fmt: skip
some = st.integers(0, 100)
names = st.sampled_from(PEOPLE + PLACES)
steps = st.one_of(
    st.builds(lambda doc, source: Step("put", source.uri, doc, source), documents(), sources),
    st.builds(lambda doc, source: Step("put", source.uri, doc, source), documents(), sources),
    st.builds(lambda uri: Step("remove", uri), st.sampled_from(URIS)),
    st.builds(lambda a, b: Step("join", name=a, other=b), names, names),
    st.builds(lambda a, b: Step("unjoin", name=a, other=b), names, names),
    st.builds(lambda uri, a: Step("split", uri, name=a), st.sampled_from(URIS), names),
    st.builds(lambda uri, a: Step("unsplit", uri, name=a), st.sampled_from(URIS), names),
    st.builds(lambda n, v: Step("judge", name=v, which=n), some, st.sampled_from(["rejected", "confirmed", ""])),
    st.builds(lambda a, b: Step("add", name=a, other=b), names, names),
    st.just(Step("embed")),
)
histories = st.lists(steps, min_size=1, max_size=14)


def live(store: Store, history: list[Step]) -> dict[str, tuple[Document, Source]]:
    """Let a history happen; what should be left comes back. Steps that the store refuses change nothing."""
    left: dict[str, tuple[Document, Source]] = {}
    for step in history:
        before = store.stats()
        try:
            _take(store, step, left)
        except BadInput:
            assert store.stats() == before
    return left


def _take(store: Store, step: Step, left: dict[str, tuple[Document, Source]]) -> None:
    match step.verb:
        case "put":
            assert step.doc is not None and step.source is not None
            expected = "added" if step.uri not in left else (
                "unchanged" if left[step.uri] == (step.doc, step.source) else "replaced")  # fmt: skip
            assert store.put(step.doc, step.source) == expected
            left[step.uri] = (step.doc, step.source)
        case "remove":
            store.remove(step.uri)
            del left[step.uri]
        case "join":
            store.join(step.name, step.other, "test")
        case "unjoin":
            store.unjoin(step.name, step.other)
        case "split":
            store.split(step.uri, step.name)
        case "unsplit":
            store.unsplit(step.uri, step.name)
        case "judge":
            facts = store.facts()
            if facts:
                store.judge(facts[step.which % len(facts)].id, step.name, "because")
        case "add":
            uri = store.add(TypedFact(step.name, "CEO", step.other, valid_from="2022-01"))
            left[uri] = store.document(uri)
        case "embed":
            fill(store)


def answers(store: Store) -> dict[str, Any]:
    """Everything that can be asked of a store, as plain values."""
    fill(store)
    with store.tables.reading():
        return _answers(store)


def _answers(store: Store) -> dict[str, Any]:
    found: dict[str, Any] = {"stats": store.stats(), "decisions": store.decisions()}
    for filter in FILTERS:
        facts = store.facts(filter=filter)
        entities = sorted({e.id for fact in facts for e in (fact.head, fact.tail)})
        found[filter.as_of] = {
            "sources": store.sources(filter),
            "partly": store.partly_read(filter),
            "documents": sorted(store.documents(filter), key=lambda pair: pair[1].uri),
            "facts": facts,
            "judged": store.judged(filter=filter),
            "one by one": [store.judged(Pattern(keys=(fact.id,)), filter) for fact in facts],
            "by head": [store.judged(Pattern(heads=(id,)), filter) for id in entities],
            "by tail": [store.judged(Pattern(tails=(id,), relations=("CEO", "住")), filter) for id in entities],
            "conflicts": store.conflicts(filter),
            "names": [store.candidates(name, filter) for name in PEOPLE + PLACES],
            "names with": [store.names_with(word, filter) for word in ("gu", "娜")],
            "names in": [store.names_in(question, filter) for question in QUESTIONS],
            "mentions": [store.mentions(id, filter) for id in entities],
            "titles": store.titled(["谷爱凌", "li na"], filter),
            "words": [store.words(query_terms(q), 5, filter) for q in QUESTIONS],
            "all words": [store.words(query_terms(q), 100, filter) for q in QUESTIONS],
            "vectors": [store.nearest(ENCODER, embed([q])[0], 5, filter) for q in QUESTIONS]
            if store.encoders()
            else [],
        }
    found["passages"] = [store.passages_of(source.uri) for source in store.sources()]
    return found
