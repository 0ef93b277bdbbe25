"""What the words of English sentences rule out."""

import re
from dataclasses import replace

import pytest

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Span
from factpin.extraction.wording import credible

KINDS = {"P": "person", "O": "organization", "W": "work", "L": "location", "D": "date", "X": "other"}
IN = "located in the administrative territorial entity"


def sentence(marked: str, relation: str, head: int, tail: int) -> Document:
    """A sentence with marks such as [P Ann Lee] around its mentions, and a fact between two of them."""
    text, at, mentions = "", 0, list[Mention]()
    for match in re.finditer(r"\[([A-Z]) ([^\]]+)\]", marked):
        text += marked[at : match.start()]
        id = f"m{len(mentions)}"
        mentions.append(Mention(id, len(text), len(text) + len(match[2]), match[2], KINDS[match[1]], 0.9))
        text, at = text + match[2], match.end()
    text += marked[at:]
    entities = tuple(Entity(f"e{m.id}", (m.id,), m.type, m.text) for m in mentions)
    fact = Fact(f"em{head}", relation, f"em{tail}", f"m{head}", f"m{tail}", 0.9, (Evidence(0),))
    return Document("d", text, "en", (Span(0, len(text)),), tuple(mentions), entities, (fact,))


@pytest.mark.parametrize(
    ("marked", "relation", "head", "tail"),
    [
        ("[W Moonlight] is a film written by [P Ann Lee] and directed by [P Tom Fox].", "director", 0, 2),
        ("[W Moonlight] is a film written by [P Ann Lee] and directed by [P Tom Fox].", "screenwriter", 0, 1),
        ("[W Moonlight] is a film written and directed by [P Tom Fox].", "screenwriter", 0, 1),
        ("[P Ann Lee] is an engineer at [O Acme].", "employer", 0, 1),
        ("They have offices in [L Stamford], [L Connecticut].", IN, 0, 1),
        ("It is in the [L U.S.] state of [L Texas].", "country", 1, 0),
        ("[O Chefette] was founded in [D 1972].", "inception", 0, 1),
        ("[P Tom Fox] lived in [L Wimberley].", "residence", 0, 1),
        ("[P He] lives in [L Paris].", "residence", 0, 1),
        ("[P Genghis] was followed by [P Jochi], his eldest son.", "child", 0, 1),
        ("The [L Matanuska River] flows into the [L Knik Arm].", "mouth of the watercourse", 0, 1),
        ("[P Ann Lee] ([D 1940] - [D 1980]) was a singer.", "date of death", 0, 2),
        ("[P Ann Lee] was born in [D 1940] (the year of the flood).", "date of birth", 0, 1),
        ("[P Ann Lee], the daughter of a smith, was born in [D 1940].", "date of birth", 0, 1),
        ("[P Tom Fox] founded [O Acme] and [O Bolt].", "founded by", 2, 0),
        ("They live in [L Austin] and San Antonio in the [L United States].", "country", 0, 1),
        ("[P Tom Fox] sold [O Acme] and started [O Bolt].", "founded by", 2, 0),
        ("[P Tom Fox] coached [O Leeds], who play against Hull.", "employer", 0, 1),
        ("[W Moonlight] was directed by [P Ann Lee] with a screenplay by [P Tom Fox].", "director", 0, 1),
        ("[W Moonlight] was directed by [P Ann Lee] with a screenplay by [P Tom Fox].", "screenwriter", 0, 2),
        ("[P Ann Lee] was born in [L Leeds] and died in [L London].", "place of birth", 0, 1),
        ("[P Ann Lee] was born in [L Leeds] and died in [L London].", "place of death", 0, 2),
        ("[O Acme] paid [O Bolt], whose CEO [P Ann Lee] agreed.", "employer", 2, 1),
        ("[O Acme] has [P its] headquarters in [L Watford].", "headquarters location", 0, 2),
        ("They are in [L Austin], [L Texas], [L United States].", "country", 0, 2),
        ("[P Ann Lee] ([D 3 May 1901] in [L Paris] – 4 June 1980) was a painter.", "place of birth", 0, 2),
        ("[P Ann Lee], a [L Boise]-born musician, plays.", "place of birth", 0, 1),
        ("[W Speed] is published by [O Acme] and developed by [O Bolt].", "developer", 0, 2),
        ("[W Speed] is published and developed by [O Acme].", "publisher", 0, 1),
    ],
)
def test_what_is_stated_stays(marked: str, relation: str, head: int, tail: int) -> None:
    assert len(credible(sentence(marked, relation, head, tail))) == 1


@pytest.mark.parametrize(
    ("marked", "relation", "head", "tail"),
    [
        ("[W Moonlight] is a film written by [P Ann Lee] and directed by [P Tom Fox].", "director", 0, 1),
        ("[W Moonlight] is a film based on the [D 2007] novel.", "publication date", 0, 1),
        ("[W The Captain] is a novel about [P Horatio Hornblower].", "author", 0, 1),
        ("[P Ann Lee] was an [X English]-born actress.", "country of citizenship", 0, 1),
        ("[P Tom Fox] was an [X American] football player.", "country of citizenship", 0, 1),
        ("[P Proudhon] differs as well as the [X American] anarchists.", "country of citizenship", 0, 1),
        ("The director of the [O CIA] told them that [P Nixon] agreed.", "employer", 1, 0),
        ("[P Lou Pearlman] and their label [O RCA Records] went on.", "record label", 0, 1),
        ("Linda (portrayed by [P Wendie Sperber]) is the daughter of [P George].", "child", 1, 0),
        ("[P James] married [P Jessie], daughter of [P Richard].", "child", 0, 1),
        ("Its seat is [L New York City], with offices in [L Stamford], [L Connecticut].", IN, 1, 0),
        ("[L Chino Airport] is three miles southeast of [L Chino].", IN, 0, 1),
        ("[L Tatarstan] in [L Russia] and Crimea in [L Ukraine].", "country", 0, 2),
        ("[L France] established a protectorate over [L Tahiti].", "country", 1, 0),
        ("[O Opec] was founded in [L Baghdad].", "headquarters location", 0, 1),
        ("[O Chefette] was founded by A, who migrated in [D 1971].", "inception", 0, 1),
        ("[O Penny], formed in [D 1996] of Dell, founded in [D 1921].", "inception", 0, 2),
        ("[P Monica] met Tom across the hall from [L Monica Geller].", "residence", 0, 1),
        ("[P Ben] is a [L New York City] - based host.", "place of birth", 0, 1),
        ("Creeks such as [L Rabbit Slough] and the [L Knik River] flow through it.", "mouth of the watercourse", 0, 1),
        ("[L Alsace] is a region in [L Europe].", IN, 0, 1),
        ("[P Lee -- Fox] was a partnership of [P Ann Lee] ([D 1940]) and Fox.", "date of birth", 0, 2),
        ("[P Tom Fox] sang with [P Ann Lee] (born [D 1940]).", "date of birth", 0, 2),
        ("Those in [L Oaxaca] and Puebla as well as emigrants in the [L US] speak it.", "country", 0, 1),
        ("Near [L Quesnel] in Canada and at Republic in the [L United States].", "country", 0, 1),
        ("[P Ann Lee] and Tom's daughter Zoe was born on [D 2 May 1990].", "date of birth", 0, 1),
        ("[P Tom Fox], the founder of [O Acme], sold it to [O Bolt].", "founded by", 2, 0),
        ("[P Tom Fox] played as captain against [O Hull].", "employer", 0, 1),
        ("[W Moonlight] was directed by [P Ann Lee] with a screenplay by [P Tom Fox].", "director", 0, 2),
        ("[P Ann Lee] was born in [L Leeds] and died in [L London].", "place of birth", 0, 2),
        ("[P Ann Lee] died in [L London].", "place of birth", 0, 1),
        ("[P Ann Lee] (born [D 1977]) is an American musician from [L Boise].", "place of birth", 0, 2),
        ("[L Muskegon] is a city on the shore of [L Lake Michigan].", IN, 0, 1),
        ("[W Speed] is published by [O Acme] and developed by [O Bolt].", "developer", 0, 1),
        ("[W Speed] is published by [O Acme] and developed by [O Bolt].", "publisher", 0, 2),
        ("It was directed by [P Ann Lee], based on the novel [W Moonlight].", "director", 1, 0),
        ("[O Acme] paid [O Bolt], whose CEO [P Ann Lee] agreed.", "employer", 2, 0),
        ("Bases are in [L Iselin] , [L New Jersey] and Miramar , [L Florida].", IN, 0, 2),
        ("[P owed homage] to the King of [L France].", "country of citizenship", 0, 1),
    ],
)
def test_what_is_merely_beside_it_goes(marked: str, relation: str, head: int, tail: int) -> None:
    doc = sentence(marked, relation, head, tail)
    if relation == "residence" and head == 0:  # a person who is called like the place
        start = doc.text.index("Monica Geller")
        other = Mention("m9", start, start + 13, "Monica Geller", "person", 0.9)
        at = Mention("m1", start, start + 6, "Monica", "location", 0.9)
        entities = (doc.entities[0], Entity("em1", ("m1",), "location", "Monica"), Entity("em9", ("m9",), "person"))
        doc = Document("d", doc.text, "en", doc.sentences, (doc.mentions[0], at, other), entities, doc.facts)
    assert not credible(doc)


def test_a_pronoun_means_whom_the_text_began_with() -> None:
    text = "Ann Lee met Tom Fox. He lives in Paris."
    places = [
        ("m0", "Ann Lee", "person"),
        ("m1", "Tom Fox", "person"),
        ("m2", "He", "person"),
        ("m3", "Paris", "location"),
    ]
    mentions = tuple(Mention(id, text.index(n), text.index(n) + len(n), n, kind, 0.9) for id, n, kind in places)
    fact = (Fact("e1", "residence", "e3", "m2", "m3", 0.9, (Evidence(1),)),)
    found = (Entity("e0", ("m0",), "person", "Ann Lee"), Entity("e1", ("m1", "m2"), "person", "Tom Fox"),
             Entity("e3", ("m3",), "location", "Paris"))  # fmt: skip
    guess = Document("d", text, "en", (Span(0, 20), Span(21, len(text))), mentions, found, fact)
    assert not credible(guess)
    alone = Document("d", text, "en", guess.sentences, mentions[1:], found[1:], fact)
    assert len(credible(alone)) == 1


def test_a_pronoun_before_the_name_it_means_is_not_that_of_an_earlier_name() -> None:
    doc = sentence("With [O its] seat in [L Watford], [O Bolt] grew.", "headquarters location", 0, 1)
    acme = Entity("em0", ("m0",), "organization", "Acme")
    assert not credible(replace(doc, entities=(acme, *doc.entities[1:])))


def test_a_relative_pronoun_means_the_name_right_before_it() -> None:
    doc = sentence("[O Acme] paid [O Bolt], [O whose] CEO is [P Ann Lee].", "employer", 3, 2)
    for name, stays in (("Acme", False), ("Bolt", True)):
        whose = Entity("em2", ("m2",), "organization", name)
        assert len(credible(replace(doc, entities=(*doc.entities[:2], whose, doc.entities[3])))) == stays


def test_initials_are_no_title_of_the_work_that_has_them() -> None:
    doc = sentence("[W TMNT] is a film directed by [P Ann Lee].", "director", 0, 1)
    assert len(credible(doc)) == 1
    whole = Entity("em0", ("m0",), "work", "Mutant Ninja Turtles")
    assert not credible(replace(doc, entities=(whole, doc.entities[1])))
