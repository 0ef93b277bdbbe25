"""Use a server (`factpin serve`) from Python, with nothing but the standard library underneath.

client = Client("http://127.0.0.1:8400")
documents = client.extract(["谷爱凌出生于旧金山。", "Marie Curie was born in Warsaw."])
"""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen
from uuid import uuid4

from factpin.documents import Answer, Document
from factpin.documents.answer import answer_from_json
from factpin.documents.native import from_json
from factpin.errors import BadInput, FactpinError

AGAIN = (429, 503)  # answers after which to try again
LONGEST_WAIT = 60.0  # seconds between two attempts


class ServerError(FactpinError):
    """A server refused a request or could not be reached. status: of HTTP, 0 if there was no answer."""

    def __init__(self, message: str, *, status: int = 0, kind: str = "", field: str = "") -> None:
        super().__init__(message)
        self.status, self.kind, self.field = status, kind, field


class Client:
    """A server. attempts: how often a request is sent while the server has no room for it."""

    def __init__(self, url: str, token: str | None = None, timeout: float = 120.0, attempts: int = 5) -> None:
        if not url.startswith(("http://", "https://")):
            raise BadInput(f"{url!r} is not the address of a server; expected something like http://127.0.0.1:8400.")
        self.url, self.timeout, self.attempts = url.rstrip("/"), timeout, attempts
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    @cached_property
    def about(self) -> dict[str, Any]:
        """The models of the server, its limits, and whether it has a store."""
        return self._json("GET", "/v1/models")

    def extract(self, texts: str | Iterable[str], **options: Any) -> list[Document]:
        """A document for each text, in order. options: those of /v1/extract, such as min_score=0.8."""
        given = [texts] if isinstance(texts, str) else list(texts)
        found: list[Document] = []
        for group in self._groups(given):
            answer = self._json("POST", "/v1/extract", {"texts": group, "options": options})
            found += [from_json({**doc, "id": f"d{len(found) + i}"}) for i, doc in enumerate(answer["documents"])]
        return found

    def extract_file(self, path: str | Path, **options: Any) -> list[Document]:
        """The documents of a file: text, Markdown, HTML, PDF, Word, EPUB, JSONL, or a table of texts."""
        path, border = Path(path), uuid4().hex
        name = path.name.replace('"', "%22").replace("\n", " ")
        body = (
            f'--{border}\r\nContent-Disposition: form-data; name="options"\r\n\r\n{json.dumps(options)}\r\n'
            f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        ).encode() + path.read_bytes()
        content_type = f"multipart/form-data; boundary={border}"
        answer = self._send("POST", "/v1/files", body + f"\r\n--{border}--\r\n".encode(), content_type)
        return [from_json(doc) for doc in json.loads(answer)["documents"]]

    def ask(self, question: str, **options: Any) -> Answer:
        """The answer of the server's store. options: those of /v1/ask, such as mode="facts"."""
        return answer_from_json(self._json("POST", "/v1/ask", {"question": question, **options}))

    def _groups(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """The texts in parts that fit into a request."""
        limits = self.about["limits"]
        group: list[str] = []
        size = 0
        for text in texts:
            bytes_of = len(json.dumps(text)) + 2
            if group and (len(group) >= limits["texts"] or size + bytes_of > limits["body_bytes"] // 2):
                yield group
                group, size = [], 0
            group.append(text)
            size += bytes_of
        if group:
            yield group

    def _json(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        content = None if body is None else json.dumps(body).encode()
        record: dict[str, Any] = json.loads(self._send(method, path, content, "application/json"))
        return record

    def _send(self, method: str, path: str, body: bytes | None, content_type: str) -> bytes:
        """The body of the answer; waits and tries again while the server is busy."""
        headers = {**self._headers, **({"Content-Type": content_type} if body is not None else {})}
        for attempt in range(1, self.attempts + 1):
            request = Request(self.url + path, body, headers, method=method)
            try:
                with urlopen(request, timeout=self.timeout) as answer:
                    content: bytes = answer.read()
                    return content
            except HTTPError as error:
                with error:
                    if error.code not in AGAIN or attempt == self.attempts:
                        raise _error_of(error) from None
                    time.sleep(_wait(error))
            except (URLError, HTTPException, OSError) as error:
                reason = getattr(error, "reason", error)
                raise ServerError(f"{self.url}: no answer ({reason}). Is `factpin serve` running there?") from None
        raise ServerError(f"{self.url}: no answer.")


def _wait(answer: HTTPResponse | HTTPError) -> float:
    given = answer.headers.get("Retry-After", "1") or "1"
    return min(LONGEST_WAIT, float(given) if given.isdecimal() else 1.0)


def _error_of(answer: HTTPError) -> ServerError:
    try:
        error = json.loads(answer.read())["error"]
        return ServerError(error["message"], status=answer.code, kind=error["kind"], field=error.get("field", ""))
    except (ValueError, KeyError, TypeError):
        return ServerError(f"The server answered {answer.code}.", status=answer.code)
