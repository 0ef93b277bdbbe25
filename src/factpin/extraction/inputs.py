"""The files of a run: what was named, and what is in named folders. Each has a name and an id of its own."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from factpin import files
from factpin.errors import BadFile, BadInput
from factpin.extraction.rejects import beside

ENDINGS = {
    ".txt": "text",
    ".text": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".epub": "epub",
    ".csv": "csv",
    ".tsv": "tsv",
}
IRREGULAR = "pipe or broken link"  # what a folder may hold beside files
KINDS = ("text", "markdown", "jsonl", "html", "pdf", "docx", "epub", "csv", "tsv")
MANY = ("jsonl", "csv", "tsv")  # kinds with many documents in a file


@dataclass(frozen=True)
class Input:
    """A file to read."""

    path: Path
    kind: str
    name: str  # unique in a run: the path inside the named folder
    id: str  # of its document: the name without its ending, if that is unique too
    column: str = ""  # of a CSV or TSV file: the one with the text

    @property
    def has_many(self) -> bool:
        """Whether the file may have more than one document."""
        return self.kind in MANY


def find_inputs(
    paths: Sequence[Path], kind: str | None = None, *, column: str = "", exclude: Iterable[Path] = ()
) -> tuple[list[Input], Counter[str]]:
    """Named files and known files in folders, in order; and how many files with other endings were skipped.

    Hidden files and what is in `exclude` are no inputs. With `kind`, every file in a folder is read as that kind.
    """
    skipped: Counter[str] = Counter()
    excluded = {real(path) for path in exclude}
    found: dict[Path, tuple[Path, str]] = {}  # real path -> (file, name), so that a file named twice is read once
    for path in paths:
        if str(path) == "-":
            found.setdefault(path, (path, "stdin"))
        elif path.is_dir():
            folder = f"{real(path).name}/" if len(paths) > 1 else ""
            for file in _walk(path, excluded):
                if not file.is_file():  # reading a pipe could block forever
                    skipped[IRREGULAR] += 1
                elif kind is None and _ending(file) not in ENDINGS:
                    skipped[_ending(file) or "no ending"] += 1
                else:
                    found.setdefault(real(file), (file, folder + file.relative_to(path).as_posix()))
        elif path.exists():
            found.setdefault(real(path), (path, path.name))
        else:
            text = " A text is read from standard input: echo TEXT | factpin extract -" if " " in path.name else ""
            raise BadFile(f"{path}: there is no such file or folder. Check the path.{text}")
    return _named(found, kind, column), skipped


def real(path: Path) -> Path:
    """A path without links; a loop of links stays as it is."""
    return Path(os.path.realpath(path))


def _walk(folder: Path, excluded: Collection[Path]) -> Iterator[Path]:
    """All files below a folder, in order."""

    def refuse(error: OSError) -> None:
        raise BadFile(f"{error.filename}: cannot be read ({error.strerror}). Check its permissions.")

    for place, folders, names in os.walk(folder, onerror=refuse):
        here = Path(place)
        folders[:] = sorted(f for f in folders if not f.startswith(".") and real(here / f) not in excluded)
        for name in sorted(names):
            if not name.startswith(".") and real(here / name) not in excluded:
                yield here / name


def _named(found: dict[Path, tuple[Path, str]], kind: str | None, column: str) -> list[Input]:
    """Inputs with unique names and ids."""
    count = Counter(files.readable(name) for _, name in found.values())
    names = [
        files.readable(name) if count[files.readable(name)] == 1 else files.readable(place.as_posix().lstrip("/"))
        for place, (_, name) in found.items()
    ]
    bare = [str(Path(name).with_name(files.plain_stem(Path(name)))) for name in names]
    count = Counter(bare)
    ids = [id if count[id] == 1 else name for id, name in zip(bare, names, strict=True)]
    if len(set(ids)) < len(ids):  # a.txt, a.md and a.md.txt
        ids = names
    paths = [path for path, _ in found.values()]
    return [
        Input(path, kind or kind_of(path), name, id, column) for path, name, id in zip(paths, names, ids, strict=True)
    ]


def _ending(path: Path) -> str:
    return Path(files.plain_name(path)).suffix.lower()


def kind_of(path: Path) -> str:
    """The kind of a file, by its ending; standard input is text."""
    if str(path) == "-":
        return "text"
    if _ending(path) not in ENDINGS:
        raise BadInput(
            f"{path}: its ending does not say what it is (known: {', '.join(ENDINGS)}). "
            f"Say it with --from: {', '.join(KINDS)}."
        )
    return ENDINGS[_ending(path)]


def expected_documents(inputs: Sequence[Input]) -> int | None:
    """The number of documents in these inputs, where it is known before they are read."""
    return None if any(source.has_many for source in inputs) else len(inputs)


def rejects_of(output: Path) -> Path:
    """The file for bad files and records: next to the output, or inside it where it is a folder."""
    return output / "factpin-rejects.jsonl" if is_folder(output) else beside(output)


def is_folder(output: Path) -> bool:
    """Whether an output path is a folder: an existing one, or a name without an ending that is no pipe or device."""
    if str(output) == "-":
        return False
    return output.is_dir() or not (output.suffix or (output.exists() and not output.is_file()))
