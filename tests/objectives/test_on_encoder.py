"""On an encoder: two streams in one row are two streams, rows learn, and what is saved is an encoder again."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from factpin.encoders import Encoder, small_encoder
from factpin.encoders.own.network import Network
from factpin.encoders.own.parts import NetworkConfig
from factpin.errors import BadInput
from factpin.objectives import OBJECTIVES, Batch, collate, one_stream
from factpin.objectives.electra import electra_over
from factpin.objectives.generate import GenerationSearch, generate
from factpin.objectives.heads import Heads, HeadsConfig
from factpin.objectives.losses import Learner
from factpin.objectives.on_encoder import OnEncoder
from factpin.objectives.prompts import glm, gpt, unilm
from proofs.parity import bert_input, bert_layers, stirred
from proofs.world import VOCABULARY, text

SINGLE = [name for name, row in OBJECTIVES.items() if {loss.stream for loss in row.losses} <= {"content", "query"}]
HEADS = HeadsConfig(offset_width=8)


def encoder(width: int = 16) -> Encoder:
    torch.manual_seed(0)
    return small_encoder(VOCABULARY.size, width=width, layers=2, max_length=120, dropout=0.0)


def batch(name: str, *, joined: bool = False) -> Batch:
    views = [
        OBJECTIVES[name].view(text(n, n), VOCABULARY, seed=0, epoch=0, index=i) for i, n in enumerate((20, 33, 26))
    ]
    return collate([one_stream(view) for view in views] if joined else views, VOCABULARY.pad)


def learner(name: str, reader: OnEncoder) -> torch.nn.Module:
    row, heads = OBJECTIVES[name], Heads(HEADS, reader.width, reader.words, [OBJECTIVES[name]])
    if name == "electra":
        config = NetworkConfig(VOCABULARY.size, width=16, layers=1, heads=4, inner=32, longest=120)
        return electra_over(reader, config, HEADS, row, share=0.5)
    return Learner(reader, heads)


@pytest.mark.parametrize("name", SINGLE)
def test_every_row_of_content_and_queries_learns_on_an_encoder(name: str) -> None:
    row, reader = OBJECTIVES[name], OnEncoder(encoder(), (OBJECTIVES[name],))
    model, made = learner(name, reader), batch(name)
    losses = model(made, row)
    losses.total.backward()
    assert torch.isfinite(losses.total) and losses.total > 0
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
    assert reader.encoder.model.encoder.layer[0].attention.self.query.weight.grad.any()


@pytest.mark.parametrize("name", ["mpnet", "xlnet"])
@torch.no_grad()
def test_two_streams_in_one_row_are_two_streams(name: str) -> None:
    """A real BertModel on [content; query] against a network with the same weights and two streams."""
    config = transformers.BertConfig(vocab_size=VOCABULARY.size, hidden_size=16, num_hidden_layers=3,
                                     num_attention_heads=4, intermediate_size=24, max_position_embeddings=120,
                                     type_vocab_size=3)  # fmt: skip
    model = stirred(transformers.BertModel(config, add_pooling_layer=False))
    reader = OnEncoder(Encoder(model), (OBJECTIVES[name],)).double().eval()
    run = Network(NetworkConfig(VOCABULARY.size, 16, 3, 4, 24, longest=120, segments=3)).double().eval()
    bert_input(run, model.embeddings)
    bert_layers(run, model.encoder.layer)
    made = batch(name)
    one, two = reader(made).hidden, run(made).hidden
    for stream in ("content", "query"):
        real = made.streams[stream].real
        assert (one[stream] - two[stream])[real].abs().max() < 1e-10
        assert two[stream][real].abs().max() > 1
    views = reader(batch(name, joined=True)).hidden["content"]
    for b in range(3):
        n, q = made.streams["content"].real[b].sum(), made.streams["query"].real[b].sum()
        assert torch.allclose(views[b, :n], one["content"][b, :n], atol=1e-12)
        assert torch.allclose(views[b, n : n + q], one["query"][b, :q], atol=1e-12)


@torch.no_grad()
def test_the_second_position_of_a_text_adds_nothing() -> None:
    """GLM's A has second position 0: the encoder alone reads it as it did in training."""
    reader = OnEncoder(encoder(), (OBJECTIVES["glm_token"],)).eval()
    made = batch("glm_token")
    block = made.streams["content"]
    first = int((block.positions[0, :, 1] == 0).sum()) - int((~block.real[0]).sum())
    alone = reader.encoder(torch.as_tensor(block.ids[:1, :first]), torch.ones(1, first, dtype=torch.bool)).hidden
    assert torch.allclose(reader(made).hidden["content"][0, :first], alone[0], atol=1e-5)


def test_the_result_is_saved_as_an_encoder(encoder_folder: Path, tmp_path: Path) -> None:
    loaded = Encoder.load(encoder_folder)
    size = loaded.config.vocab_size
    reader = OnEncoder(loaded, (OBJECTIVES["gpt"],))
    model = Learner(reader, Heads(HEADS, reader.width, reader.words, [OBJECTIVES["gpt"]]))
    x = text(20, 1, ids=np.random.default_rng(0).integers(8, min(size, 200), 20))
    made = collate([OBJECTIVES["gpt"].view(x, VOCABULARY, seed=0, epoch=0, index=0)], VOCABULARY.pad)
    optimiser = torch.optim.SGD(model.parameters(), lr=1.0)
    model(made, OBJECTIVES["gpt"]).total.backward()
    optimiser.step()
    reader.save(tmp_path / "adapted")
    again, was = Encoder.load(tmp_path / "adapted"), Encoder.load(encoder_folder)
    ids, mask = torch.as_tensor(x.ids[None]), torch.ones(1, 20, dtype=torch.bool)
    now = again(ids, mask).hidden
    assert torch.equal(now, reader.eval().encoder(ids, mask).hidden)
    assert not torch.allclose(now, was(ids, mask).hidden)


def test_rows_with_a_decoder_and_memories_are_refused() -> None:
    with pytest.raises(BadInput, match="asks its decoder"):
        OnEncoder(encoder(), (OBJECTIVES["t5"],))
    row = OBJECTIVES["transformer_xl"]
    made = collate([row.view(text(9, 1, before=4), VOCABULARY, seed=0, epoch=0, index=0)], VOCABULARY.pad)
    with pytest.raises(BadInput, match="no memory"):
        OnEncoder(encoder(), (row,))(made)


PROMPTS = {"gpt": gpt, "unilm_sequence": unilm, "glm_token": lambda ids, v: glm(np.append(ids, v.mask), len(ids), v)}


@pytest.mark.parametrize("name", PROMPTS)
def test_an_encoder_speaks_what_it_has_learned_by_heart(name: str) -> None:
    """One stream is enough to say something: from left to right, behind a first part, into a blank."""
    row, v = OBJECTIVES[name], VOCABULARY
    reader = OnEncoder(encoder(32), (row,))
    model = Learner(reader, Heads(HEADS, reader.width, reader.words, [row]))
    ids, right = text(9, 1).ids[:5], text(9, 1).ids[5:]
    prompt = PROMPTS[name](ids, v)
    labels = [*right.tolist(), *([] if prompt.end is None else [prompt.end])]
    made = collate([prompt.view(right[:n]) for n in range(len(labels))], v.pad)
    last = made.streams["content"].real.sum(axis=1) - 1
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(100):
        optimiser.zero_grad()
        logs = model.log_p(made, "content", last)
        (-logs[range(len(labels)), labels].sum()).backward()
        optimiser.step()
    found = generate(model, prompt, v, GenerationSearch(beams=2, longest=len(right) + (prompt.end is not None)))[0]
    assert found.finished and found.ids.tolist() == right.tolist()
