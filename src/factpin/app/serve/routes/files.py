"""POST /v1/files: an uploaded file to documents."""

import time
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, UploadFile
from pydantic import ValidationError
from starlette.responses import Response

from factpin.app.serve.answers import ERRORS, client_of, until_gone
from factpin.app.serve.extraction import answer, check_length, read_options
from factpin.app.serve.refusal import Refusal
from factpin.app.serve.service import Service
from factpin.app.serve.shapes import ExtractAnswer, ExtractOptions
from factpin.app.serve.uploads import FileReaders

router = APIRouter()


@router.post("/v1/files", responses={200: {"model": ExtractAnswer}, **ERRORS})
async def files(
    request: Request,
    file: Annotated[
        UploadFile,
        File(description="Text, Markdown, HTML, PDF, docx, EPUB, CSV, TSV or JSONL, by the ending of its name."),
    ],
    options: Annotated[str, Form(description="The options of /v1/extract, as JSON.")] = "{}",
    column: Annotated[
        str, Form(max_length=1000, description="Column of a CSV or TSV file with the texts; by default `text`.")
    ] = "",
) -> Response:
    """Find mentions, entities, facts and events in a file."""
    started = time.monotonic()
    service: Service = request.app.state.service
    readers: FileReaders = request.app.state.readers
    asked = parse_options(options)
    used = read_options(asked, service)
    documents = await readers.read(await file.read(), file.filename or "", column)
    for i, doc in enumerate(documents):
        check_length(doc.text, service.limits, f"documents[{i}]")
    found = await until_gone(request, service.extract(documents, used, client_of(request)))
    return answer(found, used, asked, service, started)


def parse_options(options: str) -> ExtractOptions:
    """The options in a part of a form."""
    try:
        return ExtractOptions.model_validate_json(options or "{}")
    except ValidationError as error:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            raise Refusal(400, "options is not JSON.", kind="BadJson", field="options") from None
        field = ".".join(["options", *map(str, first["loc"])])
        raise Refusal(422, f"{field}: {first['msg']}.", kind="BadInput", field=field) from None
