"""Proofs: what is claimed of the pretraining methods and of the systems that answer, checked; `factpin verify`.

    structure   exact: nothing leaks, controls that must fail do, golden examples, samplers, sums to one, parity
    learning    made-up languages, the mechanism on and off, three seeds

SYSTEMS names the methods and their rows in OBJECTIVES, ANSWERS the systems that read and answer and their proofs.
"""

from proofs import (
    learn_blanks,
    learn_cloze,
    learn_electra,
    learn_order,
    learn_pairs,
    learn_sequence,
    learn_shape,
    memory_cogltx,
    memory_cogqa,
    memory_eae,
    memory_fae,
    memory_knowbert,
    memory_rag,
    memory_realm,
)
from proofs.compare import Proof
from proofs.experiment import Bar, Experiment

SYSTEMS: dict[str, tuple[str, ...]] = {
    "albert": ("albert",),
    "bart": ("bart", "bart_delete", "bart_infill", "bart_mask", "bart_rotate", "bart_shuffle"),
    "bert": ("bert",),
    "electra": ("electra",),
    "ernie": ("ernie_basic", "ernie_distance", "ernie_entity", "ernie_phrase", "ernie_reorder"),
    "glm": ("glm_document", "glm_sentence", "glm_token"),
    "gpt": ("gpt",),
    "mass": ("mass",),
    "mpnet": ("mpnet",),
    "nezha": ("nezha",),
    "palm": ("palm_cloze", "palm_continue"),
    "pegasus": ("pegasus", "pegasus_large"),
    "roberta": ("roberta",),
    "spanbert": ("spanbert",),
    "t5": ("t5",),
    "transformer": ("transformer",),
    "transformer_xl": ("transformer_xl",),
    "unilm": ("unilm_both", "unilm_left", "unilm_right", "unilm_sequence"),
    "wwm": ("wwm",),
    "xlnet": ("xlnet",),
}
ANSWERS: dict[str, tuple[Proof, ...]] = {
    "cogltx": memory_cogltx.PROOFS,
    "cogqa": memory_cogqa.PROOFS,
    "eae": memory_eae.PROOFS,
    "fae": memory_fae.PROOFS,
    "knowbert": memory_knowbert.PROOFS,
    "rag": memory_rag.PROOFS,
    "realm": memory_realm.PROOFS,
}
FAMILIES = (
    *(learn_blanks, learn_cloze, learn_electra, learn_order, learn_pairs, learn_sequence, learn_shape),
    *(memory_cogltx, memory_cogqa, memory_eae, memory_fae, memory_knowbert, memory_rag, memory_realm),
)
EXPERIMENTS: dict[str, Experiment] = dict(
    sorted((name, one) for family in FAMILIES for name, one in family.EXPERIMENTS.items())
)

__all__ = ["ANSWERS", "EXPERIMENTS", "SYSTEMS", "Bar", "Experiment"]
