"""Facts that English definitions state in fixed words."""

import pytest

from factpin.documents import Document, Entity, Mention, Span
from factpin.extraction.definitions import define
from factpin.language.sentences import split_sentences

TYPES = {"p": "person", "d": "date", "o": "other", "l": "location", "g": "organization"}


def told(marked: str, language: str = "en") -> set[tuple[str, str, str]]:
    """The facts of a text whose mentions are marked: [p Ann Ash] was born in [l Rome]."""
    doc = defined(marked, language)
    name = {e.id: e.name for e in doc.entities}
    assert all(f.assertion for f in doc.facts)
    return {(name[f.head], f.relation, name[f.tail]) for f in doc.facts}


def defined(marked: str, language: str = "en") -> Document:
    """The text with its facts."""
    text, mentions = "", []
    for part in marked.replace("]", "[").split("["):
        if part[:2] in {f"{kind} " for kind in TYPES}:
            mentions.append(
                Mention(f"m{len(mentions)}", len(text), len(text) + len(part) - 2, part[2:], TYPES[part[0]])
            )
            part = part[2:]
        text += part
    names = {m.text: [one.id for one in mentions if one.text == m.text] for m in mentions}
    entities = tuple(
        Entity(f"e{i}", tuple(ids), next(m.type for m in mentions if m.id == ids[0]), name)
        for i, (name, ids) in enumerate(names.items())
    )
    doc = define(
        Document("x", text, language, tuple(Span(*one) for one in split_sentences(text)), tuple(mentions), entities)
    )
    assert all(doc.text[m.start : m.end] == m.text for m in doc.mentions)
    assert define(doc) == doc
    return doc


@pytest.mark.parametrize(("text", "facts"), [
    ("[o King] is a [d 1938] [o American] Western film directed by [p Ann Ash] and [p Bo Birch], starring [p Cy Cole].",
     {("King", "publication date", "1938"), ("King", "country of origin", "American"),
      ("King", "director", "Ann Ash"), ("King", "director", "Bo Birch"),
      ("King", "cast member", "Cy Cole")}),
    ("Still Water 4: The Return( also known as Return) is a [d 1988] film written and directed by [p Ann Ash].",
     {("Still Water 4: The Return", "publication date", "1988"), ("Still Water 4: The Return", "director", "Ann Ash")}),
    ('"[o Low]" is a song by American rapper [p Bo Birch].', {("Low", "performer", "Bo Birch")}),
    ("[o Dunes] is a [d 1965] novel by [p Cy Cole].",
     {("Dunes", "publication date", "1965"), ("Dunes", "author", "Cy Cole")}),
    ("[p Ann Ash] (born [d 6 May 1974]) is an [o Australian] actor.",
     {("Ann Ash", "date of birth", "6 May 1974"), ("Ann Ash", "country of citizenship", "Australian")}),
    ("[p Ann Ash]( [d 6 May 1874] – [d 1 June 1954]) was a painter. She was the daughter of [p Bo Birch] and "
     "[p Di Dorn]. She died in [l Rome].",
     {("Ann Ash", "date of birth", "6 May 1874"), ("Ann Ash", "date of death", "1 June 1954"),
      ("Ann Ash", "father", "Bo Birch"), ("Ann Ash", "mother", "Di Dorn"), ("Ann Ash", "place of death", "Rome")}),
    ("[p Ann Ash] sings. She was the daughter of Lady [p Di Dorn]. She married [p Cy Cole].",
     {("Ann Ash", "mother", "Di Dorn"), ("Ann Ash", "spouse", "Cy Cole")}),
    ("[p Ann Ash] ([d 6 May 1874] in [l Bern], [l Wells] – [d 1954] in [l Rome]) was a painter from [l Norway].",
     {("Ann Ash", "date of birth", "6 May 1874"), ("Ann Ash", "place of birth", "Bern"),
      ("Ann Ash", "date of death", "1954"), ("Ann Ash", "place of death", "Rome"),
      ("Ann Ash", "country of citizenship", "Norway")}),
    ("[p Ann Ash] paints. The daughter of actress [p Di Dorn], she was born and died in [l Rome].",
     {("Ann Ash", "mother", "Di Dorn")}),
    ("[p Ann Ash] paints. She was born and died in [l Rome]. She was the mother of the painter [p Cy Cole].",
     {("Ann Ash", "place of birth", "Rome"), ("Ann Ash", "place of death", "Rome"), ("Ann Ash", "child", "Cy Cole")}),
    ("[o King] is a [d 1938] film. It was produced and directed by [p Ann Ash]. Music was composed by [p Bo Birch].",
     {("King", "publication date", "1938"), ("King", "director", "Ann Ash"), ("King", "composer", "Bo Birch")}),
    ("[l Bern]( also known as Barn) is a small village in [l West County], [l Wells], [l Norway].",
     {("Bern", "country", "Norway")}),
    ("The [l Bern River] is a river of southern [l Norway], which flows to [l Sweden].",
     {("Bern River", "country", "Norway")}),
])  # fmt: skip
def test_definitions_give_facts(text: str, facts: set[tuple[str, str, str]]) -> None:
    assert told(text) == facts


@pytest.mark.parametrize("text", [
    "It is a [d 1938] film directed by [p Ann Ash].",  # no title
    "The film is a remake directed by [p Ann Ash].",
    "[p Ann Ash] is a film buff, and [p Bo Birch] directed nothing.",
    "[p Ann Ash] met [p Bo Birch], who was born in [l Rome].",
    "[p Ann Ash] sings. [p Bo Birch] was born in [l Rome].",  # of somebody else
    "[p Ann Ash] sings. He was the son of the sister of [p Bo Birch].",
    "[p Ann Ash], daughter of nobody, met [l Rome].",
    "[g Bern Films] is a [o Swedish] film production company.",
    "[l Bern] is a town in the hills.",
    "[p Ann Ash] ([l Bern] – [l Rome]) paints.",
])  # fmt: skip
def test_what_is_no_definition_gives_none(text: str) -> None:
    assert told(text) == set()


def test_other_languages_are_left_alone() -> None:
    assert told("[o King] is a [d 1938] film directed by [p Ann Ash].", "de") == set()


@pytest.mark.parametrize("text", [
    "Her father was not [p Cy Cole], as was once believed.",
    "His father was killed by [p Cy Cole] in [d 1914].",
    "His father, a friend of [p Cy Cole], owned a mill.",
    "His mother was fond of [p Cy Cole].",
    "His father was taught by [p Cy Cole].",
    "His father was possibly [p Cy Cole].",
    "His mother was reportedly [p Cy Cole].",
    "His father was [p Cy Cole]'s teacher.",
    "His father was [p Cy Cole] or [p Di Dorn].",
    "His father was named after [p Cy Cole].",
    "His father, like [p Cy Cole], was a smith.",
    "Her mother was a pupil of the painter [p Cy Cole].",
    "He married the daughter of [p Cy Cole] in [d 1912].",
    "She was married by [p Cy Cole].",
    "She married [p Cy Cole]'s brother.",
    "He married [p Cy Cole] to [p Di Dorn].",
    "He married [p Cy Cole] and [p Di Dorn] in his church.",
    "She married a friend of [p Cy Cole].",
    "She almost married [p Cy Cole].",
    "He married into the [p Cole] family.",
    "He died before his return in [l Rome] was announced.",
    "He died after a concert that he gave in [l Rome].",
    "He died never having been in [l Rome].",
    "She died two days after her sister in [l Rome].",
    "He died in [l Rome]'s arms.",
    "He was born in [l Rome]'s twin town.",
    "He was born on the day when a fire in [l Rome] began.",
    "He was the father of modern chess, says [p Cy Cole].",
    "He was the father of the man who killed [p Cy Cole].",
    "He was the father of a pupil of [p Cy Cole].",
    "He met [p Di Dorn], who was the daughter of [p Cy Cole].",
    "He was raised as the son of [p Cy Cole].",
    "She appeared as the daughter of [p Cy Cole] in a film.",
    "He was the adopted son of [p Cy Cole].",
    "She was the spiritual daughter of [p Cy Cole].",
    "He was the son of a friend of [p Cy Cole].",
    "He was the son of [p Cy Cole]'s tailor.",
    "He was born in the year when the son of [p Cy Cole] died.",
    "The adopted son of [p Cy Cole], he was rich.",
])  # fmt: skip
def test_words_between_that_are_not_in_the_rules_give_no_fact(text: str) -> None:
    assert told(f"[p Ann Ash] sings. {text}") == set()


@pytest.mark.parametrize(("text", "facts"), [
    ("[p Ann Ash] is an [o English] teacher.", set()),
    ("[p Ann Ash] is a [o French] horn player.", set()),
    ("[p Ann Ash] was a [o German]-born painter.", set()),
    ("[p Ann Ash] is an importer of wine from [l Norway].", set()),
    ("[o King] is a film about [o American] soldiers.", set()),
    ("[o King] is a [o French]-language film.", set()),
    ("[o King] is a film based on the play written by [p Cy Cole].", set()),
    ("[o King] is a film based on the play written by [p Cy Cole] and directed by [p Ann Ash].",
     {("King", "director", "Ann Ash")}),
    ("[o King] is a remake of the film directed by [p Cy Cole].", set()),
    ("[o King] is a documentary about the album produced by [p Cy Cole].", set()),
    ("[o Dunes] is a novel based on the play by [p Cy Cole].", set()),
    ("[o Low] is a cover of the song by [p Cy Cole].", set()),
    ("[o King] is a parody of the series starring [p Cy Cole].", set()),
    ("[o King] is a silent film. A sequel to the film was directed by [p Cy Cole].", set()),
    ("[l Bern] is a town named after [l Norway].", set()),
])  # fmt: skip
def test_what_is_said_of_another_work_or_thing_gives_no_fact(text: str, facts: set[tuple[str, str, str]]) -> None:
    assert told(text) == facts


@pytest.mark.parametrize(("text", "fact"), [
    ("His father, the painter [p Cy Cole], died.", ("father", "Cy Cole")),
    ("Her mother was actress [p Cy Cole].", ("mother", "Cy Cole")),
    ("Her father is Sir [p Cy Cole].", ("father", "Cy Cole")),
    ("She was married to the [o French] poet [p Cy Cole] until [d 1950].", ("spouse", "Cy Cole")),
    ("He later married [p Cy Cole] in [d 1912].", ("spouse", "Cy Cole")),
    ("She was born in [l Rome], the second daughter of the composer [p Cy Cole].", ("father", "Cy Cole")),
    ("He died of lung cancer on [d 5 May 1950] in [l Rome].", ("place of death", "Rome")),
    ("She died in [d 1950] at [l Rome], aged 70.", ("place of death", "Rome")),
    ("He died suddenly at his home in [l Rome].", ("place of death", "Rome")),
])  # fmt: skip
def test_usual_words_between_are_understood(text: str, fact: tuple[str, str]) -> None:
    assert ("Ann Ash", *fact) in told(f"[p Ann Ash] sings. {text}")


@pytest.mark.parametrize(("text", "status"), [
    ("[p Ann Ash] sings. Her father was [p Cy Cole], according to a rumour.", "reported"),
    ("[p Ann Ash] sings. Her father was [p Cy Cole].", "asserted"),
    ("[o King] is a film that was not directed by [p Cy Cole].", "negated"),
    ("[o King] is a film probably directed by [p Cy Cole].", "hedged"),
])  # fmt: skip
def test_facts_of_definitions_have_a_status(text: str, status: str) -> None:
    assert [fact.assertion for fact in defined(text).facts] == [status]
