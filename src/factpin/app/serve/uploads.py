"""Uploaded files: each is read by a process of its own, with limits on time and memory."""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from factpin import errors
from factpin.app.serve.limits import Limits
from factpin.app.serve.refusal import Refusal, refusal_of
from factpin.documents import Document
from factpin.documents.native import from_json
from factpin.errors import BadFile, did_you_mean
from factpin.extraction.inputs import ENDINGS
from factpin.extraction.pdf import pages_of
from factpin.words import count

MOST_WAITING = 32
LONGEST_NAME = 200


class FileReaders:
    """Reads uploaded files, a few at once."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.waiting = limits, 0
        self._free = asyncio.Semaphore(limits.file_readers)

    async def read(self, content: bytes, name: str, column: str = "") -> list[Document]:
        """The documents of a file; what it is follows from its name. column: of a table, the one with the texts."""
        plain = (
            Path(name.replace("\\", "/")).name.encode("utf-8", "replace").decode().replace("\x00", "")[-LONGEST_NAME:]
        )
        ending = Path(plain).suffix.lower()
        if ending not in ENDINGS:
            near = did_you_mean(ending, ENDINGS)
            raise Refusal(
                415, f"Cannot tell what the file is from its name.{near} Known endings: {', '.join(ENDINGS)}."
            )
        if self.waiting >= MOST_WAITING:
            raise Refusal(429, "Too many files wait to be read. Try again later.", retry=5)
        self.waiting += 1
        try:
            async with self._free:
                return await self._run(content, plain, ending, column.replace("\x00", ""))
        finally:
            self.waiting -= 1

    async def _run(self, content: bytes, name: str, ending: str, column: str) -> list[Document]:
        with TemporaryDirectory(prefix="factpin-") as folder:
            path = Path(folder) / f"file{ending}"
            await asyncio.to_thread(path.write_bytes, content)
            arguments = (str(path), ENDINGS[ending], name, Path(name).stem or "file", column)
            bounds = (str(int(self.limits.file_seconds)), str(self.limits.file_memory))
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "factpin.app.serve.read_file", *arguments, *bounds),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            try:
                printed, _ = await asyncio.wait_for(process.communicate(), self.limits.file_seconds)
            except TimeoutError:
                message = (
                    f"The file took longer than {self.limits.file_seconds:g} seconds to read. Send its text instead."
                )
                raise Refusal(413, message, field="file") from None
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        if process.returncode:
            raise Refusal(413, "The file needs too much time or memory to read. Send its text instead.", field="file")
        return self._documents(printed)

    def _documents(self, printed: bytes) -> list[Document]:
        found = []
        for line in printed.splitlines():
            record = orjson.loads(line)
            if "error" in record:
                kind, message = record["error"]
                if kind in ("BadDocument", "OffsetMismatch", "BadRecord"):
                    raise Refusal(422, message, kind=kind, field="file")
                raise refusal_of(getattr(errors, kind, BadFile)(message), "file")
            found.append(from_json(record))
        if len(found) > self.limits.texts:
            message = f"The file has {count(len(found), 'document')}; at most {self.limits.texts:,} are read at once."
            raise Refusal(413, message, field="file")
        if any(len(pages_of(doc)) > self.limits.pages for doc in found):
            raise Refusal(
                413, f"The file has more than {count(self.limits.pages, 'page')}. Send it in parts.", field="file"
            )
        return found
