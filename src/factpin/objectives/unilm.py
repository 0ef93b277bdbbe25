"""UniLM: one cloze under four masks. A mask is drawn for each batch, two to two to one to one (`MIXTURES`).

    both          everybody sees everybody                         segments 0, 1    and next sentence prediction
    left, right   cells to the left, to the right, and itself      segments 2, 3
    sequence      the first part for everybody, the second from left to right       segments 4, 5

Under the last mask the [SEP] behind the second part can be chosen like any piece: what is generated stops there. Public
fine-tuning code does that. No pretraining code is public; the segment of the right-to-left mask is inferred.
"""

from factpin.layers.masks import MaskSpec, anticausal, causal, prefix
from factpin.objectives.tape import Frame


def leftwards(f: Frame) -> MaskSpec:
    return causal(len(f.tape))


def rightwards(f: Frame) -> MaskSpec:
    return anticausal(len(f.tape))


def sequence(f: Frame) -> MaskSpec:
    return prefix(len(f.tape), int((f.parts == 0).sum()))
