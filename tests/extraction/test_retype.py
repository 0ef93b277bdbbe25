"""A fact model's mentions take the types that mention models find, and facts that no longer fit are left out."""

from factpin.documents import Coverage, Document, Entity, Fact, Mention
from factpin.extraction.extract import retype
from factpin.models.extractor import Extractor
from factpin.models.shipped import find_model

TEXT = "Toyoda is in Japan."


def test_facts_between_types_that_their_relation_does_not_join_are_left_out_and_counted() -> None:
    model = Extractor.load(find_model("en-facts"))
    mentions = (Mention("m0", 0, 6, "Toyoda", "organization", 0.9), Mention("m1", 13, 18, "Japan", "location", 0.9))
    entities = (Entity("e0", ("m0",), "organization", "Toyoda"), Entity("e1", ("m1",), "location", "Japan"))
    facts = (
        Fact("e0", "headquarters location", "e1", "m0", "m1", 0.9),
        Fact("e0", "residence", "e1", "m0", "m1", 0.9),
    )
    doc = Document("d", TEXT, "en", (), mentions, entities, facts, coverage=Coverage())
    found = retype(doc, [Mention("x", 0, 6, "Toyoda", "person", 0.99)], model)
    assert [m.type for m in found.mentions] == [e.type for e in found.entities] == ["person", "location"]
    assert [fact.relation for fact in found.facts] == ["residence"]
    assert found.coverage is not None and "1 fact left out between types" in found.coverage.notes[0]
    same = retype(doc, [Mention("x", 0, 6, "Toyoda", "organization", 0.99)], model)
    assert [fact.relation for fact in same.facts] == ["headquarters location"]
