"""The documents of en-facts and zh-facts: offsets, directions, what is annotated, and what a judge counts."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from factpin.documents import Document, from_json, to_json
from factpin.files import write_bytes

RECIPES = Path(__file__).parents[2] / "recipes"


def load(path: str) -> ModuleType:
    """A script of recipes as a module."""
    spec = importlib.util.spec_from_file_location(path.replace("/", "_").removesuffix(".py"), RECIPES / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def scripts() -> dict[str, Any]:
    kept = list(sys.path)
    sys.path[:0] = [str(RECIPES / "en-facts"), str(RECIPES)]
    names = ("_prepare_facts.py", "en-facts/prepare.py", "zh-facts/prepare.py", "judge_facts.py")
    found = {name: load(name) for name in names}
    found |= {name: sys.modules[name] for name in ("google_re", "pairs", "redocred")}
    found["_prepare_facts.py"] = sys.modules["_prepare_facts"]  # the one that the scripts use
    sys.path[:] = kept
    return found


def told(doc: Document) -> set[tuple[str, str, str]]:
    """The facts of a document by text."""
    return {(doc.mention(f.head_mention or "").text, f.relation, doc.mention(f.tail_mention or "").text)
            for f in doc.facts}  # fmt: skip


def types(doc: Document) -> dict[str, str]:
    return {m.text: m.type for m in doc.mentions}


def asked(doc: Document) -> list[str]:
    found: list[str] = doc.meta["annotated"]["relations"]
    return found


def lines(path: Path, *records: Any) -> Path:
    with write_bytes(path) as stream:
        stream.writelines(json.dumps(record).encode() + b"\n" for record in records)
    return path


# ---- the table ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_has_our_types_alone_and_every_name_once(scripts: dict[str, Any], language: str) -> None:
    shared = scripts["_prepare_facts.py"]
    table = shared.read_table(language)
    for relation in table.relations.values():
        assert {*relation.head, *relation.tail, *relation.slots.values()} <= set(shared.TYPES), relation.name
    assert {type for corpus in table.types.values() for type in corpus.values()} <= set(shared.TYPES)
    assert all(table.known[name] == (name, False) for name in table.relations)


def test_an_inverse_name_turns_head_and_tail(scripts: dict[str, Any]) -> None:
    table = scripts["_prepare_facts.py"].read_table("en")
    relation, turned = table.find("father")
    assert (relation.name, turned) == ("child", True)
    assert table.find("has part") is None


# ---- shared functions -----------------------------------------------------------------------------------------------


def test_running_text_keeps_spans(scripts: dict[str, Any]) -> None:
    words = 'Ada ( born 10 December 1815 , in London ) wrote " Notes " on a well - known engine .'
    names = ("Ada", "10 December 1815", "London", "Notes", "well - known engine")
    spans = [(words.index(name), words.index(name) + len(name)) for name in names]
    text, found = scripts["_prepare_facts.py"].running(words, spans)
    assert text == 'Ada (born 10 December 1815, in London) wrote "Notes" on a well-known engine.'
    assert [text[start:end] for start, end in found] == [*names[:4], "well-known engine"]


def make(scripts: dict[str, Any], text: str, *facts: tuple[str, str, str], relations: tuple[str, ...] = ()) -> Document:
    shared = scripts["_prepare_facts.py"]

    def place(name: str, type: str) -> Any:
        return shared.Place(text.index(name), text.index(name) + len(name), type)

    rows = [shared.Told(place(head, "person"), relation, place(tail, "location")) for head, relation, tail in facts]
    doc: Document = shared.pin("d", text, rows, shared.make_meta("test", relations), "en")
    return doc


def test_pinned_facts_survive_the_native_format(scripts: dict[str, Any]) -> None:
    doc = make(scripts, "Ada was born in London.", ("Ada", "place of birth", "London"))
    assert told(from_json(to_json(doc))) == {("Ada", "place of birth", "London")}
    assert [e.name for e in doc.entities] == ["Ada", "London"]


def test_training_shares_no_sentence_with_a_judge_and_has_each_text_once(scripts: dict[str, Any]) -> None:
    shared = scripts["_prepare_facts.py"]
    judge = make(scripts, "Ada was born in London. She wrote the first program.")
    leak = make(scripts, "Nobody knows. She  wrote the first program.")
    one = make(scripts, "Ada lived in Paris.", ("Ada", "residence", "Paris"), relations=("residence",))
    other = make(scripts, "Ada lived in Paris.", relations=("spouse",))
    counts: Any = shared.Counter()
    (kept,) = shared.without_shared([leak, one, other], [judge], counts)
    assert told(kept) == {("Ada", "residence", "Paris")}
    assert asked(kept) == ["residence", "spouse"]
    assert counts == {"test: shares a sentence with a judge": 1, "test: text is there already": 1}


def test_what_no_word_hints_at_is_not_told_and_a_guess_is_unknown(scripts: dict[str, Any]) -> None:
    shared = scripts["_prepare_facts.py"]
    table = shared.read_table("en").only({"place of death", "date of birth"})
    doc = make(scripts, "Ada left London.", ("Ada", "place of death", "London"), relations=("place of death",))
    marked = shared.mark_unhinted(doc, table)
    assert not marked.facts
    assert asked(marked) == marked.meta["unhinted"] == ["date of birth"]


def test_a_type_is_exhaustive_where_nearly_all_its_relations_are_annotated(scripts: dict[str, Any]) -> None:
    shared = scripts["_prepare_facts.py"]
    counts = {"person": shared.Counter(a=90, b=10), "date": shared.Counter(a=1, b=1), "work": shared.Counter()}
    marked = shared.mark_types(make(scripts, "Ada", relations=("a",)), counts)
    assert marked.meta["annotated"]["mentions"] == ["person"]


# ---- English --------------------------------------------------------------------------------------------------------


def test_knowledgenet_annotates_what_was_asked(scripts: dict[str, Any], tmp_path: Path) -> None:
    text = "Emil's son Norbert lives in Merrill."
    child = {"predicate": "CHILD_OF", "subject": [11, 18], "object": [0, 4]}
    rows = [
        {"fold": 1, "document": "7", "passage": [0, 36], "text": text, "facts": [child],
         "annotated_without_fact": ["SPOUSE"]},
        {"fold": 4, "document": "8", "passage": [0, 5], "text": "None.", "facts": [],
         "annotated_without_fact": ["CEO"]},
    ]  # fmt: skip
    table = scripts["_prepare_facts.py"].read_table("en")
    found = list(scripts["en-facts/prepare.py"].knowledgenet(lines(tmp_path / "k.jsonl", *rows), table))
    assert [fold for fold, _ in found] == [1, 4]
    assert told(found[0][1]) == {("Emil", "child", "Norbert")}
    assert asked(found[0][1]) == ["child", "spouse"]
    assert (found[1][1].facts, asked(found[1][1])) == ((), ["chief executive officer"])


def docred(tmp_path: Path) -> Path:
    sents = [
        ["Ada", "Byron", "(", "born", "1815", "in", "London", ")", "was", "a", "writer", "."],
        ["Byron", "saw", "London", "again", "."],
        ["He", "married", "Ann", "in", "1815", "."],
    ]
    mention = [[("Ada Byron", 0, 0, 2, "PER"), ("Byron", 1, 0, 1, "PER")], [("1815", 0, 4, 5, "TIME"),
               ("1815", 2, 4, 5, "TIME")], [("London", 0, 6, 7, "LOC"), ("London", 1, 2, 3, "LOC")],
               [("Ann", 2, 2, 3, "PER")]]  # fmt: skip
    entities = [[{"name": n, "sent_id": s, "pos": [a, b], "type": t} for n, s, a, b, t in one] for one in mention]
    labels = [{"r": "P569", "h": 0, "t": 1, "evidence": [0]}, {"r": "P19", "h": 0, "t": 2, "evidence": [0]},
              {"r": "P22", "h": 3, "t": 0, "evidence": []}]  # fmt: skip
    path = tmp_path / "redocred.json"
    path.write_text(json.dumps([{"title": "Ada", "sents": sents, "vertexSet": entities, "labels": labels}]))
    return path


def test_a_sentence_of_redocred_tells_what_is_proved_in_it(scripts: dict[str, Any], tmp_path: Path) -> None:
    names = {"P569": "date of birth", "P19": "place of birth", "P22": "father"}
    table = scripts["_prepare_facts.py"].read_table("en")
    first, second, third = (doc for _, doc in scripts["redocred"].redocred(docred(tmp_path), names, table))
    assert first.text == "Ada Byron (born 1815 in London) was a writer."
    assert told(first) == {("Ada Byron", "date of birth", "1815"), ("Ada Byron", "place of birth", "London")}
    assert asked(first) == ["child", "date of birth", "place of birth"]
    assert (told(second), asked(second)) == (set(), ["child", "date of birth"])  # both are mentioned, nothing is stated
    assert asked(third) == []  # a pronoun may take part in all three


def test_whole_documents_of_redocred_keep_entities_and_turn_inverses(scripts: dict[str, Any], tmp_path: Path) -> None:
    names = {"P569": "date of birth", "P19": "place of birth", "P22": "father"}
    table = scripts["_prepare_facts.py"].read_table("en")
    (doc,) = scripts["redocred"].whole_documents(docred(tmp_path), names, table)
    assert ("e0", "child", "e3") in {(f.head, f.relation, f.tail) for f in doc.facts}
    assert doc.text[slice(*doc.sentences[1])] == "Byron saw London again."


def rated(pred: str, obj: str, title: str, snippet: str, verdict: str) -> dict[str, Any]:
    return {"pred": pred, "obj": obj, "evidences": [{"url": f"http://x/{title}", "snippet": snippet}],
            "judgments": [{"judgment": verdict}] * 5}  # fmt: skip


def test_google_re_pins_what_raters_confirm(scripts: dict[str, Any], tmp_path: Path) -> None:
    birth, death = "/people/person/date_of_birth", "/people/deceased_person/place_of_death"
    degree = "/people/person/education./education/education/degree"
    born = [
        rated(birth, "1984-02-13", "Gary_Sykes_(boxer)", "A boxer. Gary Sykes (born 13 February 1984) won.", "yes"),
        rated(birth, "1624", "Caitilin_Dubh", "Caitilin Dubh, Irish poet, fl. c. 1624.", "no"),
        rated(birth, "2011-02-11", "Paul_Frappier", "Paul Frappier (May 8, 1977 – February 11, 2011) sang.", "no"),
    ]
    died = [rated(death, "/m/1", "Bushrod_Lott", "Bushrod Lott died on 2 May 1886 in Saint Paul, Minnesota.", "yes")]
    graduated = [rated(degree, "/m/2", "Ann_Friot", "Friot received a ((NAM: B.A.)) and a J.D. in Ohio.", "yes")]
    for name, rows in zip(scripts["google_re"].FILES, (born, died, graduated), strict=True):
        lines(tmp_path / f"20131104-{name}.json.xz", *rows)
    table = scripts["_prepare_facts.py"].read_table("en")
    yes, no, denied, place, title = scripts["google_re"].google_re(tmp_path, table)
    assert told(yes) == {("Gary Sykes", "date of birth", "13 February 1984")}
    assert (told(no), asked(no)) == (set(), ["date of birth"])
    assert (asked(denied), denied.meta["denied"]["tails"]) == ([], ["February 11, 2011"])
    assert told(place) == {("Bushrod Lott", "place of death", name) for name in ("Saint Paul", "Minnesota")}
    assert told(title) == {("Friot", "academic degree", "B.A.")}
    assert asked(title) == []  # another degree is stated and not marked


def test_marked_pairs_are_true_and_nothing_else_is_known(scripts: dict[str, Any], tmp_path: Path) -> None:
    table = scripts["_prepare_facts.py"].read_table("en")
    path = tmp_path / "train.txt"
    path.write_text('0\t" <e1> Ann Lee </e1> , wife of <e2> Bob </e2> , left . "\nper:spouse(e1,e2)\n\n\n'
                    '1\t" <e1> Ann </e1> met <e2> Bob </e2> . "\nper:spouse(e1,e2)\n\n\n')  # fmt: skip
    (doc,) = scripts["pairs"].kbp37(path, table)
    assert doc.text == "Ann Lee, wife of Bob, left."
    assert told(doc) == {("Ann Lee", "spouse", "Bob"), ("Bob", "spouse", "Ann Lee")}
    assert asked(doc) == []
    tokens = ['"', "Up", '"', "is", "a", "film", "directed", "by", "Pete", "Docter", "."]
    row = {"token": tokens, "h": {"pos": [0, 3], "type": "UNK"}, "t": {"pos": [8, 10], "type": "PERSON"},
           "relation": "director"}  # fmt: skip
    (film,) = scripts["pairs"].wiki80(lines(tmp_path / "dev.txt", row), table)
    assert told(film) == {("Up", "director", "Pete Docter")}
    assert types(film) == {"Up": "work", "Pete Docter": "person"}


def test_dates_agree_in_every_spelling(scripts: dict[str, Any]) -> None:
    dates = scripts["google_re"].dates
    text = "Born on May 1, 1990 and again in June 1990, not 1991."
    assert [text[a:b] for a, b in dates(text, "1990-05-01")] == ["May 1, 1990"]
    assert [text[a:b] for a, b in dates(text, "1991")] == ["1991"]
    assert dates(text, "0090") == []


# ---- Chinese --------------------------------------------------------------------------------------------------------


def test_duie_has_our_types_and_its_own_relations(scripts: dict[str, Any], tmp_path: Path) -> None:
    prepare, table = scripts["zh-facts/prepare.py"], scripts["_prepare_facts.py"].read_table("zh")
    spo = {
        "predicate": "饰演",
        "subject": "吴磊",
        "subject_type": "娱乐人物",
        "object": {"@value": "飞流", "inWork": "琅琊榜"},
        "object_type": {"@value": "人物", "inWork": "影视作品"},
    }
    path = lines(tmp_path / "d.json", {"text": "吴磊在《琅琊榜》中饰演飞流", "spo_list": [spo]})
    (doc,) = prepare.duie(path, table, "duie2", {"饰演", "妻子"})
    assert told(doc) == {("吴磊", "饰演", "飞流")}
    assert types(doc) == {"吴磊": "person", "飞流": "person", "琅琊榜": "work"}
    assert doc.facts[0].qualifiers[0].role == "inWork"
    (first,) = prepare.duie(path, table, "duie1", {"饰演", "妻子"})
    assert asked(first) == ["饰演"]  # 1.0 leaves out too many spouses


def test_news_turn_members_into_offices(scripts: dict[str, Any], tmp_path: Path) -> None:
    rows = [
        ("拼多多", "负责人", "王坚"),
        ("王坚", "职务", "副总裁"),
        ("拼多多", "成员", "王坚"),
        ("拼多多", "对手", "王坚"),
    ]
    triples = [dict(zip(("subject", "relation", "object"), row, strict=True)) for row in rows]
    record = {"text": "拼多多副总裁王坚表示。", "sro_list": triples}
    table = scripts["_prepare_facts.py"].read_table("zh")
    (doc,) = scripts["zh-facts/prepare.py"].news(lines(tmp_path / "n.txt", record, record), table)
    assert told(doc) == {("拼多多", "负责人", "王坚"), ("王坚", "职务", "副总裁"), ("王坚", "任职", "拼多多")}
    assert types(doc) == {"拼多多": "organization", "王坚": "person", "副总裁": "title"}


def test_names_are_whole(scripts: dict[str, Any], tmp_path: Path) -> None:
    prepare, table = scripts["zh-facts/prepare.py"], scripts["_prepare_facts.py"].read_table("zh")
    text = "杨小明，汉族，执导《一代宗师》"
    triples = [["杨小明", "民族", "汉族"], ["小明", "民族", "汉族"], ["《一代宗师》", "导演", "杨小明"]]
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"text": text, "triple_list": triples}]), encoding="utf-8")
    (doc,) = map(prepare.tidied, prepare.seventeen(path, table))
    assert told(doc) == {("杨小明", "民族", "汉族"), ("一代宗师", "导演", "杨小明")}
    place = scripts["_prepare_facts.py"].Place(2, 6, "other")
    assert prepare.whole_name(place, "在“无畏”号上")[:2] == (1, 6)


# ---- judging --------------------------------------------------------------------------------------------------------


def test_a_claim_agrees_by_any_text_of_its_entities(scripts: dict[str, Any]) -> None:
    judge = scripts["judge_facts.py"]
    gold = judge.Claim(frozenset(["Ada", "Ada Byron"]), "place of birth", frozenset(["London"]))
    right = judge.Claim(frozenset(["Ada"]), "place of birth", frozenset(["London"]), 0.6)
    wrong = judge.Claim(frozenset(["He"]), "place of birth", frozenset(["Paris"]), 0.4)
    assert right.agrees(gold) and not wrong.agrees(gold)
    assert right.named and not wrong.named
    doc = make(scripts, "Ada")
    table = judge.tallies([(doc, [gold], [right, wrong])], (0.0, 0.5), lambda _, claim: True)
    assert table[0.0].figures() == {
        "precision": 0.5,
        "recall": 1.0,
        "f1": pytest.approx(2 / 3),
        "predicted": 2,
        "gold": 1,
    }
    assert table[0.5].figures()["precision"] == 1.0


def test_only_relations_that_gold_annotates_count(scripts: dict[str, Any]) -> None:
    judge = scripts["judge_facts.py"]
    doc = make(scripts, "Ada", relations=("spouse",))
    claim = judge.Claim(frozenset(["Ada"]), "residence", frozenset(["Paris"]))
    assert not judge.is_annotated(doc, claim)
    assert judge.is_annotated(doc, claim._replace(relation="spouse"))


def test_a_denied_object_counts_against_the_subject_alone(scripts: dict[str, Any]) -> None:
    judge, shared = scripts["judge_facts.py"], scripts["_prepare_facts.py"]
    meta = shared.make_meta("google_re", [], subject="Adios Pick (horse)", judgment="no",
                            denied={"relation": "date of birth", "tails": ["1954"]})  # fmt: skip
    doc = shared.pin("d", "Adios Pick (born in 1954)", [], meta, "en")
    claim = judge.Claim(frozenset(["Adios Pick"]), "date of birth", frozenset(["1954"]))
    assert judge.is_denied(doc, claim)
    assert not judge.is_denied(doc, claim._replace(heads=frozenset(["Pick Up"])))


def test_predictions_are_read_under_our_names(scripts: dict[str, Any]) -> None:
    judge, shared = scripts["judge_facts.py"], scripts["_prepare_facts.py"]
    doc = make(scripts, "Ann, daughter of Bob", ("Ann", "father", "Bob"), ("Ann", "has part", "Bob"))
    (claim,) = judge.claims(doc, shared.read_table("en"))
    assert (claim.heads, claim.relation, claim.tails) == ({"Bob"}, "child", {"Ann"})
