"""English facts whose names are in parts of a sentence that say different things."""

from dataclasses import replace

import pytest

from factpin.documents import Document, Entity, Mention, Span
from factpin.extraction.clauses_en import RULES
from factpin.extraction.scene import Scene
from factpin.extraction.wording import credible
from tests.extraction.test_wording_en import IN, sentence


def is_ruled_out(doc: Document) -> bool:
    scene = Scene.of(doc)
    return any(rule(scene, doc.facts[0]) for rule in RULES)


@pytest.mark.parametrize(
    ("marked", "relation", "head", "tail"),
    [
        ("[O Acme] (part of [O Bolt]) was founded in [D 1999].", "inception", 0, 2),
        ("[O Acme Games] ([O AG]) was founded in [D 1999].", "inception", 1, 2),
        ("[W Moonlight] ([D 2011]) is the first album.", "publication date", 0, 1),
        ("[O Acme] made [W Moonlight], which was released in [D 1954].", "publication date", 1, 2),
        ("Released in [D 1954], [W Moonlight] sold well.", "publication date", 1, 0),
        ("[P Ann Lee] ([D May 1, 1818] – August 29, 1887) was a painter.", "date of birth", 0, 1),
        ("[P Ann Lee] and her husband [P Tom Fox] were in a club.", "spouse", 0, 1),
        ("[P Ann Lee] was born and raised in [L Leeds].", "place of birth", 0, 1),
        ("[P Ann Lee], an honorary citizen of York, graduated from [O Leeds College].", "educated at", 0, 1),
        ("[P Ann Lee], an honorary professor, studied at [O Leeds College].", "educated at", 0, 1),
        ("[O Acme], later renamed Bolt, was founded in [D 1896].", "inception", 0, 1),
        ("[W Run], later popularized by others, was released in [D 1984].", "publication date", 0, 1),
        ("[W Run], whose cover shows a cat, was released in [D 1984].", "publication date", 0, 1),
        ("In [L Ohio], the French embassy is in [L Leeds].", IN, 1, 0),
        ("[P Heydər Əliyev] was born in [L Bakı].", "place of birth", 0, 1),
        ("[P Ann Lee] (winner of 1998), born - [D 12 May 1970].", "date of birth", 0, 1),
        ("[P Ann Lee] worked in York and studied at [O Leeds College].", "educated at", 0, 1),
        ("[P Ann Lee] married [P Tom Fox] and lived in [L Leeds].", "residence", 0, 2),
        ("[O Leeds College], founded in [D 1896], was renamed later.", "inception", 0, 1),
        ("[P Ann Lee] studied at [O Leeds College] and is an honorary doctor.", "educated at", 0, 1),
        ("The consulate in [L Lima], [L Peru], is closed.", IN, 0, 1),
        ("[W Moonlight] was written in 1953 and published in [D 1954].", "publication date", 0, 1),
        ("It was developed by [O Acme] after the war.", "developer", 0, 0),
        ("Born in [L Leeds] to [P Ann Lee], [P Tom Fox] was a painter.", "place of birth", 2, 0),
        ("[P Ann Lee] was born on [D 1860-02-29].", "date of birth", 0, 1),
        ("[P Ann Lee] ([D 1860]–1901) was a painter.", "date of birth", 0, 1),
        ("[P Ann Lee] (born 1901, [L Leeds]) was a painter.", "place of birth", 0, 1),
        ("[P Ann Lee] died in [D 1901].", "date of death", 0, 1),
        ("[O Acme] has its main offices in [L London].", "headquarters location", 0, 1),
        ("With headquarters in [L Watford], [O Acme] is known for its pubs.", "headquarters location", 1, 0),
        ("The [L US] researcher [P Ann Lee] came.", "country of citizenship", 1, 0),
        ("[O Acme Inc.] of [L Ohio] grew.", IN, 0, 1),
        ("[O Acme] is a large maker of tools in [L Ohio].", IN, 0, 1),
        ("[P Ann Lee], her mother Mary and her husband [P Tom Fox] came.", "spouse", 0, 1),
        ("[P Ann Lee] is the sister of [P Tom Fox] as well as [P Bo Fox].", "sibling", 0, 2),
    ],
)
def test_what_one_part_of_a_sentence_says_stays(marked: str, relation: str, head: int, tail: int) -> None:
    assert not is_ruled_out(sentence(marked, relation, head, tail))


@pytest.mark.parametrize(
    ("marked", "relation", "head", "tail"),
    [
        ("[O Acme] (part of [O Bolt]) was founded in [D 1999].", "inception", 1, 2),
        ("The song [W Run] was recorded for the album [W Moonlight] ([D 2011]).", "publication date", 0, 2),
        ("[W UNIX] was invented by Thompson after [O Bell Labs] left the project.", "developer", 0, 1),
        ("As CEO, [P Ann Lee] led the firm; it became part of [O Acme].", "chief executive officer", 1, 0),
        ("[P Tom Fox] died in [L Leeds] one year after [P Ann Lee].", "place of death", 2, 1),
        ("[W Moonlight] is a song recorded by Canned Heat in [D 1967].", "publication date", 0, 1),
        ("The band was signed in [D 1989] by Bolt and released their first, [W Moonlight].", "publication date", 1, 0),
        ("Born in [L Leeds] to [P Ann Lee], he was a painter.", "place of birth", 1, 0),
        ("[W Run] is a song popularized by a cover, which became a hit in [D 1966].", "publication date", 0, 1),
        ("[W Run] was re-released in [D 1999].", "publication date", 0, 1),
        ("[P Ann Lee] holds honorary degrees from [O Leeds College].", "educated at", 0, 1),
        ("It is [L China]'s embassy, beside two consulates-general in [L Leeds] and [L York].", IN, 1, 0),
        ("It is [L China]'s embassy, beside two consulates-general in [L Leeds] and [L York].", IN, 2, 0),
        ("[P Ann Lee] (May 1, 1818 Leeds – [D August 29, 1887]) was a painter.", "date of birth", 0, 1),
        ("[P Ann Lee] and [P Tom Fox] were in a club.", "spouse", 0, 1),
        ("[P Ann Lee], born in York, was raised in [L Leeds].", "place of birth", 0, 1),
        ("[P Ann Lee] earned a degree and worked at [O Leeds College].", "educated at", 0, 1),
        ("[P Ann Lee] was president of [L Ohio] and died in Leeds.", "place of death", 0, 1),
        ("[P Ann Lee] was succeeded by [P Tom Fox] of the [O Labour Party].", "member of political party", 0, 2),
        ("His mother was [P Ann Lee]; [P Tom Fox] lives in [L Leeds].", "residence", 0, 2),
        ("The college was renamed [O Leeds College] in [D 1896].", "inception", 0, 1),
        ("[L Kokomo] is the city of the [L Kokomo] area.", IN, 0, 1),
        ("Leeds ([L ˈliːdz]) is in [L Ohio].", IN, 0, 1),
        ("[P Ann Lee] was born on [D 1860]-02-29.", "date of birth", 0, 1),
        ("[P Ann Lee] ([D 40s-66]) was a Roman.", "date of birth", 0, 1),
        ("[P Ann Lee] (fl. [D 1388]–1424) was a painter.", "date of birth", 0, 1),
        ("[P Ann Lee] (1385 – c. 1438, [L Florence]) was a painter.", "place of birth", 0, 1),
        ("They elected [P Ann Lee] on [D 31 August 1776].", "date of death", 0, 1),
        ("[O Acme] is in Frankfurt/Main with offices in [L London].", "headquarters location", 0, 1),
        ("It is located in [L Hapeville] and is near the place of the now demolished [O Acme Plant].",
         "headquarters location", 1, 0),
        ("[O Acme] is based in [L Taipei], whose parent is [O Bolt].", "headquarters location", 2, 1),
        ("For more in the [L USA] see [P Ann Lee].", "country of citizenship", 1, 0),
        ("[O Acme] bought the streaming rights in the [L United States].", "country", 0, 1),
        ("It was planned by [O Acme] of [L Russia], and [O Bolt] of [L India].", "country", 0, 3),
        ("It cast [P Ann Lee] as Mary and [P Tom Fox] as her future husband.", "spouse", 0, 1),
        ("[P Ann Lee] met the agent of [P Bo Ash], the wife of [P Tom Fox].", "spouse", 0, 2),
    ],
)  # fmt: skip
def test_what_another_part_of_a_sentence_says_is_ruled_out(marked: str, relation: str, head: int, tail: int) -> None:
    assert is_ruled_out(sentence(marked, relation, head, tail))


def test_somebody_whom_a_text_calls_she_before_any_name_is_not_the_first_one_named() -> None:
    text = "She also played Gloria in a film. She grew up in Havertown."
    named, she, town = (
        Mention(id, start, start + len(name), name, type, 0.9)
        for id, name, type, start in (
            ("m0", "Gloria", "person", text.index("Gloria")),
            ("m1", "She", "person", text.rindex("She")),
            ("m2", "Havertown", "location", text.index("Havertown")),
        )
    )
    doc = sentence("[P Gloria] lives in [L Havertown].", "residence", 0, 1)
    fact = replace(doc.facts[0], head="e0", tail="e1", head_mention="m1", tail_mention="m2")
    entities = (Entity("e0", ("m0", "m1"), "person", "Gloria"), Entity("e1", ("m2",), "location", "Havertown"))
    end = text.index(".") + 1
    sentences = (Span(0, end), Span(end + 1, len(text)))
    assert is_ruled_out(Document("d", text, "en", sentences, (named, she, town), entities, (fact,)))


def test_a_nationality_behind_of_is_that_of_somebody_else() -> None:
    marked = "[P Ann Lee] was the lover of [L Belgian] playwright and writer [P Tom Fox]."
    assert not credible(sentence(marked, "country of citizenship", 0, 1))
    assert credible(sentence("[P Ann Lee] was a famous [L Belgian] writer.", "country of citizenship", 0, 1))


def test_a_long_list_of_cities_takes_no_time() -> None:
    cities = "Rome, and " * 200
    doc = sentence(f"[L China]'s consulates are in {cities}[L Leeds].", IN, 1, 0)
    assert not is_ruled_out(doc)  # the list is too long to be read, and the search ends
