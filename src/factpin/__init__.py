"""factpin turns Chinese and English text into facts that can be checked.

    import factpin
    extractor = factpin.load("zh-entities")          # a shipped model's name, or a model folder
    for document in extractor.extract(["谷爱凌出生于旧金山。"]):
        print(document.mentions)

Importing factpin loads no torch: that waits until a model is.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from factpin.models.extractor import Extractor

__all__ = ["load"]


def load(model: str | Path, device: str = "cpu") -> "Extractor":
    """A shipped model by name, or a model folder; `device` as torch names it."""
    from factpin.models.extractor import Extractor  # noqa: PLC0415  (torch waits until here)
    from factpin.models.shipped import find_model  # noqa: PLC0415

    return Extractor.load(find_model(str(model)), device)
