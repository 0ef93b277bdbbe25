"""Worked examples beside those of `proofs.golden`: layouts, shares, and that every corruption is undone."""

from dataclasses import replace

import numpy as np
import pytest

from factpin.errors import BadInput
from factpin.objectives import OBJECTIVES, Text
from factpin.objectives.bart import BART, shuffled, turned
from factpin.objectives.cloze import Cloze
from factpin.objectives.electra import replaced
from factpin.objectives.ernie import continual
from factpin.objectives.glm import GLM
from factpin.objectives.gpt import behind_memory
from factpin.objectives.mass import MASS
from factpin.objectives.mpnet import MPNet
from factpin.objectives.palm import Continue
from factpin.objectives.spoil import Rates, expand, split
from factpin.objectives.t5 import T5
from factpin.objectives.unilm import leftwards, rightwards
from factpin.objectives.xlnet import XLNet
from proofs.golden import fixed, plain, rows, run
from proofs.world import VOCABULARY, text

V = VOCABULARY
M, S, E = V.mask, V.start, V.end
ALL_MASKED = Rates(1.0, 0.0)


def test_xlnet_layout_has_running_text_then_two_parts_and_cls_last() -> None:
    view = run(XLNet(choose=lambda units, budget, chance: [units[-1]]), plain(8, 6))
    content, query = view.streams["content"], view.streams["query"]
    assert content.tape.ids.tolist() == [11, 12, 13, 14, 15, 16, V.sep, 17, 18, V.sep, V.cls]
    assert content.segments.tolist() == [0] * 7 + [1] * 3 + [2]
    assert query.positions[:, 0].tolist() == [3, 8] and view.labels("query").tolist() == [14, 18]
    assert query.segments.tolist() == [0, 1]
    dense = content.sees["content"].dense()
    assert not dense[:4, 4:].any() and dense[4:, :4].all()  # the first half is what the next window remembers
    context = [4, 5, 7]
    assert not dense[np.ix_(context, [6, 8, 9, 10])].any()  # context sees neither targets nor special tokens
    assert rows(query.sees["content"].dense())[0] == "11100000000"


def test_mpnet_draws_once_for_both_copies_of_a_mask() -> None:
    for seed in range(30):
        view = run(MPNet(rates=Rates(0.4, 0.3)), text(60), seed)
        content, query = view.streams["content"], view.streams["query"]
        b = len(query)
        assert content.tape.ids[-b:].tolist() == query.tape.ids.tolist()


def test_glm_fills_its_blanks_in_any_order() -> None:
    drawn = [run(GLM(fixed([2], [4, 5])), plain(6), seed).labels("content").tolist()[6:] for seed in range(8)]
    assert {tuple(labels) for labels in drawn} == {(15, 16, E, 13, E), (13, E, 15, 16, E)}


@pytest.mark.parametrize(("name", "marker"), [("glm_token", M), ("glm_sentence", V.gap), ("glm_document", V.tail)])
def test_glm_is_undone_by_its_own_blanks(name: str, marker: int) -> None:
    for index in range(20):
        x = text(50, index)
        view = OBJECTIVES[name].view(x, V, seed=0, epoch=0, index=index)
        content, labels = view.streams["content"], view.labels("content")
        second = content.positions[:, 1]
        blanks = split(np.append(content.tape.ids[second > 0], 0), [S])
        blanks[-1] = blanks[-1][:-1]
        at = content.positions[second == 1, 0]
        a = content.tape.ids[second == 0]
        assert np.array_equal(expand(a[1:], [marker], [blanks[k] for k in np.argsort(at)]), x.ids)
        assert (labels[second > 0] != -100).all() and (labels[second == 0] == -100).all()
        assert (labels == E).sum() == len(blanks)


def test_unilm_left_and_right_are_mirrors() -> None:
    left = run(Cloze(fixed([0]), mask=leftwards), plain(3)).streams["content"].sees["content"].dense()
    right = run(Cloze(fixed([0]), mask=rightwards), plain(3)).streams["content"].sees["content"].dense()
    assert rows(left) == ["10000", "11000", "11100", "11110", "11111"]
    assert np.array_equal(right, left.T)


def test_mass_is_undone_by_its_decoder() -> None:
    for index in range(20):
        x = text(41, index)
        view = run(MASS(rates=ALL_MASKED), x, index)
        source, labels = view.streams["encoder"].tape.ids[1:-1], view.labels("decoder")
        assert (source == M).sum() == len(labels) == 21
        assert np.array_equal(expand(source, [M], [np.array([label]) for label in labels]), x.ids)


def test_t5_is_undone_by_what_its_decoder_says() -> None:
    for n in (5, 20, 60, 150):
        for index in range(15):
            x = text(n, index)
            view = OBJECTIVES["t5"].view(x, V, seed=0, epoch=0, index=index)
            source, said = view.streams["encoder"].tape.ids[:-1], view.labels("decoder")[:-1]
            blanks = split(said, V.sentinels)[: np.isin(source, V.sentinels).sum()]
            assert np.array_equal(expand(source, V.sentinels, blanks), x.ids)


def test_t5_with_too_few_sentinels_says_so() -> None:
    few = replace(V, sentinels=(99, 98))
    with pytest.raises(BadInput, match="2 blanks need as many markers, the vocabulary has 1"):
        T5(fixed([2], [4]))(plain(8), few, np.random.default_rng(0))


def test_bart_restores_the_whole_text_and_starts_with_its_end() -> None:
    view = run(BART(), plain(3))
    assert view.streams["encoder"].tape.ids.tolist() == [V.cls, 11, 12, 13, V.sep]
    assert view.streams["decoder"].tape.ids.tolist() == [V.sep, V.cls, 11, 12, 13]
    assert view.labels("decoder").tolist() == [V.cls, 11, 12, 13, V.sep]


def test_bart_moves_sentences_and_turns_texts() -> None:
    sentences = {(11, 12), (13, 14, 15), (16,)}
    for seed in range(10):
        ids = run(BART(shuffled), plain(6, 2, 5), seed).streams["encoder"].tape.ids[1:-1].tolist()
        assert sorted(ids) == list(range(11, 17))
        assert all(tuple(ids[ids.index(s[0]) :][: len(s)]) == s for s in sentences)
        ids = run(BART(turned), plain(6), seed).streams["encoder"].tape.ids[1:-1].tolist()
        at = ids.index(11)
        assert at > 0 and ids[at:] + ids[:at] == list(range(11, 17))


def test_bart_noises_take_30_percent() -> None:
    for index in range(10):
        x = text(100, index)
        views = {k: OBJECTIVES[f"bart_{k}"].view(x, V, seed=0, epoch=0, index=index) for k in ("mask", "delete")}
        assert (views["mask"].streams["encoder"].tape.ids == M).sum() == 30
        assert len(views["delete"].streams["encoder"]) == 102 - 30
        infilled = OBJECTIVES["bart_infill"].view(x, V, seed=0, epoch=0, index=index)
        shown = infilled.streams["encoder"].tape.shows
        words = x.units("words")
        gone = sum(not np.isin(word, shown).any() for word in words)
        assert gone == -(-3 * len(words) // 10)


def test_bart_infilling_is_undone_by_what_is_missing_between_its_neighbours() -> None:
    empty = 0
    for index in range(30):
        x = text(80, index)
        view = OBJECTIVES["bart_infill"].view(x, V, seed=0, epoch=0, index=index)
        source = view.streams["encoder"].tape.take(np.arange(1, len(view.streams["encoder"]) - 1))
        runs, said = [], 0  # what each mask stands for; of neighbouring masks the first stands for all
        for cell in np.flatnonzero(source.ids == M):
            shown = source.shows[cell:][source.shows[cell:] >= 0]
            left = source.shows[:cell][source.shows[:cell] >= 0]
            said = max(said, int(left[-1]) + 1 if len(left) else 0)
            end = int(shown[0]) if len(shown) else 80
            runs.append(x.ids[said:end])
            said = end
        empty += sum(len(run) == 0 for run in runs)
        assert np.array_equal(expand(source.ids, [M], runs), x.ids)
    assert empty > 0


def test_bert_frames_two_parts_and_counts_specials_in_its_budget() -> None:
    x = Text(np.arange(11, 54), np.arange(43), np.array([20, 43]), foreign=text(50, foreign=False))
    view = OBJECTIVES["bert"].view(x, V, seed=0, epoch=0, index=0)
    content = view.streams["content"]
    assert [content.tape.ids[i] for i in (0, 21, -1)] == [V.cls, V.sep, V.sep]
    assert content.segments.tolist() == [0] * 22 + [1] * (len(content) - 22)
    assert (content.answers >= 0).sum() == int(0.15 * len(content) + 0.5)


def test_roberta_packs_documents_with_separators_and_masks_anew_each_epoch() -> None:
    x = text(60, 1)
    views = [OBJECTIVES["roberta"].view(x, V, seed=0, epoch=epoch, index=0) for epoch in range(4)]
    assert [int(i) for i in np.flatnonzero(views[0].streams["content"].tape.ids == V.sep)] == [21, 62]
    assert len({tuple(view.labels("content").tolist()) for view in views}) == 4
    assert not views[0].streams["content"].segments.any()


def test_whole_words_and_entities_are_asked_for_together() -> None:
    for name, kind in (("wwm", "words"), ("nezha", "words"), ("ernie_phrase", "phrases"), ("ernie_entity", "entities")):
        for index in range(10):
            x = text(80, index)
            view = OBJECTIVES[name].view(x, V, seed=0, epoch=0, index=index)
            if view.pair:
                continue
            answers = view.streams["content"].answers
            asked = set(answers[answers >= 0].tolist())
            half = int((view.streams["content"].segments == 0).sum()) - 2
            for unit in x.units(kind):
                inside = [int(i) in asked for i in unit if i < len(view.text)]  # the end is cut off
                assert len(set(inside)) <= 1 or unit[0] < half <= unit[-1]


def test_pegasus_masks_leaves_or_exchanges_its_gaps_and_asks_for_words_elsewhere() -> None:
    marked = kept = foreign = 0
    for index in range(300):
        x = text(40, 2)
        view = OBJECTIVES["pegasus"].view(x, V, seed=0, epoch=0, index=index)
        encoder, decoder = view.streams["encoder"], view.streams["decoder"]
        gaps = set(decoder.answers[decoder.answers < 40].tolist())
        assert not gaps & set(encoder.answers[encoder.answers >= 0].tolist())
        count = max(1, int(0.3 * len(x.ends)))
        sentences = [s for s in x.units("sentences") if s[0] in gaps]
        assert len(sentences) == count
        marked += (encoder.tape.ids == V.gap).sum()
        kept += sum(np.isin(s, encoder.tape.shows).all() for s in sentences)
        foreign += (
            count - (encoder.tape.ids == V.gap).sum() - sum(np.isin(s, encoder.tape.shows).all() for s in sentences)
        )
    total = marked + kept + foreign
    for part, p in ((marked, 0.8), (kept, 0.1), (foreign, 0.1)):
        assert part / total == pytest.approx(p, abs=3 * (p * (1 - p) / total) ** 0.5)


def test_palm_goes_on_where_the_encoder_ends() -> None:
    view = run(Continue(rates=ALL_MASKED), plain(10))
    encoder = view.streams["encoder"]
    assert len(encoder) == 10 and (encoder.tape.ids == M).sum() == 2  # 0.15 of 8 pieces and two specials
    assert view.labels("decoder").tolist() == [19, 20, E]
    assert view.streams["decoder"].tape.ids.tolist() == [V.pad, 19, 20]


def test_transformer_xl_sees_all_of_its_memory_and_nothing_ahead() -> None:
    x = Text(np.arange(11, 13), np.arange(2), np.array([2]), before=np.array([9]))
    view = run(behind_memory, x)
    content = view.streams["content"]
    assert rows(np.concatenate([spec.dense() for spec in content.sees.values()], axis=1)) == ["110", "111"]
    positions = np.concatenate([view.streams["memory"].positions, content.positions])[:, 0]
    distance = content.positions - positions
    assert distance.tolist() == [[1, 0, -1], [2, 1, 0]]
    assert view.labels("content").tolist() == [12, -100]


def test_electra_counts_a_right_draw_as_original() -> None:
    view = run(Cloze(fixed([1, 3]), rates=Rates(0.85, 0.0)), plain(4))
    filled, label = replaced(view, np.array([12, 99]))
    assert filled[1:-1].tolist() == [11, 12, 13, 99]
    assert label[1:-1].tolist() == [False, False, False, True]
    assert filled[0] == V.cls and not label[0] and not label[-1]
    with pytest.raises(BadInput, match="fills 2 cells, got 1"):
        replaced(view, np.array([12]))


def test_ernie_2_goes_on_with_old_tasks_and_keeps_their_totals() -> None:
    assert continual([6, 4, 5]) == [(2, 0, 0), (2, 2, 0), (2, 2, 5)]
    stages = continual([50, 7, 31, 12])
    assert [sum(stage[i] for stage in stages) for i in range(4)] == [50, 7, 31, 12]
    assert all((stage[i] > 0) == (s >= i) for s, stage in enumerate(stages) for i in range(4))
    with pytest.raises(BadInput, match="at least one step"):
        continual([5, 0])
