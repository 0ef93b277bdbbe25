"""Plain text: a .txt or .md file is one document, a folder one document per file, `-` is standard input as one text.

The text is exactly the content of the file, including line ends; only a byte order mark is removed. Sentences are found
by language/sentences.py. Only the text is written: one document to a file, or any number to a folder (a path without an
extension).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from factpin import files
from factpin.documents import Document, Span
from factpin.errors import BadFile
from factpin.formats import conll
from factpin.formats._folders import document_id, new_file, new_folder, text_bytes, text_of, walk, write_text
from factpin.formats._guess import Head
from factpin.formats._reading import Options, ReadContext
from factpin.formats._writing import losses
from factpin.language.sentences import split_sentences

HOLDS: frozenset[str] = frozenset()
ENDING = ""
TEXTS = (".txt", ".md")


def read(reading: ReadContext) -> Iterator[Document]:
    """Read one document per file. The files of a folder are sorted, and only one is in memory at a time."""
    path, encoding = reading.path, reading.options.encoding
    if path.is_dir():
        return reading.each(((1, file) for file in _texts(path)), lambda file, _: _of_file(file, path, encoding))
    if str(path) == "-":
        return reading.each([(1, path)], lambda file, _: _document("stdin", text_of(file, encoding)))
    if not path.exists():
        raise BadFile(f"{path}: there is no such file. Check the path.")
    return reading.each([(1, path)], lambda file, _: _of_file(file, path.parent, encoding))


def _texts(folder: Path) -> Iterator[Path]:
    return (file for file in walk(folder) if files.plain_name(file).endswith(TEXTS))


def _of_file(file: Path, folder: Path, encoding: str) -> Document:
    id = document_id(file.relative_to(folder).with_name(files.plain_stem(file)))
    return _document(id, text_of(file, encoding))


def _document(id: str, text: str) -> Document:
    return Document(id=id, text=text, sentences=tuple(Span(*pair) for pair in split_sentences(text)))


def write(documents: Iterable[Document], path: Path, options: Options) -> None:
    """Write a folder of .txt files if the path has no extension, otherwise one file for the only document."""
    if str(path) != "-" and not path.suffix:
        with new_folder(path) as folder:
            for doc in documents:
                write_text(new_file(folder, doc.id, ".txt"), doc.text)
        return
    with files.write_bytes(path) as stream:
        first = None
        for doc in documents:
            if first is not None:
                raise BadFile(
                    f"{path}: a text file holds one document, got {first!r} and {doc.id!r}. "
                    f"Give a folder (a path without an extension) for several."
                )
            first = doc.id
            stream.write(text_bytes(doc.text))
        if first is None:
            raise BadFile(f"{path}: a text file holds one document, got none. Nothing was written.")


def lost(doc: Document, options: Options) -> Counter[str]:
    """Count everything but the text. Sentences that would be found again are not lost."""
    missing = losses(doc, HOLDS)
    if missing["sentences"] and list(doc.sentences) == [tuple(pair) for pair in split_sentences(doc.text)]:
        del missing["sentences"]
    return missing


def fits(head: Head) -> bool:
    """Whether it is a .txt or .md file in no other format with these extensions, or a folder of such files."""
    if head.is_folder:
        below = [file.name for file in walk(head.path)]
        return any(map(_is_text, below)) and not any(name.endswith(".ann") or _is_tags(name) for name in below)
    if not _is_text(head.name) or head.path.with_suffix(".ann").exists() or _is_parallel(head):
        return False
    return not conll.fits(head) and not _is_pubtator(head) and head.record is None


def _is_text(name: str) -> bool:
    return files.plain_name(Path(name)).endswith(TEXTS)


def _is_tags(name: str) -> bool:
    return files.plain_name(Path(name)) == "tags.txt"


def _is_parallel(head: Head) -> bool:
    return head.name in ("sentences.txt", "tags.txt") and any(_is_tags(p.name) for p in head.path.parent.iterdir())


def _is_pubtator(head: Head) -> bool:
    first = next((line for line in head.lines if line.strip()), "")
    return first.split("|", 2)[1:2] == ["t"]
