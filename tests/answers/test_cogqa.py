"""CogQA: the loop ends and visits again, System 2 is its equations, and answers of two hops are cited exactly."""

import json
import math
import random
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from click.testing import CliRunner

from factpin.answers.ask import ask, trace
from factpin.answers.cogqa import Findings, FoundSpan, GraphNode, graph_to_graphml, graph_to_json, grow
from factpin.answers.cogqa_ask import HopReasoner
from factpin.answers.cogqa_hops import answer_kind, compared_nodes, two_named, two_offered
from factpin.answers.cogqa_systems import NONE_WEIGHT, HopModel, System2, decode, span_loss
from factpin.answers.pair_reader import collate_pairs
from factpin.app.commands.ask import ask as command
from factpin.documents import Passage, Span
from factpin.documents.keys import passage_key
from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.heads.answer_pointer import AnswerPointerScores
from factpin.heads.cells import Cells
from factpin.memory import Source, open_store
from factpin.models.hops_folder import load_hops
from factpin.tokens.pairs import FramedPair
from factpin.training.hops import HopsJob, gold_graph, mentions_of, start_hops
from factpin.training.hops_options import HopOptions
from tests.answers.hop_world import hop_encoder, hop_questions, trained_hops


def passage(title: str, text: str) -> Passage:
    return Passage(passage_key(title, 0, len(text)), title, 0, len(text), text, title)


def named(text: str, found: str, score: float = 1.0) -> FoundSpan:
    start = text.index(found)
    return FoundSpan(Span(start, start + len(found)), Span(0, len(text)), found, score)


def reader(hops: dict[str, list[str]], answers: dict[str, list[str]], shown: list[tuple[str, ...]]):
    """A System 1 by tables: what each passage names."""

    def read(nodes: list[GraphNode], forced: bool) -> list[Findings]:
        shown.append(tuple(node.name for node in nodes))
        found = []
        for node in nodes:
            text = node.passage.text if node.passage else ""
            answered = [named(text, a) for a in answers.get(node.name, ())]
            if forced and not answered:
                answered = [named(text, text[:3])]
            gap = 0.0 if answered else float(len(text))
            found.append(Findings(tuple(named(text, h) for h in hops.get(node.name, ())), tuple(answered), gap))
        return found

    return read


def test_the_loop_follows_names_visits_again_and_answers_where_two_paths_meet() -> None:
    texts = {"A": "A knows Bob and Cy.", "Bob": "Bob knows Cy, who is in Rome.", "Cy": "Cy is in Rome."}
    pages, shown = {title: passage(title, text) for title, text in texts.items()}, list[tuple[str, ...]]()
    read = reader({"A": ["Bob", "Cy"], "Bob": ["Cy"]}, {"Cy": ["Rome"], "Bob": ["Rome"]}, shown)
    graph = grow([pages["A"]], read, lambda name: [pages[name]] if name in pages else [])
    assert shown == [("A",), ("Bob", "Cy"), ("Cy",)]  # Cy again, since Bob is a new clue
    assert [(n.name, n.visits, n.answers) for n in graph.nodes] == [
        ("A", 1, False), ("Bob", 1, False), ("Cy", 2, False), ("Rome", 0, True)]  # fmt: skip
    assert {(e.source, e.target) for e in graph.edges} == {(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)}
    assert graph.nodes[2].clues == [texts["A"], texts["Bob"]] and not graph.forced
    assert [(e.source, e.target) for e in graph.path(3)] == [(0, 1), (1, 3)]
    said = graph_to_json(graph)
    assert len(said["nodes"]) == 4 and said["edges"][0]["text"] == "Bob" and json.dumps(said)
    drawn = ElementTree.fromstring(graph_to_graphml(graph).encode())
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert len(list(drawn.iter(f"{space}node"))) == 4 and len(list(drawn.iter(f"{space}edge"))) == 5


@pytest.mark.parametrize("seed", range(20))
def test_the_loop_ends_whatever_names_what(seed: int) -> None:
    chance = random.Random(seed)
    names = [f"N{i}x" for i in range(12)]
    text = " ".join(names)
    pages = {name: passage(name, text) for name in names}
    hops = {name: chance.sample(names, 3) for name in names}
    answers = {name: chance.sample(names, 1) for name in names if chance.random() < 0.3}
    shown: list[tuple[str, ...]] = []
    graph = grow([pages[n] for n in names[:3]], reader(hops, answers, shown), lambda n: [pages[n]], 5)
    places = [node for node in graph.nodes if node.passage]
    assert len(places) <= 8 and len({(e.source, e.target) for e in graph.edges}) == len(graph.edges)
    assert all(e.source != e.target for e in graph.edges)
    for node in places:  # every visit but the first has a new clue
        assert node.visits <= 1 + len(node.clues) + graph.forced
    assert any(node.answers for node in graph.nodes)


def test_where_nothing_answers_the_nearest_node_has_to() -> None:
    pages = [passage("A", "A long text of nothing."), passage("B", "Short.")]
    graph = grow(pages, reader({}, {}, []), lambda name: [])
    assert graph.forced and [n.name for n in graph.nodes if n.answers] == ["Sho"]
    assert grow([], reader({}, {}, []), lambda name: []).nodes == []


def test_system_2_is_its_equations() -> None:
    torch.manual_seed(3)
    system, edges = System2(5).double().eval(), [(0, 1), (0, 2), (1, 2), (3, 2)]
    x = torch.randn(4, 5, dtype=torch.float64)
    rows = [[float(v) for v in row] for row in x]
    own, others = system.own.tolist(), system.others.tolist()

    def times(row: list[float], matrix: list[list[float]]) -> list[float]:
        return [sum(row[i] * matrix[i][j] for i in range(5)) for j in range(5)]

    def bend(value: float) -> float:
        return value * 0.5 * (1 + math.erf(value / math.sqrt(2)))

    for _ in range(2):
        said = [[bend(v) for v in times(row, others)] for row in rows]
        new = []
        for j in range(4):
            weights = {i: 2.0 * (i == j) + ((i, j) in edges) for i in range(4)}
            total = sum(weights.values())
            mixed = [sum(weights[i] / total * said[i][d] for i in range(4)) for d in range(5)]
            new.append([bend(a + b) for a, b in zip(times(rows[j], own), mixed, strict=True)])
        rows = new
    slow = system.score(torch.tensor(rows, dtype=torch.float64)).squeeze(-1)
    assert torch.allclose(system(x, edges), slow, atol=1e-12)
    assert torch.allclose(system(x, [*edges, (0, 1)]), slow, atol=1e-12)  # an edge counts once
    assert not torch.allclose(system(x, edges[:3]), slow)
    kinds = [system.compare(kind, x[0], x[1]) for kind in ("yes_no", "choice")]
    assert kinds[0] != kinds[1]


def test_spans_are_above_the_first_token_in_one_sentence_and_short() -> None:
    a, z = torch.full((2, 8), -5.0), torch.full((2, 8), -5.0)
    a[0] = torch.tensor([1.0, -9, 3.0, 0.5, 2.0, 0.9, 1.5, -9])
    z[0, 5] = 4.0  # beyond the sentence of token 2
    ends = [1, 2, 4, 4, 8, 8, 8, 8]
    found, gap = decode(a, z, 0, ends, 3, 10)
    assert [(f, score) for f, _, score in found] == [(2, 2.0), (4, 1.0), (6, 0.5)] and gap == -2.0
    assert found[0][1] == 2 and found[1][1] == 5  # the best end of its own sentence
    assert decode(a, z, 0, ends, 1, 10)[0] == found[:1]
    assert decode(a, z, 0, ends, 3, 1)[0][1][:2] == (4, 4)
    none, gap = decode(a, z, 1, ends, 3, 10)
    assert none == [] and gap == 0.0
    assert len(decode(a, z, 1, ends, 1, 10, allow=0.1)[0]) == 1


def test_the_loss_of_spans_by_hand() -> None:
    torch.manual_seed(1)
    a, z = torch.randn(2, 2, 4), torch.randn(2, 2, 4)
    gold = Cells.of([(0, 0, 1, 2), (0, 0, 3, 3), (0, 1, 2, 3)])
    p, q = a.log_softmax(-1), z.log_softmax(-1)
    hop = ((p[0, 0, 1] + q[0, 0, 2]) / 2 + (p[0, 0, 3] + q[0, 0, 3]) / 2) / 2
    answer = (p[0, 1, 2] + q[0, 1, 3]) / 2
    none = NONE_WEIGHT * (p[1, 0, 0] + p[1, 1, 0])
    real = torch.ones(2, 4, dtype=torch.bool)
    assert float(span_loss(AnswerPointerScores(a, z, real), gold)) == pytest.approx(-float(hop + answer + none) / 2)


def test_the_meaning_is_that_of_a_lower_layer(home: Path) -> None:
    encoder = Encoder.load(hop_encoder(home)).eval()
    model = HopModel(encoder).eval()
    question = hop_questions(1, 3)[0]
    from factpin.answers.cogqa_hops import HopReader, HopSettings
    from factpin.answers.pair_reader import collate_pairs
    from factpin.answers.pair_tensors import to_tensors

    hops = HopReader(model, encoder.tokenizer, HopSettings(96, 8))
    (one,) = hops.inputs(question.text, [], question.context[0].text)
    batch = collate_pairs([one.pair], 0)
    ids, segments, mask, _ = to_tensors(batch, torch.device("cpu"))
    inputs = {"input_ids": ids, "attention_mask": mask.long(), "token_type_ids": segments}
    with torch.no_grad():
        states = encoder.model(**inputs, output_hidden_states=True).hidden_states
        meaning = model.scores(batch).meaning
    assert torch.allclose(meaning, states[1][:, 0], atol=1e-5)  # of two layers, the first


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who directed Ed Wood?", ""),
        ("Are Ed Wood and Tim Burton American?", "yes_no"),
        ("Who is older, Ed Wood or Tim Burton?", "choice"),
        ("谷爱凌出生在哪里？", ""),
        ("谷爱凌是运动员吗？", "yes_no"),
        ("谷爱凌和李雷是不是朋友？", "yes_no"),
        ("李雷还是韩梅梅更大？", "choice"),
    ],
)
def test_what_a_question_is_answered_by(question: str, kind: str) -> None:
    assert answer_kind(question) == kind


def test_two_titles_are_named_as_whole_words_and_in_the_order_of_the_question() -> None:
    titles = ["Edith (film)", "Ed", "The Lake", "北京"]
    assert two_named("Is The Lake older than Edith?", titles) == (2, 0)
    assert two_named("Who edited Ed?", titles) == (1, 0)  # one is named, and not in "edited"
    assert two_named("他去过北京吗？", titles) == (3, 0)
    assert two_named("詹姆斯在NBA打球吗？", ["Oslo", "NBA"]) == (1, 0)  # Chinese has no spaces around it
    assert two_named("Is it?", ["", "!"]) == (0, 1) and two_named("Is it?", ["Ed"]) is None


def test_only_what_is_on_both_sides_of_or_is_a_choice() -> None:
    titles = ["Dare", "Ed Wood", "Truth or Dare", "Big Fish"]
    assert two_offered("Which came first, Big Fish or Truth or Dare?", titles) == (3, 2)
    assert two_offered("Who directed Truth or Dare and Ed Wood?", titles) is None  # that "or" is in a title
    assert two_offered("Who directed Truth or Dare?", titles) is None
    assert two_offered("《北京人》和《雷雨》还是《日出》更早？", ["北京人", "雷雨", "日出"]) == (1, 2)


def test_an_or_in_a_title_does_not_make_a_question_a_choice() -> None:
    graph = grow([passage("Truth or Dare", "Truth or Dare was directed by Alek."), passage("Alek", "Alek directs.")],
                 reader({}, {"Truth or Dare": ["Alek"]}, []), lambda _: [])  # fmt: skip
    assert compared_nodes("Who directed Truth or Dare?", graph) is None
    assert compared_nodes("Who is older, Alek or Truth or Dare?", graph) == (1, 0)


def test_the_gold_graph_of_a_question() -> None:
    import numpy as np

    question = hop_questions(1, 4)[0]
    graph = gold_graph(question, 1, np.random.default_rng(0))
    assert graph is not None and graph.edges == [(0, 1), (1, 3), (2, 4)] and graph.answer == 3
    assert graph.nodes[1].clues == [question.context[0].text]
    (label, span), *_ = graph.nodes[0].spans
    assert label == 0 and question.context[0].text[span.start : span.end] == question.context[1].meta["title"]
    assert mentions_of("Ed Wood (film)", "He saw Ed Wood. Ed Woody") == [Span(7, 14)]


def test_nodes_without_a_passage_are_read_apart_and_the_loss_is_that_of_one_batch(home: Path) -> None:
    options = HopOptions(str(hop_encoder(home)), max_length=96, overlap=8, negatives=1, language="zh")
    reader = start_hops(options, 1)
    job = HopsJob(reader, hop_questions(3, 1), [], options, 1)
    job.model.eval()
    torch.manual_seed(3)
    batch = job.batch([0, 1, 2])
    assert batch.bare is not None and batch.bare.ids.shape[1] < batch.pairs.ids.shape[1]
    inputs = [
        FramedPair(part.ids[row, :size], part.segments[row, :size], part.real[row, :size], 0)
        for part in (batch.pairs, batch.bare)
        for row, size in enumerate(part.mask.sum(1).tolist())
    ]
    scores = job.model.hops.scores(collate_pairs(inputs, reader.tokenizer.pad_id))
    final = [job.model.graph_loss(graph, scores.meaning[list(rows)]) for graph, rows in batch.graphs]
    spans = span_loss(scores.pointer, batch.spans) * len(inputs) / len(batch.graphs)
    torch.testing.assert_close(job.model.loss(batch), spans + options.final_weight * torch.stack(final).mean())


def test_hops_are_learned_and_cited_from_a_store(home: Path, tmp_path: Path) -> None:
    folder, report = trained_hops(home)
    assert report["scores"]["em"] > 0.8  # type: ignore[index]
    assert report["noted"] == {"not_taught": 0, "span": 60, "hops": 60}
    reasoner, right, paths = HopReasoner(load_hops(folder)), 0, 0
    for question in hop_questions(8, 9):
        with open_store("memory:", create=True) as store:
            for doc in question.context:
                store.put(doc, Source(doc.id, str(doc.meta["title"])))
            found = trace(question.text, store, "hops", 0.0, 1, reasoners={"hops": reasoner})
            texts = {doc.id: doc.text for doc in question.context}
            for citation in found.answer.citations:
                citation.check(texts[citation.uri])
            right += found.answer.text in question.answers
            paths += [hop.target for hop in found.answer.path][-1:] == [found.answer.text]
            assert found.graph is not None and found.read == found.graph.visits
            with pytest.raises(BadInput, match="needs a generator"):
                ask(question.text, store, "generate")
    assert right >= 6 and paths >= 6
    question, db = hop_questions(1, 9)[0], tmp_path / "kb.db"
    with open_store(str(db), create=True) as store:
        for doc in question.context:
            store.put(doc, Source(doc.id, str(doc.meta["title"])))
    words = [question.text, "--db", str(db), "--mode", "hops", "--hops", str(folder), "--k", "1", "--min-score", "0"]
    shown = CliRunner().invoke(command, [*words, "--explain"], standalone_mode=False)
    assert shown.exception is None and "cognitive graph: " in shown.output
    for ending in ("json", "graphml"):
        kept = tmp_path / f"graph.{ending}"
        CliRunner().invoke(command, [*words, "--graph", str(kept), "--json"], standalone_mode=False)
        assert kept.stat().st_size > 100
    refused = CliRunner().invoke(command, [*words[:3], "--hops", str(folder)], standalone_mode=False)
    assert isinstance(refused.exception, BadInput) and "no meaning with --mode auto" in str(refused.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--graph", "g.json"], "needs a model of hops"),
        (["--mode", "hops", "--hops", "h", "--graph", "g.txt"], "ends in .json or .graphml"),
        (["--mode", "hops", "--hops", "h", "--judge", "j"], "--judge is for what a reader reads"),
        (["--mode", "generate", "--generator", "g", "--judge", "j"], "--judge is for what a reader reads"),
        (["--mode", "facts", "--judge", "j"], "--judge is for what a reader reads"),
    ],
)
def test_options_that_would_change_nothing_are_refused_before_anything_is_loaded(
    words: list[str], message: str
) -> None:
    refused = CliRunner().invoke(command, ["Who?", "--db", "none.db", *words], standalone_mode=False)
    assert isinstance(refused.exception, BadInput) and message in str(refused.exception)


def test_a_graph_is_of_one_question() -> None:
    words = ["-", "--db", "none.db", "--mode", "hops", "--hops", "h", "--graph", "g.json"]
    refused = CliRunner().invoke(command, words, input="", standalone_mode=False)
    assert isinstance(refused.exception, BadInput) and "a single question" in str(refused.exception)


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(BadInput, match="expected 0 or more"):
        HopOptions(negatives=-1)
    with pytest.raises(BadInput, match="expected a share above 0"):
        HopOptions(precision=0)
