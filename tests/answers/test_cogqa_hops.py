"""System 1 and System 2 answer: whole questions are read, answers are words of a text, scores are log odds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson
import pytest
import torch

from factpin.answers.ask import trace
from factpin.answers.cogqa import Findings, FoundSpan, GraphNode
from factpin.answers.cogqa_ask import HopReasoner, citations_of
from factpin.answers.cogqa_hops import HopReader, HopSettings, _joined, log_odds
from factpin.answers.cogqa_systems import HopModel
from factpin.documents import Document, Passage, Span
from factpin.documents.keys import passage_key
from factpin.encoders import Encoder
from factpin.errors import BadInput, BadModel
from factpin.memory import ALL, Source, open_store
from factpin.memory.search import Search
from factpin.models.hops_folder import hops_settings, load_hops
from factpin.models.part_folder import save_part
from factpin.tasks.scale import Scale
from factpin.tokens.pairs import LEAST
from factpin.training.hops import answers_of
from factpin.training.hops_options import HopOptions
from tests.answers.hop_world import comparisons, hop_encoder, hop_questions, trained_comparisons


def passage(title: str, text: str) -> Passage:
    return Passage(passage_key(title or text, 0, len(text)), title or text, 0, len(text), text, title)


def span(text: str, found: str, score: float = 1.0) -> FoundSpan:
    start = text.index(found)
    return FoundSpan(Span(start, start + len(found)), Span(0, len(text)), found, score)


def fresh(home: Path) -> HopReader:
    encoder = Encoder.load(hop_encoder(home)).eval()
    torch.manual_seed(4)
    return HopReader(HopModel(encoder).eval(), encoder.tokenizer, HopSettings(96, 8))


@dataclass
class TableReader(HopReader):
    """System 1 by a table: the answers and hops in each text."""

    answers: dict[str, tuple[FoundSpan, ...]] | None = None
    hops: dict[str, tuple[FoundSpan, ...]] | None = None

    def findings(self, question: str, nodes: Sequence[GraphNode], *, forced: bool = False) -> list[Findings]:
        texts = [node.passage.text if node.passage else "" for node in nodes]
        found = zip(texts, super().findings(question, nodes, forced=forced), strict=True)
        tables = self.hops or {}, self.answers or {}
        return [replace(one, hops=tables[0].get(t, ()), answers=tables[1].get(t, ()), gap=1.0) for t, one in found]


def by_table(home: Path, answers: Sequence[tuple[str, FoundSpan]], hops: Sequence[tuple[str, FoundSpan]] = ()):
    hop = fresh(home)
    tables: list[dict[str, tuple[FoundSpan, ...]]] = [{}, {}]
    for table, rows in zip(tables, (answers, hops), strict=True):
        for text, one in rows:
            table[text] = (*table.get(text, ()), one)
    return TableReader(hop.model, hop.tokenizer, hop.settings, *tables)


def test_an_answer_is_what_the_passage_says_not_the_title_of_a_node(home: Path) -> None:
    john, pulp = passage("John", "John made Pulp Fiction."), passage("Pulp Fiction (film)", "A film of 1994.")
    reader = by_table(home, [(john.text, span(john.text, "Pulp Fiction"))])
    graph, (found,) = reader.answer("What did John make?", [john, pulp], lambda name: [])
    assert found.text == "Pulp Fiction" and found.node == 1
    (cited,) = citations_of(graph, found, {"John": "j", pulp.document: "p"})
    assert (cited.uri, cited.quote) == ("j", found.text)


def test_scores_are_log_odds_that_no_shift_of_the_last_layer_changes(home: Path) -> None:
    scores = torch.tensor([1.0, 2.0, -1.0])
    p = scores.softmax(0)
    assert torch.allclose(log_odds(scores), (p / (1 - p)).log(), atol=1e-5)
    assert torch.allclose(log_odds(scores + 5), log_odds(scores), atol=1e-5) and log_odds(scores[:1]).tolist() == [0.0]
    text = "李雷去了东京。"
    reader = by_table(home, [(text, span(text, "东京"))])
    _, (before,) = reader.answer("李雷去了哪里？", [passage("李雷", text)], lambda name: [])
    with torch.no_grad():
        reader.model.system2.score[-1].bias += 5
    _, (after,) = reader.answer("李雷去了哪里？", [passage("李雷", text)], lambda name: [])
    assert after.score == pytest.approx(before.score, abs=1e-4)


def test_a_question_is_read_whole_and_clues_get_what_is_left(home: Path) -> None:
    reader = fresh(home)
    question = "李雷的朋友韩梅梅的朋友王小明的朋友张伟的朋友刘洋的朋友" * 2 + "去了哪里"
    asked = reader.tokenizer.encode(question).ids
    clue = "李雷的朋友是张伟。" * 6
    assert reader.first_part(question, [clue])[: len(asked)].tolist() == asked.tolist()
    short = reader.tokenizer.encode("谁？").ids
    assert len(reader.first_part("谁？", [clue])) == len(short) + 96 // 3
    for hints in ([], [clue], ["短。", clue]):
        for one in reader.inputs(question, hints, clue):
            assert len(one.pair.ids) <= 96
    longest = 96 - 3 - LEAST
    while len(reader.tokenizer.encode(question).ids) <= longest:
        assert reader.fits(question)
        question += "李"
    assert not reader.fits(question)
    with pytest.raises(BadInput, match="Shorten the question"):
        reader.answer(question, [passage("李雷", clue)], lambda name: [])
    asked_too_much = replace(hop_questions(1, 3)[0], text=question)
    assert answers_of(reader, [asked_too_much]) == [None]


def test_windows_name_a_span_once_and_the_one_that_names_most_gives_the_meaning() -> None:
    def found(at: int, score: float) -> FoundSpan:
        return FoundSpan(Span(at, at + 2), Span(0, 99), f"x{at}", score)

    one = Findings((found(3, 2.0), found(30, 1.0)), (), -0.5, "first")
    two = Findings((found(3, 1.5), found(50, 0.9)), (found(50, 1.0),), -1.0, "second")
    joined = _joined([one, two])
    assert [(hop.text, hop.score) for hop in joined.hops] == [("x3", 2.0), ("x30", 1.0), ("x50", 0.9)]
    assert joined.meaning == "second" and joined.gap == -1.0


def test_only_titles_that_a_question_names_are_compared(home: Path) -> None:
    texts = ["李雷的朋友是王小明。这是一个比较长的段落，没有标题。", "王小明去了巴黎。这是一个比较长的段落，没有标题。"]
    place = span(texts[1], "巴黎")
    reader = by_table(home, [(texts[1], place)])
    untitled = [passage("", text) for text in texts]
    for question in ("李雷的朋友还是张伟去了哪里？", "Who directed Trick or Treat?", "李雷的朋友叫什么？"):
        _, found = reader.answer(question, untitled, lambda name: [])
        assert [(one.text, one.compared) for one in found] == [("巴黎", None)]
    assert reader.answer("王小明去了巴黎吗？", untitled, lambda name: [])[1] == []  # a place is neither yes nor no
    titled = [passage(title, text) for title, text in zip(("王小明（歌手）", "李雷"), texts, strict=True)]
    _, found = reader.answer("李雷还是王小明去了巴黎？", titled, lambda name: [])
    assert {one.text for one in found} == {"李雷", "王小明"} and found[0].score == -found[1].score
    assert all(one.compared == (1, 0) for one in found)


def test_comparisons_are_learned(home: Path) -> None:
    folder, report = trained_comparisons(home)
    assert report["noted"] == {"not_taught": 0, "too_long": 0, "yes_no": 30, "choice": 30, "hops": 0}
    assert report["scores"]["em_yes_no"] > 0.8 and report["scores"]["em_not_yes_no"] > 0.8  # type: ignore[index]
    reasoner, right = HopReasoner(load_hops(folder)), 0
    for question in comparisons(8, 9):
        with open_store("memory:", create=True) as store:
            for doc in question.context:
                store.put(doc, Source(doc.id, str(doc.meta["title"])))
            answer = trace(question.text, store, "hops", 0.0, 3, reasoners={"hops": reasoner}).answer
        assert {c.uri for c in answer.citations} == {doc.id for doc in question.context[:2]}
        right += answer.text == question.answers[0]
    assert right >= 7


def test_a_document_that_is_removed_meanwhile_is_cited_as_it_was(home: Path, tmp_path: Path) -> None:
    texts = {"李雷": "李雷的朋友是张伟。", "张伟": "张伟去了东京。"}
    with open_store(str(tmp_path / "kb.db"), create=True) as store:
        for title, text in texts.items():
            store.put(Document(title, text), Source(title, title))

        @dataclass
        class SlowReader(TableReader):
            def meanings(self, question, graph):
                with open_store(str(tmp_path / "kb.db")) as other:
                    other.remove("张伟")
                return super().meanings(question, graph)

        made = by_table(
            home, [(texts["张伟"], span(texts["张伟"], "东京"))], [(texts["李雷"], span(texts["李雷"], "张伟"))]
        )
        reader = SlowReader(made.model, made.tokenizer, made.settings, made.answers, made.hops)
        (answer, *_) = HopReasoner(reader)("李雷的朋友去了哪里？", Search(store), 1, ALL).answers
        assert [(c.uri, c.quote) for c in answer.citations] == [("张伟", "东京")]
        assert store.uris([answer.citations[0].document]) == {}


def test_a_scale_that_was_fitted_to_other_scores_is_refused(home: Path, tmp_path: Path) -> None:
    reader, options = fresh(home), HopOptions(language="zh")
    for scale in (Scale(), Scale(2.0, 1.0)):
        folder = tmp_path / str(scale.shift)
        reader.settings = replace(reader.settings, scale=scale)
        save_part(folder, hops_settings(reader.settings, options), reader)
        assert load_hops(folder).settings == reader.settings
        settings = orjson.loads((folder / "factpin.json").read_bytes())
        del settings["task_config"]["scores"]  # as in folders that were written before
        (folder / "factpin.json").write_bytes(orjson.dumps(settings))
        (folder / "SHA256SUMS").unlink()
    assert load_hops(tmp_path / "0.0").settings.scale == Scale()
    with pytest.raises(BadModel, match="Train it again"):
        load_hops(tmp_path / "1.0")
