"""What the words of a sentence rule out."""

from factpin.documents import Document, Entity, Evidence, Fact, Mention, Span
from factpin.extraction.wording import credible


def sentence_with(text: str, *facts: tuple[str, str, str], places: tuple[str, ...] = ()) -> Document:
    """A document of one sentence with facts between names, and with places that no fact names."""
    names = dict.fromkeys([*(name for head, _, tail in facts for name in (head, tail)), *places])
    mentions = tuple(
        Mention(
            f"m{i}", text.index(name), text.index(name) + len(name), name, "location" if name in places else "other"
        )
        for i, name in enumerate(names)
    )
    at = {m.text: m.id for m in mentions}
    entities = tuple(Entity(f"e{m.id}", (m.id,), m.type) for m in mentions)
    found = tuple(
        Fact(
            f"e{at[head]}",
            relation,
            f"e{at[tail]}",
            head_mention=at[head],
            tail_mention=at[tail],
            evidence=(Evidence(0),),
            score=0.9,
        )
        for head, relation, tail in facts
    )
    return Document("d", text, "zh", (Span(0, len(text)),), mentions, entities, found)


def test_studying_is_no_graduation() -> None:
    assert not credible(sentence_with("谷爱凌后来就读于斯坦福大学。", ("谷爱凌", "毕业院校", "斯坦福大学")))
    assert len(credible(sentence_with("钱钟书毕业于清华大学。", ("钱钟书", "毕业院校", "清华大学")))) == 1
    assert len(credible(sentence_with("他就读并毕业于清华大学。", ("他", "毕业院校", "清华大学")))) == 1


def test_the_country_before_a_name_is_its_nationality() -> None:
    doc = sentence_with(
        "中国选手谷爱凌获得金牌，法国选手泰丝获得银牌。",
        ("谷爱凌", "国籍", "中国"),
        ("谷爱凌", "国籍", "法国"),
        ("泰丝", "国籍", "中国"),
    )
    assert [(fact.head, fact.tail) for fact in credible(doc)] == [(doc.facts[0].head, doc.facts[0].tail)]
    assert len(credible(sentence_with("泰丝出生于法国，国籍是瑞士。", ("泰丝", "国籍", "瑞士")))) == 1


def test_a_country_counts_though_no_fact_names_it() -> None:
    text = "中国选手谷爱凌获得金牌，法国选手泰丝获得银牌。"
    assert not credible(sentence_with(text, ("泰丝", "国籍", "中国"), places=("法国",)))
