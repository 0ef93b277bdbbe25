"""Folders with one file per document: document ids as file names and back, and a walk over such a folder.

Slashes of an id become sub-folders. Characters that are unsafe in a file name are written as %XX of their UTF-8 bytes,
so that the id can be restored; a single "%" is an empty part. Only a part that is too long for a file name is cut.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote_to_bytes

from factpin import files
from factpin.errors import BadDocument, BadFile, BadRecord

BOM = "\ufeff"
LONGEST = 180  # bytes of a part of the path without suffixes; file systems allow 255
_ODD = re.compile(r'[%\\:*?"<>|\x00-\x1f\x7f\ud800-\udfff]+|^\.|[. ]$')


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder that becomes `path` if nothing fails; a folder with files is never replaced."""
    if path.is_dir() and any(path.iterdir()):
        raise BadFile(f"{path}: the folder is not empty. Give a new one, or empty it first.")
    if path.exists() and not path.is_dir():
        raise BadFile(f"{path}: expected a folder to write, but this is a file. Give a new folder.")
    try:
        with files.write_folder(path) as folder:
            yield folder
    except OSError as error:
        raise BadFile(f"{path}: cannot be written ({error.strerror}). Choose another place.") from None


def new_file(folder: Path, id: str, ending: str) -> Path:
    """The path for a document in `folder`; a second one with the same id gets a number."""
    *parents, last = [_escaped(part) for part in id.split("/")]
    parents = [re.sub(r"\.(?=[a-z]+$)", "%2E", part) for part in parents]  # not the file a.txt, for "a.txt/b"
    place = folder.joinpath(*parents)
    place.mkdir(parents=True, exist_ok=True)
    path = place / (last + ending)
    number = 2
    while path.exists():
        path = place / f"{last}-{number}{ending}"
        number += 1
    return path


def _escaped(part: str) -> str:
    if not part:
        return "%"
    return files.shortened(_ODD.sub(lambda m: quoted(m[0]), part), LONGEST)


def quoted(text: str) -> str:
    """%XX for every byte, including letters."""
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))


def document_id(relative: Path) -> str:
    """The id of a file from its path inside the folder, without its suffix."""
    parts = []
    for part in relative.parts:
        raw = unquote_to_bytes(os.fsencode(part))
        try:
            parts.append("" if part == "%" else raw.decode("utf-8", "surrogatepass"))
        except UnicodeDecodeError:
            parts.append(files.readable(part))
    return "/".join(parts)


def walk(folder: Path) -> Iterator[Path]:
    """All files below a folder in sorted order, without hidden files and linked folders."""
    open_folders = [iter(_visible(folder))]
    while open_folders:
        entry = next(open_folders[-1], None)
        if entry is None:
            open_folders.pop()
        elif entry.is_dir(follow_symlinks=False):
            open_folders.append(iter(_visible(Path(entry.path))))
        elif Path(entry.path).is_file():  # False for a loop of links, where that of the entry raises an error
            yield Path(entry.path)


def _visible(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((e for e in entries if not e.name.startswith(".")), key=lambda e: e.name)
    except OSError as error:
        raise BadFile(f"{folder}: cannot be read ({error.strerror}). Check its permissions.") from None


def text_of(path: Path, encoding: str) -> str:
    """The text of one file of a folder. Errors are those of a record, not of the whole folder."""
    try:
        return files.read_text(path, encoding)
    except BadFile as error:
        raise BadRecord(str(error).removeprefix(f"{path}: "), file=str(path), line=1, kind="bad_file") from None


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8 with its line ends. A leading byte order mark is doubled, since reading removes one."""
    with files.write_bytes(path) as stream:
        stream.write(text_bytes(text))


def text_bytes(text: str) -> bytes:
    """The bytes that read_text turns into `text`."""
    try:
        return (BOM + text if text.startswith(BOM) else text).encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadDocument(f"character {error.start} is a lone surrogate; a file cannot hold it. Remove it.") from None
