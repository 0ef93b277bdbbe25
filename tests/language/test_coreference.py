"""Coreference: minimal cases in both languages, guards that no links break, and that a scorer's word is taken."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factpin.documents import Coverage, Document, Entity, Fact, Mention, Qualifier, Span
from factpin.errors import BadInput, FactpinError
from factpin.language._coreference_clusters import Link, gather
from factpin.language._coreference_names import fold, read
from factpin.language.coreference import (
    FEATURES,
    RULES,
    PairScores,
    _best_name,
    candidates,
    links,
    ordered,
    resolve,
    targets,
    with_singletons,
)
from tests.language.coreference_cases import CHINESE, ENGLISH

MARK = re.compile(r"\[(\d+)(?: (\w+))?:(.+?)\]")


def marked(case: str, type: str = "") -> Document:
    """A document from text with its mentions marked; equal numbers are one entity."""
    text, mentions, groups, end = "", [], {}, 0
    for match in MARK.finditer(case):
        text += case[end : match.start()]
        mentions.append(Mention(f"m{len(mentions)}", len(text), len(text) + len(match[3]), match[3], match[2] or type))
        groups.setdefault(match[1], []).append(f"m{len(mentions) - 1}")
        text, end = text + match[3], match.end()
    entities = tuple(Entity(f"g{number}", tuple(ids)) for number, ids in groups.items())
    return Document("d", text + case[end:], mentions=tuple(mentions), entities=entities)


def clusters(doc: Document) -> set[tuple[str, ...]]:
    """The entities as the texts and places of their mentions."""
    return {tuple(sorted(f"{doc.mention(id).text}@{doc.mention(id).start}" for id in e.mentions)) for e in doc.entities}


def answers(doc: Document, gold: Document | None = None, most: int = 50) -> PairScores:
    """What a scorer that makes no mistake says: the right antecedents, all alike."""
    asked = candidates(doc, most=most)
    right = targets(gold or doc, asked).astype(float)
    return PairScores(asked.antecedent, right / np.maximum(1.0, right.sum(axis=1, keepdims=True)))


# ---- minimal cases --------------------------------------------------------------------------------------------------


def test_there_are_many_cases() -> None:
    assert len(ENGLISH) >= 25 and len(CHINESE) >= 25


@pytest.mark.parametrize(("type", "case"), ENGLISH + CHINESE, ids=[case for _, case in ENGLISH + CHINESE])
def test_minimal_case(type: str, case: str) -> None:
    doc = marked(case, type)
    assert clusters(resolve(doc)) == clusters(doc)


# ---- whatever the names ---------------------------------------------------------------------------------------------

WORDS = ["John Smith", "Mary Smith", "A. Smith", "Smith", "Smiths", "J. Smith", "Mr. Smith", "he", "She", "it",
         "the company", "UN", "United Nations", "Acme Ltd", "Acme", "张伟", "张伟明", "张教授", "小张", "他", "该公司",
         "其", "they", "他们", "中国银行", "中国工商银行", "Mexico", "Mexico City",
         "北大", "北京大学", "北方大学", "ＵＮ", "I", "!", "·", "(", "s"]  # fmt: skip
TYPES = ["", "PER", "ORG", "人物", "机构", "Generic", "x"]
GLUE = [" ", " Mr. ", " Ms. ", "先生", ", ", " (", ") ", "。", ". ", "，简称", ", also known as ", "和"]


@st.composite
def documents(
    draw: st.DrawFn, words: Sequence[str] = WORDS, types: Sequence[str] = TYPES, glue: Sequence[str] = GLUE
) -> Document:
    """Names in a row, some of them nested, in random entities."""
    text, mentions = "", []
    for word, type, behind in draw(
        st.lists(st.tuples(st.sampled_from(words), st.sampled_from(types), st.sampled_from(glue)), max_size=12)
    ):
        mentions.append(Mention(f"m{len(mentions)}", len(text), len(text) + len(word), word, type))
        if draw(st.integers(0, 9)) == 0:
            mentions.append(Mention(f"m{len(mentions)}", len(text), len(text) + 1, word[:1], type))
        text += word + behind
    groups: dict[int, list[str]] = {}
    for mention in mentions:
        groups.setdefault(draw(st.integers(0, 4)), []).append(mention.id)
    entities = tuple(Entity(f"g{number}", tuple(ids)) for number, ids in groups.items())
    return Document("d", text, mentions=tuple(mentions), entities=entities)


@given(documents())
def test_every_mention_is_in_exactly_one_entity(doc: Document) -> None:
    found = resolve(doc)
    assert sorted(id for e in found.entities for id in e.mentions) == sorted(m.id for m in doc.mentions)
    assert [e.id for e in found.entities] == [f"e{i}" for i in range(len(found.entities))]
    starts = [found.mention(e.mentions[0]).start for e in found.entities]
    assert starts == sorted(starts)
    assert found.mentions == doc.mentions


@given(documents(), st.randoms(use_true_random=False))
def test_order_and_ids_of_the_mentions_do_not_matter(doc: Document, chance) -> None:
    shuffled = list(doc.mentions)
    chance.shuffle(shuffled)
    names = [f"x{i}" for i in range(len(shuffled))]
    chance.shuffle(names)
    other = Document("d", doc.text, mentions=tuple(replace(m, id=n) for m, n in zip(shuffled, names, strict=True)))
    assert clusters(resolve(other)) == clusters(resolve(replace(doc, entities=())))
    described = [[(e.type, e.name) for e in resolve(d).entities] for d in (doc, other)]
    assert described[0] == described[1]


@given(documents())
def test_entities_that_are_there_already_do_not_matter(doc: Document) -> None:
    assert resolve(resolve(doc)) == resolve(doc)


@given(documents())
def test_types_genders_and_full_names_never_mix(doc: Document) -> None:
    for entity in resolve(doc).entities:
        mentions = [doc.mention(id) for id in entity.mentions]
        assert len({m.type for m in mentions} - {"", "Generic"}) <= 1  # these are no predictions: they have no scores
        texts = {m.text for m in mentions}
        assert not {"he", "She"} <= texts and not {"Mr. Smith", "She"} <= texts
        assert not {"they", "he"} <= texts and not {"他们", "他"} <= texts
        assert len({"中国银行", "中国工商银行"} & texts) <= 1 and len({"Mexico", "Mexico City"} & texts) <= 1
        if ", also known as " not in doc.text and "简称" not in doc.text:
            assert len({"John Smith", "Mary Smith", "A. Smith"} & texts) <= 1
            assert not {"张伟", "张伟明"} <= texts
            assert not {"北京大学", "北方大学"} <= texts


@given(documents(), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.floats(0, 1)), max_size=40))
def test_no_weak_links_whatever_join_two_full_names(doc: Document, pairs: list) -> None:
    reading = read(doc)
    size = len(reading.mentions)
    links = [Link(a, b, "scorer", s) for a, b, s in pairs if a < size and b < size]
    for cluster in gather(reading, links):
        texts = {reading.mentions[i].text for i in cluster}
        assert len({"John Smith", "Mary Smith", "A. Smith"} & texts) <= 1
        assert not {"北京大学", "北方大学"} <= texts


@pytest.mark.parametrize(("others", "joined"), [("N{}", 40), ("he", 61)])
def test_a_cluster_of_many_names_keeps_its_guard(others: str, joined: int) -> None:
    names = " ".join(f"[1:{others.format(i)}]" for i in range(60))
    reading = read(marked(f"{names} [1:John Smith] [1:Mary Smith]", "PER"))
    links = [Link(i, 0, "scorer", 1 - i / 100) for i in range(1, 62)]
    found = gather(reading, links)
    assert len(found[0]) == joined
    texts = [{reading.mentions[i].text for i in cluster} for cluster in found]
    assert not any({"John Smith", "Mary Smith"} <= some for some in texts)


# ---- the parts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The  Hague", "the hague"),
        ("ＵＮ", "un"),
        ("U.S.", "US"),
        ("Acme's", "ACME"),
        ("Jean - Paul", "jean-paul"),
        ("《红楼梦》", "红楼梦"),
        ("北 京", "北京"),
        ("臺灣", "台湾"),
        ("贝拉克・奥巴马", "贝拉克·奥巴马"),
    ],
)
def test_folding_forgets_case_width_blanks_and_quotes(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert fold(fold(one)) == fold(one)


def test_folding_keeps_initials_and_names_that_look_like_articles() -> None:
    assert [fold(text) for text in ("A. Smith", "A. J. Brown", "An Li")] == ["a smith", "a j brown", "an li"]
    assert [fold(text) for text in ("A seizure", "a CRF", "The A. Smith")] == ["seizure", "crf", "a smith"]
    assert fold("an li", person=True) == "an li"


@pytest.mark.parametrize(
    ("rule", "type", "case"),
    [
        ("abbreviation", "ORG", "[1:World Health Organization] ([1:WHO]) met."),
        ("alias", "PER", "[1:鲁迅]原名[1:周树人]。"),
        ("containment", "PER", "[1:Barack Obama] spoke. [1:Obama] left."),
        ("nominal", "ORG", "[1:Acme Ltd] grew. [1:The company] hired."),
        ("pronoun", "PER", "[1:Anna Weber] came. [1:She] sat."),
        ("same_name", "PER", "[1:Obama] spoke. [1:Obama] left."),
        ("variant", "Disease", "[1:seizure] and [1:seizures]."),
    ],
)
def test_each_rule_does_its_part_alone(rule: str, type: str, case: str) -> None:
    doc = marked(case, type)
    assert len(resolve(doc, rules=(rule,)).entities) == 1
    assert len(resolve(doc, rules=[r for r in RULES if r != rule]).entities) == 2
    assert {link.rule for link in links(doc, rules=(rule,))} == {rule}


def test_an_unknown_rule_is_named() -> None:
    with pytest.raises(FactpinError, match="containment"):
        resolve(marked("[1:a]"), rules=("containmnet",))


def test_the_entity_takes_the_name_that_is_used_most_with_its_short_forms() -> None:
    doc = marked(
        "[1:Bob Dylan] sang. [1:Dylan] left. [1:Dylan], born [1:Robert Allen Zimmerman], slept. [1:He] woke.", "PER"
    )
    (entity,) = resolve(doc).entities
    assert entity.name == "Bob Dylan" and entity.type == "PER"


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("[1:Rome] fell. [1:Oslo] rose.", "Rome"),  # as often, as long: the first
        ("[1:Oslo] fell. [1:Rome] rose.", "Oslo"),
        ("[1:Oslo] fell. [1:Athens] rose.", "Oslo"),  # as often, however long: the first
        ("[1:Athens] fell. [1:Oslo] rose. [1:Oslo] sank.", "Oslo"),  # more often
    ],
)
def test_the_name_of_two_equally_good_ones(case: str, name: str) -> None:
    doc = marked(case, "LOC")
    assert _best_name(read(doc), range(len(doc.mentions))) == name


def test_a_type_that_only_says_that_a_mention_refers_is_none() -> None:
    doc = marked("[1 Method:Lincoln parsing system] wins. The [1 Generic:system] is fast. [1 Generic:It] is new.")
    (entity,) = resolve(doc).entities
    assert entity.type == "Method" and entity.name == "Lincoln parsing system"


def test_facts_follow_their_mentions() -> None:
    doc = marked("[1:John Smith] hired [2:Mary Brown]. [3:Smith] paid [4:Brown] in [5 LOC:Rome].", "PER")
    pinned = Fact("g3", "paid", "g4", "m2", "m3", qualifiers=(Qualifier("place", "g5", "m4"),))
    loose = Fact("g3", "paid", "g4", qualifiers=(Qualifier("place", "g5"),))
    found = resolve(replace(doc, facts=(pinned, loose)))
    by_name = {entity.name: entity.id for entity in found.entities}
    for fact in found.facts:
        assert (fact.head, fact.tail) == (by_name["John Smith"], by_name["Mary Brown"])
        assert fact.qualifiers[0].entity == by_name["Rome"]
    assert (found.facts[0].head_mention, found.facts[0].tail_mention) == ("m2", "m3")


def test_a_fact_whose_ends_become_one_entity_is_dropped_and_counted() -> None:
    doc = marked("[1:鲁迅]原名[2:周树人]，生于[3 地点:绍兴]。", "人物")
    alias, born = Fact("g1", "别名", "g2"), Fact("g2", "出生地", "g3", "m1", "m2")
    itself = Fact("g3", "位于", "g3")  # it came like this
    doc = replace(doc, facts=(alias, born, itself))
    for came in (doc, replace(doc, coverage=Coverage(notes=("first",)))):
        found = resolve(came)
        assert [(fact.head, fact.relation, fact.tail) for fact in found.facts] == [
            ("e0", "出生地", "e1"), ("e1", "位于", "e1")
        ]  # fmt: skip
        notes = came.coverage.notes if came.coverage else ()
        assert found.coverage is not None
        assert found.coverage.notes == (*notes, "facts dropped because their two ends are one entity: 1")
        assert resolve(found) == found
    assert resolve(replace(doc, facts=(born,))).coverage is None


def test_a_link_to_the_world_is_kept_where_it_is_one() -> None:
    doc = marked("[1:UN] met. [2:UN] voted. [3:WHO] too. [4:WHO] spoke.", "ORG")
    urls = {"g1": "Q1065", "g3": "Q7817", "g4": "Q0"}
    doc = replace(doc, entities=tuple(replace(e, link=urls.get(e.id, "")) for e in doc.entities))
    assert [entity.link for entity in resolve(doc).entities] == ["Q1065", ""]


def test_an_empty_document_has_no_entities() -> None:
    assert resolve(Document("d", "Nothing here.")).entities == ()
    assert candidates(Document("d", "")).antecedent.shape == (0, 0)


def test_sentences_of_the_document_are_used_where_there_are_any() -> None:
    doc = marked("[1:Anna Weber] and [2:Tom Hill] came; [1:she] spoke", "PER")
    assert clusters(resolve(doc)) == clusters(doc)
    cut = doc.text.index("Tom")
    apart = replace(doc, sentences=(Span(0, cut), Span(cut, len(doc.text))))
    assert ("Tom Hill@15", "she@30") in clusters(resolve(apart))


# ---- the scorer's word ----------------------------------------------------------------------------------------------


PLAIN = documents(words=("alpha", "beta", "gamma", "alphas", "them", "该药"), types=("", "x"), glue=(" ", ". "))


@given(PLAIN)
def test_right_answers_give_the_gold_clusters_back(doc: Document) -> None:
    assert clusters(resolve(doc, judged=answers(doc))) == clusters(doc)


def test_right_answers_cannot_join_what_types_forbid() -> None:
    doc = marked("[1 PER:Washington] is not [1 LOC:Washington].")
    assert len(resolve(doc, judged=answers(doc)).entities) == 2


def test_right_answers_cannot_join_names_that_quarrel() -> None:
    doc = marked("[1:John Smith] met [1:Mary Smith]. [1:Smith] left.", "PER")
    assert clusters(resolve(doc, judged=answers(doc))) == {("John Smith@0",), ("Mary Smith@15", "Smith@27")}


def test_a_scorer_adds_synonyms_and_refuses_same_names() -> None:
    doc = marked("[1:paracetamol] is [1:acetaminophen]. [2:features] of it are no [3:features] of that.", "x")
    assert len(resolve(doc).entities) == 3
    assert clusters(resolve(doc, judged=answers(doc))) == clusters(doc)


def test_a_scorer_without_an_opinion_leaves_the_rules_alone() -> None:
    doc = marked("[1:John Smith] met [2:Mary Brown]. [1:Smith] left. [1:He] slept.", "PER")
    nothing = PairScores(np.full((4, 1), -1), np.zeros((4, 1)))
    assert resolve(doc, judged=nothing) == resolve(doc)


def test_add_and_keep_say_how_far_a_scorer_is_believed() -> None:
    doc = marked("[1:alpha] [2:beta] [1:alpha]", "x")
    asked = candidates(doc)
    said = np.array([[0.0, 0.0], [0.6, 0.0], [0.5, 0.1]])  # beta with alpha; the second alpha rather with beta

    def found(add: float, keep: float) -> set[tuple[str, ...]]:
        return clusters(resolve(doc, judged=PairScores(asked.antecedent, said, keep, add)))

    assert found(0.5, 0.1) == {("alpha@0", "alpha@11", "beta@6")}
    assert found(0.7, 0.1) == clusters(doc) == clusters(resolve(doc))
    assert found(0.7, 0.8) == {("alpha@0",), ("alpha@11",), ("beta@6",)}
    said = np.array([[0.0, 0.0], [0.01, 0.0], [0.01, 0.01]])
    assert found(0.0, 0.0) == clusters(doc)  # no rule is refused, and what is unlikely is not added


@pytest.mark.parametrize(("sure", "entities"), [(0.5, 2), (0.89, 2), (0.95, 1)])
def test_two_people_that_no_rule_links_need_more_than_a_guess(sure: float, entities: int) -> None:
    doc = marked("[1:Cassius Clay] won. [1:Muhammad Ali] lost.", "PER")
    judged = PairScores(candidates(doc).antecedent, np.array([[0.0], [sure]]))
    assert len(resolve(doc, judged=judged).entities) == entities


@pytest.mark.parametrize("type", ["PER", "Politician", "person-actor", "人物/演员", "娱乐人物", "政治家", ""])
@pytest.mark.parametrize(
    ("one", "other", "most"),
    [
        ("John Smith", "Mary Smith", 0.99),
        ("John Smith", "Ann Brown", 0.6),
        ("President Smith", "Ann Brown", 0.6),
        ("约翰·史密斯", "玛丽·史密斯", 0.99),
        ("张伟", "张娜", 0.99),
        ("张伟", "李娜", 0.6),
    ],
)
def test_whatever_their_type_a_guess_does_not_make_two_people_one(one: str, other: str, most: float, type: str) -> None:
    doc = marked(f"[1:{one}] [2:{other}]", type)
    judged = PairScores(candidates(doc).antecedent, np.array([[0.0], [most]]))
    assert len(resolve(doc, judged=judged).entities) == 2


@pytest.mark.parametrize(
    ("type", "case"),
    [
        ("Politician", "[1:Barack Obama] [1:President Obama]"),
        ("Politician", "[1:John A. Smith] [1:John Smith]"),
        ("Work", "[1:The Dark Knight] [1:The Dark Knight Rises]"),
        ("Disease", "[1:acute renal failure] [1:renal insufficiency]"),
        ("human_gene", "[1:TP53 gene] [1:TP53 protein]"),
        ("政治家", "[1:奥巴马] [1:贝拉克·奥巴马]"),
        ("药物", "[1:盐酸二甲双胍] [1:二甲双胍]"),
    ],
)
def test_what_is_no_other_full_name_stays_with_the_scorer(type: str, case: str) -> None:
    doc = marked(case, type)
    judged = PairScores(candidates(doc).antecedent, np.array([[0.0], [0.95]]))
    assert len(resolve(doc).entities) == 2
    assert len(resolve(doc, judged=judged).entities) == 1


@given(documents())
def test_with_singletons_every_mention_is_in_an_entity_and_the_others_stay(doc: Document) -> None:
    few = replace(doc, entities=doc.entities[:1])
    found = with_singletons(few)
    assert found.entities[: len(few.entities)] == few.entities
    assert {id for e in found.entities for id in e.mentions} == {m.id for m in doc.mentions}
    assert all(len(e.mentions) == 1 for e in found.entities[len(few.entities) :])
    assert with_singletons(found) == found


def test_an_explicit_alias_is_not_refused() -> None:
    doc = marked("[1:鲁迅]原名[1:周树人]。", "人物")
    asked = candidates(doc)
    assert len(resolve(doc, judged=PairScores(asked.antecedent, np.zeros((2, 1)))).entities) == 1


def test_answers_of_another_document_are_refused() -> None:
    one, other = marked("[1:a] [1:b]"), marked("[1:a]")
    with pytest.raises(BadInput, match="got scores for 2 mentions, the document has 1"):
        resolve(other, judged=answers(one))
    with pytest.raises(BadInput, match="same shape"):
        PairScores(np.zeros((2, 3), np.int64), np.zeros((2, 2)))


@given(documents(), st.integers(1, 6))
def test_candidates_are_bounded_earlier_and_told_once(doc: Document, most: int) -> None:
    asked = candidates(doc, most=most)
    M, K = asked.antecedent.shape
    assert (M, min(K, most)) == (len(doc.mentions), K)
    assert asked.features.shape == (M, K, len(FEATURES)) and asked.distance.shape == (M, K)
    for i, row in enumerate(asked.antecedent.tolist()):
        real = [j for j in row if j >= 0]
        assert len(real) == min(i, most) == len(set(real)) and all(j < i for j in real)
        assert row == real + [-1] * (K - len(real))


def test_a_name_far_away_is_a_candidate_before_strangers_nearby() -> None:
    doc = marked("[1:Barack Obama] spoke. " + " ".join(f"[{i}:Person{i}]" for i in range(2, 30)) + " [1:Obama].", "PER")
    asked = candidates(doc, most=3)
    assert asked.antecedent[-1].tolist() == [28, 27, 0]
    column = FEATURES.index("containment")
    assert asked.features[-1, :, column].tolist() == [0.0, 0.0, 0.5]
    assert asked.distance[-1].tolist() == [0, 1, 7]


def test_mentions_are_counted_in_the_order_of_the_text() -> None:
    doc = marked("[1:a] [2:b] [1:a]")
    turned = replace(doc, mentions=doc.mentions[::-1])
    assert [m.start for m in ordered(turned)] == [0, 2, 4]
    assert targets(turned, candidates(turned)).tolist() == [[False, False], [False, False], [False, True]]
