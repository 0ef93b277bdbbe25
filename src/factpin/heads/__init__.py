"""How spans are scored: token vectors in, factored scores out; `loss` teaches them cells and `hits` finds cells."""

from factpin.heads.cells import Cells
from factpin.heads.crf import CRF, CRFConfig
from factpin.heads.efficient_global_pointer import EfficientGlobalPointer, EfficientGlobalPointerConfig
from factpin.heads.global_pointer import GlobalPointer, GlobalPointerConfig

HEADS: dict[str, type] = {
    "crf": CRF,
    "efficient_global_pointer": EfficientGlobalPointer,
    "global_pointer": GlobalPointer,
}
CONFIGS: dict[str, type] = {
    "crf": CRFConfig,
    "efficient_global_pointer": EfficientGlobalPointerConfig,
    "global_pointer": GlobalPointerConfig,
}

__all__ = ["CONFIGS", "HEADS", "Cells"]
