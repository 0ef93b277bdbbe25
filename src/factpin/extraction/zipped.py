"""The parts of files that are ZIP archives of XML: docx and EPUB.

The archive is read in memory, within the limit for one text, so that a small file that unpacks to gigabytes is refused.
Entities are refused too: neither format needs them, and they can make a short file endless.
"""

import io
import lzma
import zipfile
import zlib
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from factpin import files
from factpin.errors import BadFile
from factpin.files.limits import too_long

DAMAGED = (zipfile.BadZipFile, EOFError, OSError, RuntimeError, ValueError, lzma.LZMAError, zlib.error)
ENTITY = b"<!ENTITY"


class Archive:
    """The parts of one archive, by name."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind = path, kind
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(files.read_bytes(path)))
        except DAMAGED as error:
            raise self.damaged(error) from None
        self._sizes = {part.filename: part.file_size for part in self._zip.infolist()}
        self._room = files.record_limit()

    def __contains__(self, name: str) -> bool:
        return name in self._sizes

    def read(self, name: str) -> bytes:
        """The bytes of a part."""
        if name not in self._sizes:
            raise self.damaged(f"there is no {name} in it")
        self._room -= self._sizes[name]
        if self._room < 0:
            raise too_long(self.path, "its unpacked text")
        try:
            return self._zip.read(name)
        except DAMAGED as error:
            raise self.damaged(error) from None

    def xml(self, name: str) -> Element:
        """A part as XML."""
        raw = self.read(name)
        if ENTITY in raw:
            raise self.damaged(f"{name} declares entities")
        try:
            return ElementTree.fromstring(raw)
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            raise self.damaged(f"{name}: {error}") from None

    def damaged(self, reason: object) -> BadFile:
        """The error of a file that is not what it should be."""
        return BadFile(f"{self.path}: cannot be read as {self.kind} ({reason}). Save it again, or as text.")
