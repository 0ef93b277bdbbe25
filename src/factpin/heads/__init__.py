"""Heads: token vectors in, factored scores out; `loss` compares them with gold, `to_arrays` hands them to the task."""

from factpin.heads.atlop import Atlop, AtlopConfig
from factpin.heads.cells import Cells
from factpin.heads.crf import CRF, CRFConfig
from factpin.heads.efficient_global_pointer import EfficientGlobalPointer, EfficientGlobalPointerConfig
from factpin.heads.event_linker import EventLinker, EventLinkerConfig
from factpin.heads.global_pointer import GlobalPointer, GlobalPointerConfig
from factpin.heads.gplinker import GPLinker, GPLinkerConfig
from factpin.heads.mention_pair import MentionPair, MentionPairConfig

HEADS: dict[str, type] = {
    "atlop": Atlop,
    "crf": CRF,
    "efficient_global_pointer": EfficientGlobalPointer,
    "event_linker": EventLinker,
    "global_pointer": GlobalPointer,
    "gplinker": GPLinker,
    "mention_pair": MentionPair,
}
CONFIGS: dict[str, type] = {
    "atlop": AtlopConfig,
    "crf": CRFConfig,
    "efficient_global_pointer": EfficientGlobalPointerConfig,
    "event_linker": EventLinkerConfig,
    "global_pointer": GlobalPointerConfig,
    "gplinker": GPLinkerConfig,
    "mention_pair": MentionPairConfig,
}
SPAN_HEADS = ("crf", "efficient_global_pointer", "global_pointer")  # three heads of one task

__all__ = ["CONFIGS", "HEADS", "SPAN_HEADS", "Cells"]
