"""Model folders are not trusted: what is in them is checked before anything is built from it.

SHA256SUMS, written when a model is saved, lists the digest of every file that decides what the model finds (`sha256sum
--check` reads it). A file that has changed is refused. Folders without the list, such as those of version 0.1, load.
The graph for onnxruntime joins the list when it is written, and leaves it when it is removed.

The shapes of all weights are read from the header of model.safetensors. A config whose sizes none of them has would
only take memory, and is refused; so is a vocabulary with ids beyond the first dimension of every weight.
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from factpin.errors import BadModel, FactpinError
from factpin.files import open_bytes, write_bytes
from factpin.words import count

SUMS = "SHA256SUMS"
WEIGHTS = "model.safetensors"
LISTED = ("encoder/config.json", "factpin.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
GRAPHS = ("graph.int8.json", "graph.int8.onnx", "graph.json", "graph.onnx")
CHUNK = 1 << 20
DEEPEST = 200  # levels of nesting in JSON
LARGEST_HEADER = 100_000_000  # bytes, as the safetensors library has it
LARGEST_JSON = 1 << 28  # bytes of one of the other files
LAYERS = ("num_hidden_layers", "n_layers", "num_layers", "n_layer")
SIZES = ("hidden_size", "dim", "d_model", "embedding_size", "vocab_size")  # some weight has a dimension of each
BOUND = 1 << 24  # no other number of a config is larger


def write_sums(folder: Path, settings: bytes) -> None:
    """List the digests of a folder whose factpin.json, not written yet, will be these bytes."""
    digests = {name: _digest(folder / name) for name in LISTED if (folder / name).is_file() and name != "factpin.json"}
    _write(folder, digests | {"factpin.json": hashlib.sha256(settings).hexdigest()})


def list_graph(folder: Path) -> None:
    """Bring the lines of the graph up to date, in a folder that has a list."""
    if (folder / SUMS).is_file():
        kept = {name: digest for name, digest in _listed(folder).items() if name not in GRAPHS}
        _write(folder, kept | {name: _digest(folder / name) for name in GRAPHS if (folder / name).is_file()})


def _write(folder: Path, digests: dict[str, str]) -> None:
    with write_bytes(folder / SUMS) as stream:
        stream.write("".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items())).encode())


def _listed(folder: Path) -> dict[str, str]:
    """The digests of the list by the names of the files that count."""
    lines = [line.partition("  ") for line in bytes_of(folder / SUMS).decode("utf-8", "replace").splitlines()]
    return {name: digest for digest, _, name in lines if name in LISTED or name in GRAPHS}


def check_sums(folder: Path) -> None:
    """Refuse a folder whose files are not those that were written."""
    for name, digest in _listed(folder).items():
        if not (folder / name).is_file() or _digest(folder / name) != digest:
            again = " or write its graph again (factpin onnx FOLDER)" if name in GRAPHS else ""
            raise BadModel(
                f"{folder / name}: not as it was saved ({SUMS} has another digest). The file is damaged: copy the "
                f"model again{again}. If you changed it on purpose, remove {folder / SUMS}."
            )


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with open(path, "rb") as stream:
        while block := stream.read(CHUNK):
            found.update(block)
    return found.hexdigest()


@contextmanager
def refusing(folder: Path) -> Iterator[None]:
    """Turn whatever a malformed folder makes the libraries raise into BadModel."""
    try:
        yield
    except FactpinError:
        raise
    except Exception as error:  # transformers, tokenizers and torch raise almost anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise BadModel(
            f"{folder}: cannot be loaded ({reason}). A file of it is damaged, or of another version; copy or train "
            f"the model again."
        ) from None


def weight_files(folder: Path, upon: str) -> tuple[Path, ...]:
    """The files that hold the weights of a model: its own, and those of the folder beside it that it shares."""
    return (folder / WEIGHTS, *((folder.parent / upon / WEIGHTS,) if upon else ()))


def check_folder(folder: Path, weights: tuple[Path, ...]) -> None:
    """Refuse a folder that is damaged, or whose settings do not fit the weights in these files."""
    check_sums(folder)
    shapes = [shape for file in weights for shape in shapes_of(file)]
    largest = max((size for shape in shapes for size in shape), default=0)
    _check_config(folder / "encoder" / "config.json", shapes)
    _check_tokenizer(folder / "tokenizer.json", largest)


def shapes_of(path: Path) -> list[tuple[int, ...]]:
    """The shapes in the header of a file of weights. Nothing else is read."""
    if not path.is_file():
        raise BadModel(f"{path}: is missing. Copy or train the model again.")
    size = path.stat().st_size
    with open(path, "rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or length > min(size - 8, LARGEST_HEADER):
            raise BadModel(f"{path}: the weights cannot be loaded (no header). The file is cut short; copy it again.")
        header = read_json(path, stream.read(length))
    rows = [row for name, row in header.items() if name != "__metadata__"]
    if not rows or not all(_is_row(row, size - 8 - length) for row in rows):
        raise BadModel(f"{path}: the weights cannot be loaded (a damaged header). Copy or train the model again.")
    return [tuple(row["shape"]) for row in rows]


def _is_row(row: Any, room: int) -> bool:
    """Whether this describes a weight that lies in the file."""
    if not isinstance(row, dict) or not isinstance(row.get("shape"), list):
        return False
    offsets = row.get("data_offsets")
    if not isinstance(offsets, list) or [type(end) for end in offsets] != [int, int]:
        return False
    return all(type(n) is int and 0 <= n <= room for n in (*row["shape"], *offsets)) and offsets[0] <= offsets[1]


def _check_config(path: Path, shapes: list[tuple[int, ...]]) -> None:
    config = read_json(path, bytes_of(path))
    sizes = {size for shape in shapes for size in shape}
    for name, value in _numbers(config):
        if name in LAYERS and not 0 < value <= len(shapes):
            raise BadModel(
                f"{path}: {name} is {value}, but the file has {count(len(shapes), 'weight')}. The file is damaged."
            )
        if name in SIZES and value not in sizes:
            raise BadModel(f"{path}: {name} is {value}, but no weight has this size. The file is damaged.")
        if abs(value) > BOUND and not name.endswith(("eps", "_id", "ids")):
            raise BadModel(f"{path}: {name} is {value}: expected at most {BOUND}. The file is damaged.")


def _numbers(config: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in config.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield name, value


def _check_tokenizer(path: Path, largest: int) -> None:
    raw = bytes_of(path)
    record = read_json(path, raw)
    model = record.get("model")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    added = record.get("added_tokens") or []
    if not isinstance(vocabulary, dict | list) or not vocabulary or not isinstance(added, list):
        raise BadModel(f"{path}: has no vocabulary. The file is damaged; copy or train the model again.")
    ids = list(vocabulary.values()) if isinstance(vocabulary, dict) else [len(vocabulary) - 1]
    ids += [token.get("id") if isinstance(token, dict) else None for token in added]
    ids += _whole_numbers(record.get("post_processor"))  # ids of the pieces that frame a text
    wrong = next((id for id in ids if type(id) is not int or not 0 <= id < largest), None)
    if wrong is not None or (None in ids):
        raise BadModel(f"{path}: the id {wrong!r} of a piece has no weights. The file is damaged, or of another model.")
    for pattern in _patterns(record) if b'"Regex"' in raw else ():
        if is_slow(pattern):
            raise BadModel(f"{path}: its pattern {pattern[:60]!r} repeats what repeats, and may never end.")


def _whole_numbers(value: Any) -> Iterator[int]:
    """All integers in a JSON value."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _whole_numbers(item)
    elif type(value) is int:
        yield value


def _patterns(value: Any) -> Iterator[str]:
    """All regular expressions in a tokenizer."""
    if isinstance(value, dict):
        if isinstance(value.get("Regex"), str):
            yield value["Regex"]
        for name, item in value.items():
            if name != "vocab":
                yield from _patterns(item)
    elif isinstance(value, list) and not (value and isinstance(value[0], str)):
        for item in value:
            yield from _patterns(item)


UNBOUNDED = re.compile(r"[*+]|\{\d+,\}")
ATOM = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)  # escapes and classes


def is_slow(pattern: str) -> bool:
    """Whether a group that may repeat without end holds a choice or another such repeat: (a+)+, (a|aa)*."""
    plain = ATOM.sub("x", pattern)
    inside: list[bool] = []  # of each open group: whether it holds a choice or an endless repeat
    for at, c in enumerate(plain):
        if c == "(":
            inside.append(False)
        elif c == ")" and inside:
            found = inside.pop()
            if found and UNBOUNDED.match(plain, at + 1):
                return True
            if inside and (found or UNBOUNDED.match(plain, at + 1)):
                inside[-1] = True
        elif inside and (c == "|" or UNBOUNDED.match(plain, at)):
            inside[-1] = True
    return False


def bytes_of(path: Path) -> bytes:
    """What is in a file other than the weights; nothing if there is none."""
    if not path.is_file():
        return b""
    if (size := path.stat().st_size) > LARGEST_JSON:
        raise BadModel(f"{path}: has {size:,} bytes; expected at most {LARGEST_JSON:,}. Copy or train the model again.")
    with open_bytes(path) as stream:
        return stream.read()


def read_json(path: Path, raw: bytes) -> dict[str, Any]:
    """A JSON object that is not nested deeply."""
    depth = deepest = 0
    for mark in (
        re.findall(rb'"(?:\\.|[^"\\])*"|[\[{]|[\]}]', raw) if raw.count(b"[") + raw.count(b"{") > DEEPEST else ()
    ):
        depth += (mark in b"[{") - (mark in b"]}")
        deepest = max(deepest, depth)
    try:
        record = orjson.loads(raw) if deepest <= DEEPEST else None
    except orjson.JSONDecodeError as error:
        raise BadModel(f"{path}: not JSON ({error}). The file is damaged; copy or train the model again.") from None
    if not isinstance(record, dict):
        raise BadModel(f"{path}: expected a JSON object. The file is damaged; copy or train the model again.")
    return record
