"""Facts that English definitions state in fixed words."""

import pytest

from factpin.documents import Document, Entity, Mention, Span
from factpin.extraction.definitions import define
from factpin.language.sentences import split_sentences

TYPES = {"p": "person", "d": "date", "o": "other", "l": "location", "g": "organization"}


def told(marked: str, language: str = "en") -> set[tuple[str, str, str]]:
    """The facts of a text whose mentions are marked: [p Ann Ash] was born in [l Rome]."""
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
    name = {e.id: e.name for e in doc.entities}
    return {(name[f.head], f.relation, name[f.tail]) for f in doc.facts}


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
