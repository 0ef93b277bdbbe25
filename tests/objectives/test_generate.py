"""Generation: prompts are views of training cut short, wide beams find what trying all finds, samples keep to rules."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
import transformers

from factpin.encoders.own.network import Network
from factpin.encoders.own.parts import NetworkConfig
from factpin.errors import BadInput
from factpin.layers.masks import Ints
from factpin.objectives import OBJECTIVES, View, Vocabulary, collate, prompts
from factpin.objectives import generate as g
from factpin.objectives.fitting import fitted
from factpin.objectives.generate import GenerationSearch, generate
from factpin.objectives.gpt import behind_memory, left_to_right
from factpin.objectives.heads import Heads, HeadsConfig
from factpin.objectives.losses import Learner
from factpin.objectives.objective import Objective
from factpin.objectives.prompts import Prompt
from factpin.objectives.spoil import Rates
from proofs.world import VOCABULARY, text

FEW = Vocabulary(size=12, pad=0, cls=1, sep=2, mask=3, gap=4, tail=5, start=6, end=7, sentinels=(11,))
PIECES = [8, 9, 10]  # its ordinary ids


def learner(row: Objective, v: Vocabulary = FEW, spread: float | None = 0.5) -> Learner:
    """With random weights of this spread; None: as a training begins."""
    torch.manual_seed(0)
    config = NetworkConfig(v.size, width=16, layers=2, heads=2, inner=24, longest=120, dropout=0.1 if spread else 0.0)
    run = Network(fitted(config, row))
    made = Learner(run, Heads(HeadsConfig(), run.width, run.words, [row])).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(std=spread) if spread else None
    return made


def by_heart(row: Objective, *views: View, steps: int = 120) -> Learner:
    """A network that has learned these views."""
    model, made = learner(row, VOCABULARY, spread=None), collate(views, VOCABULARY.pad)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        optimiser.zero_grad()
        model(made, row).total.backward()
        optimiser.step()
    return model


ASKS: dict[str, tuple[str, Prompt]] = {
    "bart": ("bart", prompts.bart(np.array([8, 3, 9]), FEW)),
    "glm": ("glm_token", prompts.glm(np.array([8, 3, 9, 3]), 3, FEW, earlier=[(1, np.array([9, 9]))])),
    "gpt": ("gpt", prompts.gpt(np.array([8, 9, 8]), FEW)),
    "mass": ("mass", prompts.mass(np.array([8, 9, 10, 8, 9]), 1, 4, FEW)),
    "palm": ("palm_continue", prompts.palm(np.array([8, 10, 9]), FEW)),
    "pegasus": ("pegasus", prompts.pegasus(np.array([8, 9, 4, 10]), FEW)),
    "t5": ("t5", prompts.t5(np.array([8, 11, 9]), FEW)),
    "transformer": ("transformer", prompts.palm(np.array([8, 10, 9]), FEW)),
    "transformer_xl": ("transformer_xl", prompts.transformer_xl(np.array([8, 9]), np.array([10, 8, 9]), FEW)),
    "unilm": ("unilm_sequence", prompts.unilm(np.array([8, 9]), FEW)),
}


def tried(model: Learner, prompt: Prompt, longest: int, penalty: float) -> tuple[tuple[int, ...], float]:
    """The best of all answers of at most `longest` pieces with their end, by trying each."""
    model.eval()
    pieces = [i for i in range(FEW.size) if i not in prompt.never and i != prompt.end]
    best: list[tuple[float, tuple[int, ...], float]] = []

    def next_logs(said: tuple[int, ...]) -> torch.Tensor:
        view = prompt.view(np.array(said, np.int64))
        with torch.no_grad():
            return model.log_p(collate([view], 0), prompt.stream, np.array([len(view.streams[prompt.stream]) - 1]))[0]

    known: dict[tuple[int, ...], torch.Tensor] = {}
    for n in range(longest) if prompt.end is not None else [longest]:
        for said in product(pieces, repeat=n):
            score = 0.0
            for i in range(n):
                if said[:i] not in known:
                    known[said[:i]] = next_logs(said[:i])
                score += float(known[said[:i]][said[i]])
            count = n
            if prompt.end is not None:
                if said not in known:
                    known[said] = next_logs(said)
                score, count = score + float(known[said][prompt.end]), n + 1
            best.append((score / ((5 + count) / 6) ** penalty, said, score))
    _, said, score = max(best)
    return said, score


@pytest.mark.parametrize("penalty", [0.0, 1.5])
@pytest.mark.parametrize("name", ASKS)
def test_a_beam_wide_enough_finds_what_trying_all_finds(name: str, penalty: float) -> None:
    row, prompt = ASKS[name]
    model = learner(OBJECTIVES[row])
    longest = prompt.length or 3
    right, score = tried(model, prompt, longest, penalty)
    found = generate(model, prompt, FEW, GenerationSearch(beams=64, penalty=penalty, longest=longest))[0]
    assert tuple(found.ids.tolist()) == right
    assert found.score == pytest.approx(score, abs=1e-9)
    assert found.finished


def test_one_beam_takes_the_likeliest_piece_each_time() -> None:
    row, prompt = ASKS["gpt"]
    model = learner(OBJECTIVES[row])
    found = generate(model, prompt, FEW, GenerationSearch(longest=5))[0]
    said: list[int] = []
    model.eval()
    for _ in range(5):
        view = prompt.view(np.array(said, np.int64))
        with torch.no_grad():
            logs = model.log_p(collate([view], 0), "content", np.array([len(view.streams["content"]) - 1]))[0]
        said.append(max(PIECES, key=lambda piece: float(logs[piece])))
    assert found.ids.tolist() == said


def test_a_beam_gives_as_many_answers_as_asked_the_best_first() -> None:
    row, prompt = ASKS["transformer"]
    found = generate(learner(OBJECTIVES[row]), prompt, FEW, GenerationSearch(beams=6, count=6, longest=4))
    assert len(found) == 6 and len({tuple(one.ids.tolist()) for one in found}) == 6
    ended = [one.score for one in found if one.finished]
    assert ended == sorted(ended, reverse=True)
    assert not {piece for one in found for piece in one.ids.tolist()} & FEW.specials


@pytest.mark.parametrize("name", ASKS)
def test_samples_hold_only_what_may_be_said_and_follow_their_chance(name: str) -> None:
    row, prompt = ASKS[name]
    model = learner(OBJECTIVES[row])
    search = GenerationSearch("sample", count=5, longest=4)
    first, second = (
        generate(model, prompt, FEW, search, chance=torch.Generator().manual_seed(3)) for _ in range(2)
    )  # fmt: skip
    assert [one.ids.tolist() for one in first] == [one.ids.tolist() for one in second]
    may = set(PIECES) | ({11} if name == "t5" else set())
    for one in first:
        assert set(one.ids.tolist()) <= may
        assert len(one.ids) <= (prompt.length or 4) and np.isfinite(one.score)


def test_top_k_and_top_p_keep_the_likeliest() -> None:
    logs = torch.log(torch.tensor([[0.1, 0.4, 0.05, 0.3, 0.15]]))
    kept = lambda search: torch.isfinite(g.likeliest(logs, search))[0].nonzero().flatten().tolist()  # noqa: E731
    assert kept(GenerationSearch("sample", top_k=2)) == [1, 3]
    assert kept(GenerationSearch("sample", top_p=0.39)) == [1]
    assert kept(GenerationSearch("sample", top_p=0.41)) == [1, 3]
    assert kept(GenerationSearch("sample", top_p=0.8)) == [1, 3, 4]
    assert kept(GenerationSearch("sample", top_p=0.8, top_k=2)) == [1, 3]
    assert kept(GenerationSearch("sample")) == [0, 1, 2, 3, 4]
    cold = g.likeliest(logs, GenerationSearch("sample", temperature=0.1)).softmax(dim=-1)
    assert cold[0, 1] > 0.9


def test_top_p_is_taken_of_the_top_k_as_transformers_does() -> None:
    logs = torch.randn(40, 30, generator=torch.Generator().manual_seed(0)).double().log_softmax(dim=-1)
    differ = 0
    for k, p in ((2, 0.5), (5, 0.7), (10, 0.9), (30, 0.6)):
        search = GenerationSearch("sample", top_k=k, top_p=p, temperature=0.8)
        warm = transformers.TemperatureLogitsWarper(0.8)(None, logs.clone())
        theirs = transformers.TopPLogitsWarper(p)(None, transformers.TopKLogitsWarper(k)(None, warm))
        ours = g.likeliest(logs, search)
        assert torch.equal(torch.isfinite(ours), torch.isfinite(theirs))
        apart = torch.isfinite(g.likeliest(logs, GenerationSearch("sample", top_p=p, temperature=0.8)))
        differ += int((torch.isfinite(ours) != apart).sum())
    assert differ > 0


def test_samples_are_drawn_as_often_as_they_are_likely() -> None:
    row, prompt = ASKS["gpt"]
    model = learner(OBJECTIVES[row], spread=0.2)
    found = generate(
        model, prompt, FEW, GenerationSearch("sample", count=600, longest=1), chance=torch.Generator().manual_seed(0)
    )
    p = {int(one.ids[0]): float(np.exp(one.score)) for one in found}
    total = sum(p.values())
    for piece, share in p.items():
        drawn = np.mean([one.ids[0] == piece for one in found])
        assert drawn == pytest.approx(share / total, abs=4 * (0.25 / 600) ** 0.5)


def test_an_answer_is_as_long_as_asked_and_repeats_nothing() -> None:
    row, prompt = ASKS["transformer"]
    model = learner(OBJECTIVES[row])
    for found in generate(model, prompt, FEW, GenerationSearch(beams=4, count=4, longest=6, shortest=4)):
        assert len(found.ids) >= 4
    for found in generate(model, prompt, FEW, GenerationSearch(beams=4, count=4, longest=9, repeat=2)):
        pairs = list(zip(found.ids.tolist(), found.ids.tolist()[1:], strict=False))
        assert len(pairs) == len(set(pairs))


def test_a_search_that_makes_no_sense_is_refused() -> None:
    for wrong in ({"beams": 0}, {"top_p": 0.0}, {"temperature": 0.0}, {"longest": 0}, {"count": 2}):
        with pytest.raises(BadInput):
            GenerationSearch(**wrong)


NONE = np.zeros(0, np.int64)
UNASKED: dict[str, tuple[Callable[[], Prompt], str]] = {
    "glm at a piece": (lambda: prompts.glm(np.array([8, 3]), 0, FEW), r"gap or tail: \[1\]; got 0"),
    "glm without a blank": (lambda: prompts.glm(np.array([8, 9]), 1, FEW), "nowhere; got 1"),
    "glm without its mark": (lambda: prompts.glm(np.array([8, 3]), 1, replace(FEW, start=0)), "Load a folder"),
    "gpt of nothing": (lambda: prompts.gpt(NONE, FEW), "got no piece"),
    "mass beyond the text": (lambda: prompts.mass(np.arange(8, 11), 1, 4, FEW), "got 1:4"),
    "mass of nothing": (lambda: prompts.mass(np.arange(8, 11), 2, 2, FEW), "got 2:2"),
    "mass that ends before it starts": (lambda: prompts.mass(np.arange(8, 11), 2, 1, FEW), "start < end <= 3; got 2:1"),
    "t5 without sentinels": (lambda: prompts.t5(np.array([8, 9]), replace(FEW, sentinels=())), "it has none"),
    "t5 without a blank": (lambda: prompts.t5(np.array([8, 9]), FEW), "it has 1, from 11 on.; these 2 ids hold none"),
    "transformer_xl of nothing": (lambda: prompts.transformer_xl(NONE, np.array([8]), FEW), "got no piece"),
}


@pytest.mark.parametrize("what", UNASKED)
def test_a_prompt_that_asks_nothing_is_refused(what: str) -> None:
    make, words = UNASKED[what]
    with pytest.raises(BadInput, match=words):
        make()


@pytest.mark.parametrize("name", ["bart", "mass", "palm", "pegasus", "t5"])
def test_a_network_without_a_decoder_is_asked_for_none(name: str) -> None:
    with pytest.raises(BadInput, match="pretrained without one. Load a folder"):
        generate(learner(OBJECTIVES["wwm"]), ASKS[name][1], FEW, GenerationSearch())


MASKED = Rates(1.0, 0.0)


def told_by(view: View) -> dict[str, dict[str, np.ndarray]]:
    return {
        name: {
            "ids": one.tape.ids, "positions": one.positions, "segments": one.segments,
            **{seen: spec.dense() for seen, spec in one.sees.items()},
        }
        for name, one in view.streams.items()
    }  # fmt: skip


def same_beginning(prompt: Prompt, said: Ints, view: View, cells: int) -> None:
    """The prompt's view is the view of training up to `cells` of the stream that speaks."""
    ours, theirs = told_by(prompt.view(said)), told_by(view)
    assert set(ours) == set(theirs)
    for name, columns in ours.items():
        n = cells if name == prompt.stream else len(columns["ids"])
        assert len(columns["ids"]) == n
        for key, column in columns.items():
            cut = theirs[name][key][:n]
            assert np.array_equal(column, cut[:, :n] if key == name else cut), (name, key)


def test_prompts_are_the_views_of_training_cut_short() -> None:
    v, chance = VOCABULARY, lambda: np.random.default_rng(2)
    x = text(20, 1, before=3)
    same_beginning(prompts.gpt(x.ids[:5], v), x.ids[5:9], left_to_right(x, v, chance()), 9)
    same_beginning(prompts.transformer_xl(x.ids[:5], x.before, v), x.ids[5:9], behind_memory(x, v, chance()), 9)

    view = replace(OBJECTIVES["mass"].declare, rates=MASKED)(x, v, chance())
    run = view.streams["decoder"].answers
    same_beginning(prompts.mass(x.ids, int(run[0]), int(run[-1]) + 1, v), x.ids[run[:3]], view, 4)

    view = OBJECTIVES["bart"].declare(x, v, chance())
    same_beginning(prompts.bart(view.streams["encoder"].tape.ids[1:-1], v), x.ids[:6], view, 8)
    view = OBJECTIVES["transformer"].declare(x, v, chance())
    same_beginning(prompts.palm(x.ids[:10], v), x.ids[10:14], view, 5)
    for name, make in (("t5", prompts.t5), ("pegasus", prompts.pegasus)):
        view = OBJECTIVES[name].declare(x, v, chance())
        said = view.streams["decoder"].tape.ids[1:4]
        same_beginning(make(view.streams["encoder"].tape.ids[:-1], v), said, view, 4)

    view = OBJECTIVES["glm_token"].declare(x, v, chance())
    content = view.streams["content"]
    a = int((content.positions[:, 1] == 0).sum())
    blank = int(content.positions[a, 0]) - 1
    same_beginning(prompts.glm(content.tape.ids[1:a], blank, v), content.tape.ids[a + 1 : a + 2], view, a + 2)


def left_blank_first(view: View) -> bool:
    content = view.streams["content"]
    a = int((content.positions[:, 1] == 0).sum())
    return bool(content.positions[a, 0] == np.flatnonzero(content.tape.ids == VOCABULARY.mask)[0])


def test_blanks_are_filled_one_after_the_other() -> None:
    """A network that learned two blanks by heart fills both."""
    row = OBJECTIVES["glm_token"]
    v, x = VOCABULARY, text(30, 4)
    view = next(
        made
        for made in (row.view(x, v, seed=0, epoch=0, index=i) for i in range(99))
        if (made.streams["content"].tape.ids == v.mask).sum() == 2 and left_blank_first(made)
    )
    ids = view.streams["content"].tape.ids
    a = int((view.streams["content"].positions[:, 1] == 0).sum())
    model = by_heart(row, view)
    runs = [run[1:] for run in np.split(ids[a:], np.flatnonzero(ids[a:] == v.start))[1:]]
    found = g.fill_blanks(model, ids[1:a], v, GenerationSearch(longest=12))
    assert [run.ids.tolist() for run in found] == [run.tolist() for run in runs]


MakePrompt = Callable[[Ints, Vocabulary], Prompt]


@pytest.mark.parametrize(("name", "make"), [("bart_mask", prompts.bart), ("transformer", prompts.palm)])
def test_what_was_learned_by_heart_is_said_again(name: str, make: MakePrompt) -> None:
    row, v, x = OBJECTIVES[name], VOCABULARY, text(14, 2)
    view = row.view(x, v, seed=0, epoch=0, index=0)
    model = by_heart(row, view)
    source = view.streams["encoder"].tape.ids[1:-1]
    right = x.ids if name == "bart_mask" else x.ids[7:]
    for search in (GenerationSearch(longest=20), GenerationSearch(beams=3, penalty=0.6, longest=20)):
        found = generate(model, make(source, v), v, search)[0]
        assert found.finished and found.ids.tolist() == right.tolist()
    assert model.training


def test_unilm_learns_from_its_own_views_where_to_stop() -> None:
    row, v = OBJECTIVES["unilm_sequence"], VOCABULARY
    x = replace(text(11, 3), ends=np.array([6, 11]))
    model = by_heart(row, *(row.view(x, v, seed=0, epoch=0, index=i) for i in range(60)), steps=60)
    found = generate(model, prompts.unilm(x.ids[:6], v), v, GenerationSearch(longest=12))[0]
    assert found.finished and found.ids.tolist() == x.ids[6:].tolist()
