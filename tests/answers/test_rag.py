"""RAG: losses and decoding against sums over everything, and a small generator that learns, writes and cites."""

import math
import shutil
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from torch import Tensor
from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration

from factpin.answers.ask import ask
from factpin.answers.marginal import prior
from factpin.answers.rag import RagSettings, rag_loss, score_answer, write
from factpin.answers.rag_ask import RagReasoner, supporting
from factpin.app.commands.ask import ask as command
from factpin.documents import Document, Passage, Question
from factpin.documents.keys import passage_key
from factpin.encoders.generator import EncoderDecoder
from factpin.errors import BadInput, BadModel
from factpin.memory import Hit, Source, open_store
from factpin.memory.search import Search
from factpin.models.generator_folder import load_writer
from factpin.tokens import Tokenizer
from factpin.training.config import TrainConfig
from factpin.training.generator import GeneratorJob, start_writer
from factpin.training.generator_options import GeneratorOptions
from factpin.training.part_table import train_part
from tests.answers.hop_world import PEOPLE, PLACES, hop_encoder
from tests.answers.small_world import encoder_folder

K, V, END, LONGEST = 3, 4, 0, 3


class Table:
    """A generator by a table: what follows each prefix, for every passage."""

    end = END

    def __init__(self, seed: int) -> None:
        chance = torch.Generator().manual_seed(seed)
        prefixes = [p for n in range(LONGEST) for p in product(range(V), repeat=n)]
        self.rows = {(k, p): (2 * torch.randn(V, generator=chance, dtype=torch.float64)).log_softmax(-1)
                     for k in range(K) for p in prefixes}  # fmt: skip

    def encode(self, prompts: list[np.ndarray]) -> tuple[Tensor, Tensor]:
        numbers = torch.arange(len(prompts), dtype=torch.float64)
        return numbers[:, None, None], torch.ones(len(prompts), 1, dtype=torch.bool)

    def log_p(self, states: Tensor, mask: Tensor, said: Tensor) -> Tensor:
        rows = [[self.rows[int(k), tuple(s[:t])] for t in range(len(s))]
                for k, s in zip(states[:, 0, 0], said.tolist(), strict=True)]  # fmt: skip
        return torch.stack([torch.stack(row) for row in rows])


def answers() -> list[tuple[int, ...]]:
    short = [(*p, END) for n in range(LONGEST - 1) for p in product(range(1, V), repeat=n)]
    return [*short, *((*p, last) for p in product(range(1, V), repeat=LONGEST - 1) for last in range(V))]


def exact(table: Table, doc: Tensor, how: str) -> dict[tuple[int, ...], float]:
    """log p(y | x) of every answer there is."""
    found = {}
    for y in answers():
        each = [[float(table.rows[k, y[:t]][piece]) for t, piece in enumerate(y)] for k in range(K)]
        p = doc.exp().tolist()
        if how == "token":
            found[y] = sum(math.log(sum(p[k] * math.exp(each[k][t]) for k in range(K))) for t in range(len(y)))
        else:
            found[y] = math.log(sum(p[k] * math.exp(sum(each[k])) for k in range(K)))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_decoding_with_wide_beams_finds_the_best_of_all_answers(seed: int) -> None:
    table, scores = Table(seed), torch.tensor([0.5, -1.0, 0.2], dtype=torch.float64)
    prompts, wide = [np.zeros(1, np.int32)] * K, RagSettings(longest=LONGEST, beams=V**LONGEST)
    for decode in ("token", "thorough", "fast"):
        gold = exact(table, prior(scores), "token" if decode == "token" else "sequence")
        best = max(gold, key=lambda y: gold[y])
        found = write(table, prompts, scores, replace(wide, decode=decode))
        assert found[0].pieces == (best[:-1] if best[-1] == END else best)
        assert found[0].score == pytest.approx(gold[best], abs=1e-9)
        assert sum(found[0].weights) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(6))
def test_thorough_is_never_below_fast_and_its_weights_are_posteriors(seed: int) -> None:
    table, scores = Table(seed), torch.tensor([0.5, -1.0, 0.2], dtype=torch.float64)
    prompts, narrow = [np.zeros(1, np.int32)] * K, RagSettings(longest=LONGEST, beams=2)
    whole = {one.pieces: one for one in write(table, prompts, scores, replace(narrow, decode="thorough"))}
    quick = {one.pieces: one for one in write(table, prompts, scores, replace(narrow, decode="fast"))}
    assert whole.keys() == quick.keys() and all(whole[y].score >= quick[y].score - 1e-12 for y in whole)
    states, mask = table.encode(prompts)
    for one in whole.values():
        y = (*one.pieces, END) if len(one.pieces) < LONGEST else one.pieces
        said = prior(scores) + score_answer(table, states, mask, y).sum(-1)
        assert one.weights == pytest.approx(said.softmax(0).tolist())


def test_for_answers_of_one_piece_both_losses_and_all_decodings_are_the_same() -> None:
    torch.manual_seed(0)
    doc, y, real = torch.randn(5, K), -torch.rand(5, K, 1), torch.ones(5, 1, dtype=torch.bool)
    assert torch.allclose(rag_loss(doc, y, real, "sequence"), rag_loss(doc, y, real, "token"))
    table, scores = Table(1), torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64)
    one = RagSettings(longest=1, beams=V)
    found = [write(table, [np.zeros(1, np.int32)] * K, scores, replace(one, decode=d))
             for d in ("token", "thorough", "fast")]  # fmt: skip
    for other in found[1:]:
        assert [w.pieces for w in other] == [w.pieces for w in found[0]]
        assert [w.score for w in other] == pytest.approx([w.score for w in found[0]])


def small_generator(folder: Path, tokenizer: Tokenizer, kind: str) -> Path:
    """A T5 or BART with random weights."""
    torch.manual_seed(0)
    size, end = tokenizer.vocab_size, tokenizer.suffix[-1]
    if kind == "t5":
        config = T5Config(vocab_size=size, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2, dropout_rate=0.0,
                          pad_token_id=tokenizer.pad_id, eos_token_id=end,
                          decoder_start_token_id=tokenizer.pad_id)  # fmt: skip
        model = T5ForConditionalGeneration(config)
    else:
        config = BartConfig(vocab_size=size, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
                            decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64, dropout=0.0,
                            max_position_embeddings=128, pad_token_id=tokenizer.pad_id, eos_token_id=end,
                            bos_token_id=tokenizer.prefix[0], decoder_start_token_id=end,
                            forced_eos_token_id=end)  # fmt: skip
        model = BartForConditionalGeneration(config)
    model.save_pretrained(folder)
    tokenizer.save(folder)
    return folder


@pytest.mark.parametrize("kind", ["t5", "bart"])
def test_a_generator_says_what_transformers_says(home: Path, tmp_path: Path, kind: str) -> None:
    tokenizer = Tokenizer.load(encoder_folder(home))
    generator = EncoderDecoder.load(small_generator(tmp_path / kind, tokenizer, kind))
    prompts = [tokenizer.frame(tokenizer.encode(text).ids)[0] for text in ("昨天到了", "下雪了。天晴了。")]
    ids, mask = generator.collate(prompts)
    labels = torch.tensor([[7, 8, generator.end], [9, 5, generator.end]])
    with torch.no_grad():
        states, seen = generator.encode(prompts)
        mine = generator.log_p(states, seen, labels).gather(-1, labels[..., None]).sum()
        theirs = generator.model(input_ids=ids, attention_mask=mask.long(), labels=labels).loss
    assert float(-mine / labels.numel()) == pytest.approx(float(theirs), abs=1e-5)


def test_a_folder_without_a_decoder_is_refused(home: Path) -> None:
    with pytest.raises(BadModel, match="cannot be loaded as a generator"):
        EncoderDecoder.load(encoder_folder(home))


def where(size: int, seed: int) -> list[Question]:
    """Questions about where people went; a passage says it of each of them."""
    found = []
    for i, name in enumerate(PEOPLE[:size]):
        doc = Document(f"w{seed}-{i}", f"{name}去了{PLACES[(i + seed) % len(PLACES)]}。")
        found.append(
            Question(f"w{seed}-{i}", f"{name}去了哪里？", "zh", (PLACES[(i + seed) % len(PLACES)],), context=(doc,))
        )
    return found


@cache
def trained_writer(home: Path) -> tuple[Path, dict[str, object]]:
    tokenizer = Tokenizer.load(hop_encoder(home))
    source = small_generator(home / "t5", tokenizer, "t5")
    options = GeneratorOptions(str(hop_encoder(home)), str(source), k=2, max_length=40, longest=6, beams=2)
    how = TrainConfig(epochs=60, batch_size=5, learning_rate=1e-3, head_learning_rate=1e-2, seed=3, evaluate_every=1000)
    folder = home / "writer"
    return folder, train_part("generator", where(5, 1), where(5, 1), options, how, folder, quiet=True)


def test_a_writer_learns_writes_and_cites_what_supports_it(home: Path, tmp_path: Path) -> None:
    folder, _ = trained_writer(home)
    writer, right = load_writer(folder), 0
    taught = where(5, 1)
    with open_store("memory:", create=True) as store:
        for question in taught:
            store.put(question.context[0], Source(question.context[0].id))
        for question in taught:
            answer = ask(question.text, store, "generate", 0.0, 2, reasoners={"generate": RagReasoner(writer)})
            assert answer.generated and answer.mode == "generate" and 0 <= answer.score <= 1
            texts = {q.context[0].id: q.context[0].text for q in taught}
            for citation in answer.citations:
                citation.check(texts[citation.uri])
            assert sum(c.weight for c in answer.citations) == pytest.approx(1.0)
            right += answer.text in question.answers
    assert right >= 4
    db = tmp_path / "kb.db"
    with open_store(str(db), create=True) as store:
        store.put(taught[0].context[0], Source("a.txt"))
    words = [taught[0].text, "--db", str(db), "--mode", "generate", "--generator", str(folder), "--min-score", "0"]
    shown = CliRunner().invoke(command, words, standalone_mode=False)
    assert shown.exception is None and "由模型生成" in shown.output and "a.txt:" in shown.output


class RemovingSearch(Search):
    """Finds passages, whose documents another connection then removes."""

    db: str

    def __call__(self, *args: Any, **kwargs: Any) -> list[Hit]:
        found = super().__call__(*args, **kwargs)
        with open_store(self.db) as other:
            for question in where(5, 1):
                other.remove(question.context[0].id)
        return found


def test_a_document_that_is_removed_while_it_is_read_is_still_cited(home: Path, tmp_path: Path) -> None:
    writer, db = load_writer(trained_writer(home)[0]), str(tmp_path / "kb.db")
    question = where(5, 1)[0]
    with open_store(db, create=True) as store:
        for one in where(5, 1):
            store.put(one.context[0], Source(one.context[0].id))
    with open_store(db) as store:
        search = RemovingSearch(store)
        search.db = db
        answer = ask(question.text, store, "generate", 0.0, 2, search=search,
                     reasoners={"generate": RagReasoner(writer)})  # fmt: skip
        assert {c.uri for c in answer.citations} <= {one.context[0].id for one in where(5, 1)} and answer.citations
        assert not Search(store)(question.text, 2)


def test_the_loss_reaches_the_query_encoder_and_missing_passages_weigh_nothing(home: Path) -> None:
    trained_writer(home)
    options = GeneratorOptions(str(hop_encoder(home)), str(home / "t5"), k=3, max_length=40, longest=6)
    for marginal in ("sequence", "token"):
        writer = start_writer(replace(options, marginal=marginal), 1)
        job = GeneratorJob(writer, where(5, 1), [], options)
        job.asked[0] = replace(job.asked[0], passages=job.asked[0].passages[:1], documents=job.asked[0].documents[:1])
        batch = job.batch([0, 1])
        writer.model.train()
        doc, _, _ = writer.model.log_p(batch)
        assert doc.shape == (2, 3) and bool((prior(doc)[0, 1:].exp() == 0).all())
        writer.model.loss(batch).backward()
        assert float(writer.model.encoder.word_vectors.grad.abs().sum()) > 0
        assert all(p.grad is None for p in writer.document.parameters())


@pytest.mark.parametrize(
    ("text", "answer", "quote"),
    [
        ("Thus he left. He lives in the US now.", "US", "US"),
        ("It was built in 2019. It has 19 rooms.", "19", "19"),
        ("The tall man spoke. Then he left.", "he", "he"),
        ("us and them. The US won.", "US", "US"),
        ("It flows past İstanbul to the sea.", "i̇stanbul", "It flows past İstanbul to the sea."),
        ("He knows C++, he said.", "c++", "C++"),
        ("他参加了NBA比赛。", "nba", "NBA"),
        ("他去了北京大学。", "北京", "北京"),
        ("Nobody knows Pythonesque. Others do.", "Python", "Nobody knows Pythonesque."),
    ],
)
def test_a_citation_of_a_written_answer_is_not_inside_a_word(text: str, answer: str, quote: str) -> None:
    passage = Passage(passage_key("d", 5, 5 + len(text)), "d", 5, 5 + len(text), text)
    citation = supporting("?", answer, passage, "u")
    assert citation.quote == quote
    citation.check("     " + text)


def test_a_writer_keeps_all_that_it_needs(home: Path, tmp_path: Path) -> None:
    folder, _ = trained_writer(home)
    expected = load_writer(folder).documents([("", "李雷去了北京。")])
    moved = tmp_path / "writer"
    shutil.copytree(folder, moved)
    settings = (moved / "factpin.json").read_text(encoding="utf-8").replace(str(hop_encoder(home)), "gone")
    (moved / "factpin.json").write_text(settings, encoding="utf-8")
    assert torch.equal(load_writer(moved).documents([("", "李雷去了北京。")]), expected)
    shutil.rmtree(moved / "document")  # as older folders are
    with pytest.raises(BadModel, match="before writers kept their encoder of passages, and 'gone'"):
        load_writer(moved)
    shutil.copytree(hop_encoder(home), moved / "document")
    assert torch.equal(load_writer(moved).documents([("", "李雷去了北京。")]), expected)


def test_a_writer_that_was_not_calibrated_says_so_and_shows_no_answer_by_itself(home: Path, tmp_path: Path) -> None:
    trained_writer(home)
    options = GeneratorOptions(str(hop_encoder(home)), str(home / "t5"), k=2, max_length=40, longest=6, beams=2)
    how = TrainConfig(max_steps=1, batch_size=5, seed=3)
    report = train_part("generator", where(5, 1), [], options, how, tmp_path / "bare", quiet=True)
    assert report["noted"] == {"not_taught": 0, "answers_too_long": 0} and not report["scores"]
    assert "not calibrated" in (tmp_path / "bare" / "card.md").read_text(encoding="utf-8")
    writer = load_writer(tmp_path / "bare")
    assert writer.settings.min_score == 0.5
    with open_store("memory:", create=True) as store:
        for question in where(5, 1):
            store.put(question.context[0], Source(question.context[0].id))
        answer = ask(where(5, 1)[0].text, store, "generate", reasoners={"generate": RagReasoner(writer)})
    assert answer.abstained
    path = tmp_path / "bare" / "factpin.json"  # older folders have 0 there
    path.write_text(path.read_text(encoding="utf-8").replace('"min_score": 0.5', '"min_score": 0.0'), encoding="utf-8")
    assert '"min_score": 0.0' in path.read_text(encoding="utf-8") and load_writer(path.parent).settings.min_score == 0.5


def test_answers_that_are_too_long_are_left_out_and_counted(home: Path) -> None:
    trained_writer(home)
    options = GeneratorOptions(str(hop_encoder(home)), str(home / "t5"), k=2, max_length=40, longest=4)
    questions = where(5, 1)
    long = replace(questions[0], answers=("北京" * 9,))
    job = GeneratorJob(start_writer(options, 1), [long, *questions[1:], replace(long, answers=())], [], options)
    assert job.noted == {"not_taught": 1, "answers_too_long": 1} and len(job.asked) == 4
    tokenizer = job.model.head.tokenizer
    for one in job.asked:
        pieces = job.answer(one.question.answers[0])
        assert len(pieces) <= 4 and pieces[-1] == job.model.head.end
        assert tokenizer.decode(pieces[:-1]).replace(" ", "") == one.question.answers[0]
    with pytest.raises(BadInput, match="at most 3 pieces"):
        GeneratorJob(start_writer(options, 1), [long], [], options)


def test_a_generator_is_saved_without_a_word(home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trained_writer(home)
    generator = EncoderDecoder.load(home / "t5")
    capfd.readouterr()
    generator.save(tmp_path / "saved")
    assert capfd.readouterr() == ("", "")


def test_what_supports_an_answer_is_its_own_words_or_the_nearest_sentence() -> None:
    text = "Ed Wood was made in 1994. Tim Burton directed it."
    passage = Passage(passage_key("d", 10, 10 + len(text)), "d", 10, 10 + len(text), text)
    assert supporting("Who made it?", "tim burton", passage, "u").quote == "Tim Burton"
    assert supporting("Who directed it?", "Steven", passage, "u").quote == "Tim Burton directed it."
    assert supporting("Who made it?", "Tim Burt", passage, "u").quote == "Tim Burton directed it."  # no whole word
    mixed = Passage(passage_key("z", 0, 12), "z", 0, 12, "姚明曾在NBA打球多年。")
    assert supporting("姚明在哪里打球？", "nba", mixed, "u").quote == "NBA"


def test_options_that_make_no_sense_are_refused(home: Path) -> None:
    with pytest.raises(BadInput, match="expected 0 or more passages"):
        GeneratorOptions(k=-1)
    with pytest.raises(BadInput, match="expected 1 or more"):
        GeneratorOptions(beams=0)
    with pytest.raises(BadInput, match="--generator is missing"):
        start_writer(GeneratorOptions(str(hop_encoder(home))), 1)
