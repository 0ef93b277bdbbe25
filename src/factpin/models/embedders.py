"""Embedders by name: the multilingual one, or any encoder whose token vectors are averaged."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from factpin.errors import BadInput
from factpin.files import open_bytes
from factpin.memory import Store
from factpin.memory.embedder import MULTILINGUAL, Embedder, load_multilingual
from factpin.memory.nouns import Floats
from factpin.memory.search import Search, embed_passages
from factpin.models.runtimes import AUTO, choose_runtime

BATCH = 32
LONGEST = 256  # tokens of a text that are read
FOLDER = "embedder_folder"  # setting of a store: where its encoder is, if it is no encoder of the catalogue
WEIGHTS = ("model.safetensors", "pytorch_model.bin")


def find_embedder(name: str, runtime: str = AUTO) -> Embedder:
    """The embedder of that name: multilingual, an encoder of the catalogue, or a folder."""
    return load_multilingual() if name == MULTILINGUAL else load_mean(name, runtime)


def load_mean(name: str, runtime: str = AUTO) -> Embedder:
    """An encoder whose vectors are the mean of its token vectors."""
    from factpin.encoders import resolve  # noqa: PLC0415  (only this one needs it)

    folder = resolve(name)
    if choose_runtime(folder, runtime) == "onnx":
        from factpin.models.onnx.encoder import load_means  # noqa: PLC0415

        means = load_means(folder, LONGEST)
    else:
        means = _torch_means(folder)

    def embed(texts: Sequence[str]) -> Floats:
        return np.concatenate([means(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)])

    return Embedder(f"{folder.name}@{_digest(folder)}-mean", embed)


def _torch_means(folder: Path) -> Callable[[Sequence[str]], Floats]:
    """Texts -> the means of their token vectors, by torch."""
    import torch  # noqa: PLC0415

    from factpin.encoders import Encoder  # noqa: PLC0415
    from factpin.tokens import Tokenizer  # noqa: PLC0415

    encoder, tokenizer = Encoder.load(folder).eval(), Tokenizer.load(folder)
    most = min(LONGEST, encoder.max_length or LONGEST) - tokenizer.frame_size  # pieces

    @torch.no_grad()
    def means(texts: Sequence[str]) -> Floats:
        ids, mask = encoder.batch([encoder.frame(pieces.ids[:most])[0] for pieces in tokenizer.encode_batch(texts)])
        hidden = encoder(ids, mask).hidden.masked_fill(~mask[..., None], 0.0)  # (B, N, D)
        found: Floats = (hidden.sum(dim=1) / mask.sum(dim=1, keepdim=True)).numpy()
        return found

    return means


def _digest(folder: Path) -> str:
    weights = next(path for file in WEIGHTS if (path := folder / file).is_file())
    with open_bytes(weights) as stream:
        return hashlib.sha256(stream.read()).hexdigest()[:12]


def embed_store(store: Store, name: str | None, runtime: str = AUTO) -> int:
    """Embed the passages that have no vectors yet; how many there were.

    name: an embedder; None for the one that made the vectors of the store, if it has any. A store has the vectors of
    one embedder: those of another are dropped once all passages are embedded anew.
    """
    made_by = list(store.encoders())
    if name is None and not made_by:
        return 0
    embedder = find_embedder(name, runtime) if name is not None else _same(store, made_by[-1], runtime)
    if name is not None and Path(name).is_dir():
        with store.together():
            store.tables.set_setting(FOLDER, str(Path(name).resolve()))
    done = embed_passages(store, embedder.name, embedder.embed)
    for other in made_by:
        if other != embedder.name:
            store.drop_vectors(other)
    return done


def search_of(store: Store, runtime: str = AUTO) -> Search:
    """How a store is searched: by words, and by vectors if it has any, with the encoder that made them."""
    made_by = list(store.encoders())
    if not made_by:
        return Search(store)
    embedder = _same(store, made_by[-1], runtime)
    return Search(store, embedder.embed, embedder.name, embedder.weight)


def _same(store: Store, made_by: str, runtime: str) -> Embedder:
    """The embedder that made the vectors of a store; refuses another one of its name."""
    short = made_by.partition("@")[0]
    folder = store.tables.settings().get(FOLDER, "")
    embedder = find_embedder(folder if Path(folder).name == short and Path(folder).is_dir() else short, runtime)
    if embedder.name != made_by:
        raise BadInput(
            f"{store.tables.url}: its vectors were made by {made_by}, but {embedder.name} is installed. Embed its "
            f"passages again: factpin index --db {store.tables.url} --vectors {embedder.short}"
        )
    return embedder
