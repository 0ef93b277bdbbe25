"""Questions that compare two things, and titles that are names."""

from collections.abc import Iterator

import pytest

from factpin.answers.ask import ask
from factpin.answers.marks import usual_schema
from factpin.documents import Document, Entity, Fact, Mention, Span
from factpin.memory import Source, Store, TypedFact, open_store
from tests.answers.test_ask import assert_exact

FACTS = (
    ("Ann Ash", "date of birth", "October 2, 1886", "person", "date"),
    ("Bo Birch", "date of birth", "24 April 1886", "person", "date"),
    ("Cy Cole", "date of birth", "1886", "person", "date"),
    ("Ann Ash", "date of death", "1950", "person", "date"),
    ("Bo Birch", "date of death", "1949", "person", "date"),
    ("Ann Ash", "country of citizenship", "American", "person", "other"),
    ("Bo Birch", "country of citizenship", "the United States", "person", "location"),
    ("Cy Cole", "country of citizenship", "French", "person", "other"),
    ("Still Water", "director", "Ann Ash", "other", "person"),
    ("Dunes", "director", "Bo Birch", "other", "person"),
    ("Still Water", "publication date", "1930", "other", "date"),
    ("Dunes", "publication date", "1931", "other", "date"),
    ("Twin", "director", "Ann Ash", "other", "person"),
    ("Twin", "director", "Bo Birch", "other", "person"),
    ("Ed Elm", "date of birth", "1900", "person", "date"),
    ("Flo Fir", "country of citizenship", "English", "person", "other"),
    ("Gus Gum", "country of citizenship", "British", "person", "other"),
    ("Hal Hop", "country of citizenship", "Elvish", "person", "other"),
    ("Ivo Ivy", "country of citizenship", "Russian", "person", "other"),
    ("Jo Jay", "country of citizenship", "Soviet", "person", "other"),
    ("Kay Kit", "date of birth", "after 1950", "person", "date"),
)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with open_store("memory:", create=True) as opened:
        opened.set_schema(usual_schema())
        for fact in FACTS:
            opened.add(TypedFact(*fact))
        yield opened


@pytest.mark.parametrize(("question", "expected"), [
    ("Who is older, Ann Ash or Bo Birch?", "Bo Birch"),
    ("Who is younger, Ann Ash or Bo Birch?", "Ann Ash"),
    ("Who was born first, Bo Birch or Ann Ash?", "Bo Birch"),
    ("Who died first, Ann Ash or Bo Birch?", "Bo Birch"),
    ("Which film came out first, Still Water or Dunes?", "Still Water"),
    ("Which film was released more recently, Still Water (film) or Dunes?", "Dunes"),
    ("Which film has the director who died later, Still Water or Dunes?", "Still Water"),
    ("Which film whose director is younger, Dunes or Still Water?", "Still Water"),
    ("Who was born first, the director of Still Water or Dunes?", "Bo Birch"),
    ("Are Ann Ash and Bo Birch from the same country?", "yes"),
    ("Do Ann Ash and Cy Cole have the same nationality?", "no"),
    ("Does Ann Ash have the same nationality as Bo Birch?", "yes"),
    ("Are Ann Ash and Cy Cole both from the same country?", "no"),
    ("Do director of film Dunes and director of film Still Water share the same nationality?", "yes"),
])  # fmt: skip
def test_two_things_are_compared(question: str, expected: str, store: Store) -> None:
    answer = ask(question, store, "facts")
    assert answer.text == expected and len(answer.citations) == (4 if "director" in question else 2)
    assert_exact(answer, store)


@pytest.mark.parametrize("question", [
    "Who is older, Ann Ash or Cy Cole?",  # 1886 is neither before nor after
    "Who is older, Ann Ash or Di Dorn?",  # unknown
    "Who is richer, Ann Ash or Bo Birch?",
    "Which film has the director who died later, Twin or Dunes?",  # two directors
    "Which film has the director who died later in Rome, Still Water or Dunes?",  # a word is left over
    "Are Ann Ash and Bo Birch from the same city?",
    "Were Ann Ash and Bo Birch born in the same country?",  # citizens of one, which says nothing of births
    "Who died younger, Ann Ash or Bo Birch?",  # at what age
    "Who was born and died first, Ann Ash or Bo Birch?",
    "Who is older, Kay Kit or Ann Ash?",  # after 1950 is no date
    "Are Ann Ash and Di Dorn from the same country?",
    "Are Ann Ash and Ed Elm from the same country?",  # known, but not where from
])  # fmt: skip
def test_what_facts_do_not_tell_is_not_answered(question: str, store: Store) -> None:
    assert ask(question, store, "facts").abstained


def test_a_title_is_a_name_of_what_a_document_is_about() -> None:
    text = "Ann Mary Ash paints."
    mention = Mention("m0", 0, 12, "Ann Mary Ash", "person")
    doc = Document("x", text, "en", (), (mention,), (Entity("e0", ("m0",), "person", "Ann Mary Ash"),))
    with open_store("memory:", create=True) as store:
        store.put(doc, Source("ash.txt", title="Ann Ash (painter)"))
        store.add(TypedFact("Ann Mary Ash", "date of birth", "2 May 1970", "person", "date"))
        store.add(TypedFact("Dunes", "director", "Ann Ash", "work", "person"))
        for question in (
            "When was Ann Ash born?",
            "When was Ann Ash (painter) born?",
            "When was the director of Dunes born?",
        ):
            assert ask(question, store, "facts").text == "2 May 1970"


@pytest.mark.parametrize("question", [
    "Are Flo Fir and Gus Gum from the same country?",  # England is a part of the United Kingdom
    "Are Flo Fir and Hal Hop from the same country?",  # no country that is known
    "Are Ivo Ivy and Jo Jay from the same country?",  # Russia was a part of the Soviet Union
])  # fmt: skip
def test_countries_that_may_be_the_same_are_not_compared(question: str, store: Store) -> None:
    assert ask(question, store, "facts").abstained


def test_brackets_that_are_not_those_of_the_title_are_not_swallowed() -> None:
    with open_store("memory:", create=True) as opened:
        for year, director in (("1999", "Ann Ash"), ("2010", "Bo Birch")):
            text = f"The Base is a film by {director}."
            mentions = (Mention("a", 0, 8, "The Base", "work"),
                        Mention("b", 22, len(text) - 1, director, "person"))  # fmt: skip
            entities = (Entity("x", ("a",), "work", "The Base"), Entity("y", ("b",), "person", director))
            facts = (Fact("x", "director", "y", "a", "b", 0.9),)
            doc = Document(year, text, "en", (Span(0, len(text)),), mentions, entities, facts)
            opened.put(doc, Source(year, f"The Base ({year} film)"))
        assert ask("Who directed The Base (2010 film)?", opened, "facts").abstained  # both documents name The Base
        assert ask("Who directed The Base (which was never finished)?", opened, "facts").abstained


def test_a_title_may_have_commas() -> None:
    with open_store("memory:", create=True) as opened:
        for title, name, country in (("Bern, West County", "Bern", "Norway"), ("Oh! Wells", "Wells", "Sweden")):
            text = f"{name} is a town in {country}."
            mentions = (Mention("a", 0, len(name), name, "location"),
                        Mention("b", len(text) - 1 - len(country), len(text) - 1, country, "location"))  # fmt: skip
            entities = (Entity("x", ("a",), "location", name), Entity("y", ("b",), "location", country))
            facts = (Fact("x", "country", "y", "a", "b", 0.9),)
            doc = Document(title, text, "en", (Span(0, len(text)),), mentions, entities, facts)
            opened.put(doc, Source(title, title))
        answer = ask("Are Bern, West County and Oh! Wells located in the same country?", opened, "facts")
        assert answer.text == "no" and [c.quote for c in answer.citations] == ["Norway", "Sweden"]
