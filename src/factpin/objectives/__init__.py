"""Pretraining: some twenty methods as rows over shared bricks.

    text -> choose pieces -> spoil them -> View (cells, who sees whom, what is asked where) -> audit

Rows that differ in values share a declaration. MIXTURES name rows of which one is drawn for each batch, with weights;
STAGES name rows that are trained one after the other; CONTINUAL, rows that join one after the other and go on.
"""

from collections import ChainMap
from functools import partial

from factpin.encoders.own.batch import Batch
from factpin.objectives import bart, pairs, unilm
from factpin.objectives.audit import Audit, audit
from factpin.objectives.bart import BART
from factpin.objectives.choose import Budget, geometric, ngram, one_long, whole
from factpin.objectives.cloze import Cloze
from factpin.objectives.collate import collate, one_stream, pack
from factpin.objectives.glm import GLM
from factpin.objectives.gpt import behind_memory, left_to_right
from factpin.objectives.mass import MASS
from factpin.objectives.mpnet import MPNet
from factpin.objectives.objective import Loss, Objective
from factpin.objectives.paired import PairView
from factpin.objectives.palm import Continue
from factpin.objectives.pegasus import Pegasus
from factpin.objectives.spoil import Rates
from factpin.objectives.t5 import T5
from factpin.objectives.text import Text, Vocabulary
from factpin.objectives.view import Stream, View
from factpin.objectives.xlnet import XLNet

WORDS = Loss("words", "content")
PAIR = Loss("pair", "content", over="texts")
QUERY = Loss("words", "query")
SAID = Loss("words", "decoder")
READ = Loss("words", "encoder")

TO_THREE = partial(ngram, odds=(1, 1 / 2, 1 / 3))
MOSTLY_ONE = partial(ngram, odds=(0.8, 0.1, 0.1))

OBJECTIVES: dict[str, Objective] = {
    "albert": Objective(Cloze(TO_THREE, "words", pair=pairs.sentence_order), (WORDS, PAIR), network="albert"),
    "bart": Objective(BART(bart.shuffled, bart.infilled), (SAID,), network="bart"),
    "bart_delete": Objective(BART(noise=bart.deleted), (SAID,), network="bart"),
    "bart_infill": Objective(BART(noise=bart.infilled), (SAID,), network="bart"),
    "bart_mask": Objective(BART(noise=bart.masked), (SAID,), network="bart"),
    "bart_rotate": Objective(BART(bart.turned), (SAID,), network="bart"),
    "bart_shuffle": Objective(BART(bart.shuffled), (SAID,), sentences=2, network="bart"),
    "bert": Objective(Cloze(pair=pairs.next_sentence), (WORDS, PAIR)),
    "electra": Objective(
        Cloze(rates=Rates(0.85, 0.0), pair=pairs.halves),
        (WORDS, Loss("replaced", "content", 50.0, "tokens")),
        network="electra",
    ),
    "ernie_basic": Objective(Cloze(pair=pairs.next_sentence), (WORDS, PAIR), network="ernie"),
    "ernie_distance": Objective(
        Cloze(unit="words", pair=pairs.distance), (WORDS, PAIR), classes=3, sentences=3, network="ernie2", task=4
    ),
    "ernie_entity": Objective(Cloze(unit="entities", pair=pairs.next_sentence), (WORDS, PAIR), network="ernie", task=2),
    "ernie_phrase": Objective(Cloze(unit="phrases", pair=pairs.next_sentence), (WORDS, PAIR), network="ernie", task=1),
    "ernie_reorder": Objective(
        Cloze(unit="words", pair=pairs.reordered), (WORDS, PAIR), classes=9, network="ernie2", task=3
    ),
    "glm_document": Objective(
        GLM(one_long, budget=Budget(0.5, framed=False), marker="tail"), (WORDS,), positions="two_learned", network="glm"
    ),
    "glm_sentence": Objective(
        GLM(whole, "sentences", marker="gap"), (WORDS,), positions="two_learned", sentences=2, network="glm"
    ),
    "glm_token": Objective(GLM(), (WORDS,), positions="two_learned", network="glm"),
    "gpt": Objective(left_to_right, (WORDS,), network="gpt"),
    "mass": Objective(MASS(), (SAID,), network="bart"),
    "mpnet": Objective(MPNet(), (QUERY,), positions="learned_and_buckets", network="mpnet"),
    "nezha": Objective(
        Cloze(unit="words", pair=pairs.next_sentence), (WORDS, PAIR), positions="functional", network="nezha"
    ),
    "palm_cloze": Objective(Cloze(), (WORDS,), network="palm"),
    "palm_continue": Objective(Continue(), (Loss("copy", "decoder"), READ), pieces=3, network="palm"),
    "pegasus": Objective(Pegasus(), (SAID, READ), positions="sinusoid", sentences=2, network="pegasus"),
    "pegasus_large": Objective(
        Pegasus(least=0.15, most=0.45, rates=Rates(0.9, 0.0, "group"), cloze=0.0, noise=0.2),
        (SAID,),
        positions="sinusoid",
        sentences=2,
        network="pegasus",
    ),
    "roberta": Objective(
        Cloze(budget=Budget(rounding="chance", least=0), pair=pairs.documents, segments=(0,)),
        (WORDS,),
        network="roberta",
    ),
    "spanbert": Objective(
        Cloze(geometric, "words", Budget(rounding="up", framed=False), Rates(by="group"), spans="between"),
        (WORDS, Loss("boundary", "content", over="targets_and_one")),
    ),
    "t5": Objective(T5(), (SAID,), positions="buckets", network="t5"),
    "transformer": Objective(Continue(0.5, None), (SAID,), positions="sinusoid", network="transformer", smoothing=0.1),
    "transformer_xl": Objective(behind_memory, (WORDS,), positions="relative", network="transformer_xl"),
    "unilm_both": Objective(Cloze(MOSTLY_ONE, pair=pairs.next_sentence), (WORDS, PAIR), network="unilm"),
    "unilm_left": Objective(Cloze(MOSTLY_ONE, mask=unilm.leftwards, segments=(2,)), (WORDS,), network="unilm"),
    "unilm_right": Objective(Cloze(MOSTLY_ONE, mask=unilm.rightwards, segments=(3,)), (WORDS,), network="unilm"),
    "unilm_sequence": Objective(
        Cloze(MOSTLY_ONE, pair=pairs.halves, mask=unilm.sequence, segments=(4, 5), stop=True),
        (WORDS,),
        sentences=2,
        network="unilm",
    ),
    "wwm": Objective(Cloze(unit="words", pair=pairs.next_sentence), (WORDS, PAIR)),
    "xlnet": Objective(XLNet(), (QUERY,), positions="relative", network="xlnet", again=True),
}
PAIRED: dict[str, Objective] = {  # the same networks on pairs of source and target
    "bart_pairs": Objective(PairView(start="sep", first=True, stop="sep"), (SAID,), network="bart", pieces=1),
    "mass_pairs": Objective(PairView(start="cls", stop="sep"), (SAID,), network="bart", pieces=1),
    "palm_pairs": Objective(PairView(), (Loss("copy", "decoder"),), network="palm", pieces=1),
    "pegasus_pairs": Objective(
        PairView(framed=False), (SAID,), positions="sinusoid", network="pegasus", pieces=1, smoothing=0.1
    ),
    "t5_pairs": Objective(PairView(framed=False), (SAID,), positions="buckets", network="t5", pieces=1),
    "transformer_pairs": Objective(
        PairView(), (SAID,), positions="sinusoid", network="transformer", pieces=1, smoothing=0.1
    ),
}
ROWS = ChainMap(OBJECTIVES, PAIRED)  # a view: an objective that is added to either is here too
MIXTURES: dict[str, dict[str, float]] = {
    "glm": {"glm_document": 0.2, "glm_sentence": 0.3, "glm_token": 0.5},
    "unilm": {"unilm_both": 2, "unilm_left": 1, "unilm_right": 1, "unilm_sequence": 2},
}
STAGES: dict[str, tuple[str, ...]] = {
    "ernie": ("ernie_basic", "ernie_phrase", "ernie_entity"),
    "palm": ("palm_cloze", "palm_continue"),
}
CONTINUAL: dict[str, tuple[str, ...]] = {
    "ernie2": ("ernie_basic", "ernie_phrase", "ernie_entity", "ernie_reorder", "ernie_distance"),
}

__all__ = [
    "CONTINUAL", "MIXTURES", "OBJECTIVES", "PAIRED", "ROWS", "STAGES", "Audit", "Batch", "Loss", "Objective", "Stream",
    "Text", "View", "Vocabulary", "audit", "collate", "one_stream", "pack",
]  # fmt: skip
