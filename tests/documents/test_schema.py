from pathlib import Path

import pytest

from factpin.documents import Document, Entity, Fact, Mention, Relation, Schema, learn_schema, read_schema, write_schema
from factpin.errors import BadDocument, BadFile


def people(*facts: tuple[str, str, str]) -> Document:
    """Ann and Bob are people, Rome is a place."""
    text = "Ann Bob Rome"
    mentions = (Mention("a", 0, 3, "Ann", "PER"), Mention("b", 4, 7, "Bob", "PER"), Mention("r", 8, 12, "Rome", "LOC"))
    entities = tuple(Entity(m.id, (m.id,), m.type, m.text) for m in mentions)
    return Document("d", text, mentions=mentions, entities=entities, facts=tuple(Fact(*f) for f in facts))


def test_a_learned_schema_allows_what_it_was_learned_from() -> None:
    docs = [people(("a", "lives", "r"), ("a", "knows", "b"), ("b", "knows", "a"))] * 20
    schema = learn_schema(docs)
    assert schema.types == ("LOC", "PER")
    assert schema.relations["lives"] == Relation("lives", ("PER",), ("LOC",), functional=True)
    assert schema.relations["knows"].symmetric
    assert not [v for doc in docs for v in schema.violations(doc)]


def test_few_facts_prove_no_mark() -> None:
    schema = learn_schema([people(("a", "lives", "r"))])
    assert not schema.relations["lives"].functional


def test_violations_are_named() -> None:
    schema = Schema(("PER",), {"lives": Relation("lives", ("PER",), ("PER",), functional=True)})
    doc = people(("a", "lives", "r"), ("a", "lives", "b"), ("a", "loves", "b"))
    assert [kind for kind, _ in schema.violations(doc)] == [
        "unknown_type", "type_clash", "not_functional", "unknown_relation",
    ]  # fmt: skip


def test_a_symmetric_relation_allows_both_directions() -> None:
    relation = Relation("in", ("PER",), ("LOC",), symmetric=True)
    assert relation.allows("LOC", "PER") and not relation.allows("LOC", "LOC")


def test_a_schema_file_comes_back(tmp_path: Path) -> None:
    schema = Schema(("人物", "地点"), {"出生地": Relation("出生地", ("人物",), ("地点",), False, "居民", True),
                                   "居民": Relation("居民")})  # fmt: skip
    write_schema(schema, tmp_path / "s.toml")
    assert read_schema(tmp_path / "s.toml") == schema


def test_the_mark_changes_comes_back_and_is_off_in_older_files(tmp_path: Path) -> None:
    schema = Schema((), {"CEO": Relation("CEO", changes=True), "born": Relation("born", functional=True)})
    write_schema(schema, tmp_path / "s.toml")
    assert read_schema(tmp_path / "s.toml") == schema
    (tmp_path / "old.toml").write_text("[relations.CEO]\nfunctional = true\n")
    assert not read_schema(tmp_path / "old.toml").relations["CEO"].changes


@pytest.mark.parametrize(
    "text, words",
    [
        ("types = 3", "types"),
        ("kinds = []", "unknown keys kinds"),
        ("[relations.r]\nhead = []", "unknown keys head"),
        ("[relations.r]\nsymmetric = 'yes'", "true or false"),
        ("types = ['A']\n[relations.r]\nheads = ['B']", "'B'"),
        ("[relations.r]\ninverse = 'q'", "'q'"),
        ("types = [", "not valid TOML"),
    ],
)
def test_a_bad_schema_file_says_what_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(BadFile, match=words.replace("[", r"\[")):
        read_schema(tmp_path / "s.toml")


def test_an_inverse_must_exist() -> None:
    with pytest.raises(BadDocument):
        Schema((), {"r": Relation("r", inverse="q")})
