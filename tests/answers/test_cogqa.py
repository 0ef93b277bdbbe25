"""CogQA: the loop ends and visits again, System 2 is its equations, and answers of two hops are cited exactly."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from click.testing import CliRunner

from factpin.answers.ask import ask, trace
from factpin.answers.cogqa import Findings, FoundSpan, GraphNode, graph_to_graphml, graph_to_json, grow
from factpin.answers.cogqa_ask import HopReasoner, citations_of, titles_of
from factpin.answers.cogqa_hops import FoundAnswer
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
from factpin.training.hops import HopsJob, TaughtGraph, TaughtHops, gold_graph, mentions_of, start_hops, title_of
from factpin.training.hops_options import HopOptions
from tests.answers.hop_world import comparisons, hop_encoder, hop_questions, trained_hops


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


def test_what_is_left_out_is_counted_once() -> None:
    pages = [passage("A", "A knows Q."), passage("B", "B knows Q.")]
    read = reader({"A": ["Q"], "B": ["Q"]}, {}, [])
    graph = grow(pages, read, lambda name: [passage("Q", "Text.")], 0)
    assert graph_to_json(graph)["left_out"] == 1 and len(graph.nodes) == 3  # and the answer that was forced


def test_an_answer_keeps_the_span_that_named_it_when_a_later_visit_finds_nothing() -> None:
    pages = [passage("Cy", "Cy is Cy."), passage("A", "A knows Cy.")]

    def read(nodes: list[GraphNode], forced: bool) -> list[Findings]:
        found = []
        for node in nodes:
            answers = (named("Cy is Cy.", "Cy"),) if node.name == "Cy" and not node.clues else ()
            hops = (named("A knows Cy.", "Cy"),) if node.name == "A" else ()
            found.append(Findings(hops, answers, 1.0))
        return found

    graph = grow(pages, read, lambda name: [])
    assert graph.nodes[0].visits == 2 and graph.nodes[0].answers
    cited = citations_of(graph, FoundAnswer("Cy", 0.0, 0), {"Cy": "cy", "A": "a"})
    assert [(one.uri, one.quote) for one in cited] == [("cy", "Cy")]


def test_graphml_is_xml_whatever_a_passage_says() -> None:
    odd = "a\x00\ufffe\uffff\ud800b\U0001f600"
    drawn = ElementTree.fromstring(
        graph_to_graphml(grow([passage(odd, odd)], reader({}, {}, []), lambda _: [])).encode()
    )
    assert "ab\U0001f600" in {found.text for found in drawn.iter("{http://graphml.graphdrawing.org/xmlns}data")}


def test_a_passage_without_a_title_is_linked_by_no_name() -> None:
    pages = [passage("", "Some text."), passage("Ed Wood (film)", "It is a film.")]
    assert titles_of(pages) == {"ed wood": [pages[1]]}


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


def test_the_losses_are_computed_where_the_scores_are(home: Path) -> None:
    gold = Cells.of([(0, 0, 1, 2), (0, 0, 3, 3), (0, 1, 2, 3)])
    a = torch.randn(2, 2, 4, device="meta")  # any other device than that of gold
    assert span_loss(AnswerPointerScores(a, a, a > 0), gold).device.type == "meta"
    model = TaughtHops(HopModel(Encoder.load(hop_encoder(home))), 1.0).to("meta")
    meaning = torch.randn(3, model.encoder.width, device="meta")
    for kind in ("", "yes_no", "choice"):
        graph = TaughtGraph("?", [], [(0, 1)], kind, 1, (0, 1))
        assert model.graph_loss(graph, meaning).device.type == "meta"


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


def test_the_gold_graph_of_a_question() -> None:
    import numpy as np

    question = hop_questions(1, 4)[0]
    graph = gold_graph(question, 1, np.random.default_rng(0))
    assert graph is not None and graph.edges == [(0, 1), (1, 3), (2, 4)] and graph.answer == 3
    assert graph.nodes[1].clues == [question.context[0].text]
    (label, span), *_ = graph.nodes[0].spans
    assert label == 0 and question.context[0].text[span.start : span.end] == question.context[1].meta["title"]
    assert mentions_of("Ed Wood (film)", "He saw Ed Wood. Ed Woody") == [Span(7, 14)]
    assert mentions_of("NBA", "他参加NBA比赛。") == [Span(3, 6)]


def test_the_gold_graph_of_a_comparison() -> None:
    import numpy as np

    chance = np.random.default_rng(0)
    yes_no, choice = comparisons(2, 5)
    for question, answer in ((yes_no, yes_no.answers[0] == "yes"), (choice, choice.text.startswith(
            f"Who is older, {choice.answers[0]}"))):  # fmt: skip
        graph = gold_graph(question, 1, chance)
        assert graph is not None and graph.kind and (graph.pair, graph.answer) == ((0, 1), int(answer))
    titled = replace(choice, answers=tuple(title_of(choice.context[i]) for i in (0, 1))[:1])
    with_brackets = gold_graph(titled, 1, chance)
    assert with_brackets is not None and (with_brackets.kind, with_brackets.answer) == ("choice", 1)
    assert gold_graph(replace(choice, answers=("Rome",)), 1, chance) is None  # neither of the two, and in no passage
    assert gold_graph(replace(yes_no, text="Is anybody old?"), 1, chance) is None  # no two titles to compare


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
    assert report["noted"] == {"not_taught": 0, "too_long": 0, "span": 60, "hops": 60}
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
