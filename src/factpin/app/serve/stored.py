"""The store of a server, used by one thread, to which its connection belongs."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from factpin.app.serve.refusal import Refusal, refusal_of
from factpin.errors import FactpinError, UnknownName

if TYPE_CHECKING:
    from factpin.extraction.knowledge_base import KnowledgeBase

T = TypeVar("T")
MOST_WAITING = 64


class StoreThread:
    """A store that many clients use, one after the other. writable: whether they may edit it."""

    def __init__(self, url: str, *, writable: bool = False, reader: str | None = None) -> None:
        self.url, self.writable, self.waiting = url, writable, 0
        self._thread = ThreadPoolExecutor(1, "store")
        self._base: KnowledgeBase = self._thread.submit(self._open, reader).result()

    def _open(self, reader: str | None) -> "KnowledgeBase":
        from factpin.answers.marks import open_marked  # noqa: PLC0415  (heavy)
        from factpin.extraction.knowledge_base import KnowledgeBase  # noqa: PLC0415

        return KnowledgeBase(open_marked(self.url), reader)

    async def run(self, work: Callable[["KnowledgeBase"], T]) -> T:
        """Do something with the store."""
        if self.waiting >= MOST_WAITING:
            raise Refusal(429, "Too many requests wait for the store. Try again later.", retry=2)
        self.waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._base)
        except FactpinError as error:
            refusal = refusal_of(error)
            message = self._without_address(refusal.detail)
            raise Refusal(
                404 if isinstance(error, UnknownName) else refusal.status_code,
                message,
                kind=refusal.kind,
                field=refusal.field,
            ) from None
        finally:
            self.waiting -= 1

    def _without_address(self, message: str) -> str:
        """A message without the place of the store, which is none of a client's business."""
        for address in (self.url, self._base.store.tables.url):
            message = message.removeprefix(f"{address}: ").replace(str(address), "the store")
        return message[:1].upper() + message[1:]

    def close(self) -> None:
        """Close the store after what waits."""
        self._thread.submit(self._base.close).result()
        self._thread.shutdown()
