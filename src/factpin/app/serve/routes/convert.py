"""POST /v1/convert: documents to a file of any format."""

import asyncio
import io
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import APIRouter, Request
from starlette.responses import Response

from factpin import formats
from factpin.app.serve.answers import ERRORS
from factpin.app.serve.extraction import check_length, document_of
from factpin.app.serve.refusal import Refusal, refusal_of
from factpin.app.serve.service import Service
from factpin.app.serve.shapes import ConvertRequest
from factpin.app.serve.strict_json import JsonRoute
from factpin.documents import Document
from factpin.errors import FactpinError, pick
from factpin.formats import FORMATS, Options
from factpin.words import count

router = APIRouter(route_class=JsonRoute)
FILE = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}


@router.post("/v1/convert", responses={200: FILE, **ERRORS})
async def convert(body: ConvertRequest, request: Request) -> Response:
    """Write documents in a format."""
    service: Service = request.app.state.service
    if len(body.documents) > service.limits.job_texts:
        raise Refusal(
            413,
            f"At most {count(service.limits.job_texts, 'document is', 'documents are')} converted at once.",
            field="documents",
        )
    documents = [document_of(record, i, f"documents[{i}]", None) for i, record in enumerate(body.documents)]
    for i, doc in enumerate(documents):
        check_length(doc.text, service.limits, f"documents[{i}]")
    try:
        name, content, lost = await asyncio.to_thread(write, documents, body.to, body.lossy)
    except FactpinError as error:
        raise refusal_of(error) from None
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Factpin-Lost": lost}
    return Response(content, headers=headers, media_type="application/octet-stream")


def write(documents: list[Document], target: str, lossy: bool) -> tuple[str, bytes, str]:
    """The name of a file, its content, and what the format could not hold. Several files become one zip."""
    ending = pick(FORMATS, target, kind="format").ENDING
    with TemporaryDirectory(prefix="factpin-") as folder:
        path = Path(folder) / f"documents{ending}"
        lost = formats.write(documents, path, format=target, options=Options(lossy=lossy))
        counts = formats.describe(lost)
        written = sorted(file for file in Path(folder).rglob("*") if file.is_file())
        if len(written) == 1 and written[0].parent == Path(folder):
            return written[0].name, written[0].read_bytes(), counts
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in written:
                archive.write(file, file.relative_to(folder))
        return "documents.zip", packed.getvalue(), counts
