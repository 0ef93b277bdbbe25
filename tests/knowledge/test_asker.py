"""Answers from the facts of a store: learned once, and right after every edit without training."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from factpin.answers.ask import ask
from factpin.answers.say import say
from factpin.documents import Answer, Document, Entity, Fact, Mention
from factpin.encoders import Encoder, small_encoder
from factpin.errors import BadInput
from factpin.knowledge.entity_memory import linking_loss
from factpin.knowledge.fact_memory import answer_loss, fact_loss
from factpin.knowledge.mentions import UNKNOWN
from factpin.knowledge.tables import code_of, read_facts, store_digest
from factpin.memory import Source, Store, TypedFact, open_store
from factpin.models.memory_folder import MemoryReasoner, load_memory
from factpin.pretraining.knowledge import pretrain_knowledge
from factpin.tokens import Tokenizer
from factpin.tokens.small import build_tokenizer
from factpin.training.config import TrainConfig
from factpin.training.fact_asker import BESIDE, AskerJob, AskerModel
from factpin.training.fact_clozes import TEMPLATES, clozes
from factpin.training.knowledge_options import KnowledgeOptions
from tests.memory.world import Said, tell

PEOPLE = [f"{first}{last}" for first in "王李张刘陈" for last in ("小明", "小红", "建国", "丽华")]
CITIES = ["北京", "上海", "广州", "深圳", "南京", "杭州"]


def filled(path: Path) -> Path:
    with open_store(str(path), create=True) as store, store.together():
        for i, name in enumerate(PEOPLE):
            city, other = CITIES[i % 6], CITIES[(i * 5 + 1) % 6]
            doc = tell(Said(name, "出生地", city), Said(name, "职业地", other), id=name)
            store.put(doc, Source(name))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("memory")
    db, output = filled(base / "kb.db"), base / "model"
    torch.manual_seed(0)
    texts = [template.format(head=name, relation=relation) for template in TEMPLATES["zh"] for name in PEOPLE
             for relation in ("出生地", "职业地")]  # fmt: skip
    tokenizer = build_tokenizer([*texts, *CITIES, "赵云飞"], vocab_size=400)
    small_encoder(tokenizer.vocab_size, width=32, layers=2, max_length=64, tokenizer=tokenizer).save(base / "encoder")
    how = TrainConfig(max_steps=400, batch_size=32, learning_rate=2e-3, head_learning_rate=4e-3, epochs=100)
    options = KnowledgeOptions("fae", str(base / "encoder"), str(db), size=64)
    assert pretrain_knowledge(options, how, output, quiet=True)["scores"]["accuracy"] > 0.6
    return output


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(filled(tmp_path / "kb.db"))) as store:
        yield store


def answer(store: Store, folder: Path, question: str) -> Answer:
    return ask(question, store, "memory", 0.0, reasoners={"memory": MemoryReasoner(load_memory(folder))})


def right(store: Store, folder: Path, cities: dict[str, str]) -> float:
    """The share of people whose place of birth is answered as wanted, and cited from their own document."""
    reasoner = MemoryReasoner(load_memory(folder))
    hits = 0
    for name, city in cities.items():
        found = ask(f"{name}的出生地是什么？", store, "memory", 0.0, reasoners={"memory": reasoner})
        hits += found.text == city and found.citations[0].quote == city and found.citations[0].uri == name
    return hits / len(cities)


BORN = {name: CITIES[i % 6] for i, name in enumerate(PEOPLE)}


def test_answers_cite_their_facts(store: Store, folder: Path) -> None:
    assert right(store, folder, BORN) >= 0.8
    found = answer(store, folder, "李小红的出生地是什么？")
    citation = found.citations[0]
    text = store.document(citation.uri)[0].text
    assert found.mode == "memory" and text[citation.start : citation.end] == citation.quote
    assert citation.fact in {fact.id for fact in store.facts()}


def test_edits_are_followed_and_undone(store: Store, folder: Path) -> None:
    edited = dict.fromkeys(PEOPLE[:10], "成都")  # an entity that it never saw
    old = [store.document(name) for name in edited]
    with store.together():
        for name in edited:
            store.put(tell(Said(name, "出生地", "成都"), Said(name, "职业地", "上海"), id=name), Source(name))
    assert right(store, folder, edited) >= 0.8 and right(store, folder, {n: BORN[n] for n in edited}) == 0.0
    with store.together():
        for doc, source in old:
            store.put(doc, source)
    assert right(store, folder, {n: BORN[n] for n in edited}) >= 0.8


def test_a_removed_fact_is_not_answered_from_the_weights(store: Store, folder: Path) -> None:
    store.remove("王小明")
    found = answer(store, folder, "王小明的出生地是什么？")
    assert not any(c.uri == "王小明" for a in (found, *found.alternatives) for c in a.citations)


def test_an_injected_fact_is_answered(store: Store, folder: Path) -> None:
    store.add(TypedFact("赵云飞", "出生地", "拉萨", "PER", "LOC"))
    found = answer(store, folder, "赵云飞的出生地是什么？")
    assert found.text == "拉萨" and found.citations[0].uri.startswith("manual:")


def test_a_fact_of_two_periods_is_said_once(store: Store, folder: Path) -> None:
    for start in ("1990", "2000"):
        store.add(TypedFact("赵云飞", "出生地", "拉萨", "PER", "LOC", valid_from=start))
    found = answer(store, folder, "赵云飞的出生地是什么？")
    assert found.text == "拉萨" and len({citation.fact for citation in found.citations}) == 2


def test_a_fact_that_texts_dispute_is_marked(store: Store, folder: Path) -> None:
    question = "王小明的出生地是什么？"
    assert not answer(store, folder, question).conflict
    store.put(tell(Said("王小明", "出生地", "北京", assertion="negated")), Source("other"))
    found = answer(store, folder, question)
    assert found.text == "北京" and found.conflict


def test_the_card_says_what_becomes_of_a_long_question(store: Store, folder: Path) -> None:
    card = (folder / "card.md").read_text(encoding="utf-8")
    assert "by window; a longer question gets no answer |" in card and "overlapping windows" not in card
    assert answer(store, folder, "王小明的出生地是什么？" + "请回答。" * 300).abstained


def test_a_question_without_a_known_name_has_no_answer(store: Store, folder: Path) -> None:
    assert answer(store, folder, "今天天气好吗？").abstained


@pytest.mark.parametrize(
    ("question", "language"),
    [("王小明的出生地是北京吗？", "zh"), ("王小明是不是出生在北京？", "zh"), ("Was Ed Wood born in Ohio?", "en")],
)
def test_a_yes_no_question_has_no_answer(question: str, language: str, store: Store, folder: Path) -> None:
    found = answer(store, folder, question)
    assert found.abstained and found.mode == "memory" and not found.alternatives and found.score == 0.0
    assert found.notes == (say("memory_yes_no", language),)


def test_a_request_is_no_yes_no_question(store: Store, folder: Path) -> None:
    found = answer(store, folder, "你知道王小明的出生地吗？")
    assert not found.abstained and found.citations


def test_what_is_learned_from(store: Store) -> None:
    table = read_facts(store)
    assert len(table.rows) == 2 * len(PEOPLE) and set(table.relations) == {"出生地", "职业地"}
    texts = list(clozes(table))
    assert {one.row for one in texts} == set(range(len(table.rows)))
    tails = {one.tail: table.names[one.tail - 2] for one in texts}
    shown = [one.text[: one.blank.start] + one.text[one.blank.end :] for one in texts]
    assert not any(tails[one.tail] in rest for one, rest in zip(texts, shown, strict=True))  # no leak


def test_a_sentence_that_names_its_answer_is_not_learned_from(store: Store, folder: Path) -> None:
    """By the same words or by another name of the answer."""
    tokenizer = Tokenizer.load(folder.parent / "encoder")
    ends = {"twice": "，北京很大。", "alias": "，京城很大。", "once": "，城市很大。"}
    for id, end in ends.items():
        text = f"孙悟空出生于北京{end}"
        names = ["孙悟空", "北京", *(["京城"] if id == "alias" else [])]
        mentions = tuple(
            Mention(f"m{i}", text.index(n), text.index(n) + len(n), n, "PER" if i == 0 else "LOC")
            for i, n in enumerate(names)
        )
        entities = (
            Entity("e0", ("m0",), "PER"),
            Entity("e1", tuple(f"m{i}" for i in range(1, len(names))), "LOC", "北京"),
        )
        doc = Document(id, text, mentions=mentions, entities=entities, facts=(Fact("e0", "出生地", "e1", "m0", "m1"),))
        store.put(doc, Source(id))
    model = AskerModel(Encoder.load(folder.parent / "encoder"), 32)
    model.know(read_facts(store), tokenizer)
    job = AskerJob(model, tokenizer, store, KnowledgeOptions("fae", "x", "y"))
    learned = {one.text for _, one in (*job.taught, *job.dev) if "孙悟空出生于" in one.text}
    assert learned == {"孙悟空出生于北京，城市很大。"} and job.leaks == 1


def test_all_four_losses_are_learned_and_linking_is_not_kept(store: Store, folder: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    encoder = Encoder.load(folder.parent / "encoder")
    tokenizer = Tokenizer.load(folder.parent / "encoder")
    model = AskerModel(encoder, 32)
    model.know(read_facts(store), tokenizer)
    job = AskerJob(model, tokenizer, store, KnowledgeOptions("fae", "x", "y"))
    lesson = job.batch(range(24))
    batch, hide, rows, tails = lesson
    heads = [model.table.rows[one.row].head for _, one in job.taught[:24]]
    named = batch.mentions.entity[batch.mentions.real]
    assert set(named.tolist()) - {UNKNOWN} == set(heads)  # the names in a text that are its head

    def losses() -> dict[str, float]:
        hidden = model.encoder(batch.ids, batch.mask).hidden
        reading = model.look_up(hidden, batch, hide)
        return {
            "fact": float(fact_loss(reading, rows)),
            "answer": float(answer_loss(reading.answers, tails)),
            "context": float(answer_loss(reading.context, tails)),
            "linking": float(linking_loss(model.links(hidden, batch.mentions), batch.mentions)),
        }

    model.eval()
    with torch.no_grad():
        before = losses()
        beside = BESIDE * (before["context"] + before["linking"])
        assert float(model.loss(lesson)) == pytest.approx(before["fact"] + before["answer"] + beside, rel=1e-5)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(60):
        optimiser.zero_grad()
        model.loss(lesson).backward()
        optimiser.step()
    with torch.no_grad():
        assert all(after < 0.8 * before[name] for name, after in losses().items())
        assert torch.equal(model.kept().eval()(batch).facts, model(batch).facts)


def test_codes_follow_from_keys_and_the_digest_from_the_documents(store: Store) -> None:
    assert code_of("a", 8) == code_of("a", 8) != code_of("b", 8)
    before = store_digest(store)
    store.put(tell(Said("甲", "出生地", "乙")), Source("new"))
    assert store_digest(store) != before
    store.remove("new")
    assert store_digest(store) == before


def test_what_is_missing_is_said(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--db"):
        pretrain_knowledge(KnowledgeOptions("fae", "x", ""), TrainConfig(), tmp_path)
    with pytest.raises(BadInput, match="--memory FOLDER; `factpin pretrain --objective fae`"):
        ask("谁？", store, "memory")
