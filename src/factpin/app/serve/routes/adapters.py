"""Routes in the shapes of other programs: Label Studio, doccano, UIE, Hugging Face."""

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from factpin.adapters import doccano, huggingface, labelstudio, uie
from factpin.app.serve.answers import ERRORS, as_json, client_of, until_gone
from factpin.app.serve.extraction import documents_of
from factpin.app.serve.refusal import Refusal, refusal_of
from factpin.app.serve.service import ReadOptions, Service
from factpin.app.serve.shapes import ExtractRequest, RequestShape
from factpin.app.serve.strict_json import JsonRoute
from factpin.app.serve.version import VERSION
from factpin.documents import Document
from factpin.errors import FactpinError

router = APIRouter(route_class=JsonRoute, responses=ERRORS)
MODEL_VERSION = f"factpin-{VERSION}"


class OpenShape(BaseModel):
    """A body of another program, which may have more fields."""

    model_config = ConfigDict(extra="allow", strict=True)


class DoccanoRequest(RequestShape):
    """A text from doccano."""

    text: str


class UieRequest(RequestShape):
    """Texts and a schema."""

    texts: list[str]
    schema_: str | list[Any] | dict[str, Any] = Field(alias="schema")


class HuggingFaceRequest(OpenShape):
    """A text or several."""

    inputs: str | list[str]


class SetupRequest(OpenShape):
    """What Label Studio says when a project is opened."""

    schema_: str = Field(default="", alias="schema")


class LabelStudioTasks(OpenShape):
    """Tasks of Label Studio."""

    tasks: list[dict[str, Any]]
    label_config: str


@router.post("/doccano")
async def label_for_doccano(body: DoccanoRequest, request: Request) -> Response:
    """Mentions for doccano's auto labelling."""
    (doc,) = await _extract(request, [body.text])
    return as_json(doccano.labels(doc))


@router.post("/uie")
async def extract_as_uie(body: UieRequest, request: Request) -> Response:
    """Records by type, as UIE gives them."""
    service: Service = request.app.state.service
    try:
        schema = uie.normalise(body.schema_)
    except (FactpinError, RecursionError) as error:
        raise Refusal(422, str(error), kind="BadInput", field="schema") from None
    known = uie.labels_of(list(service.settings.values()))
    return as_json([uie.record_of(doc, schema, known) for doc in await _extract(request, body.texts)])


@router.post("/hf")
async def extract_as_hugging_face(body: HuggingFaceRequest, request: Request) -> Response:
    """Entities, as an inference endpoint of Hugging Face gives them."""
    texts = [body.inputs] if isinstance(body.inputs, str) else body.inputs
    found = [huggingface.entity_groups(doc) for doc in await _extract(request, texts)]
    return as_json(found[0] if isinstance(body.inputs, str) else found)


@router.get("/labelstudio")
@router.get("/labelstudio/health")
async def label_studio_health() -> Response:
    """Alive; Label Studio waits for one second only."""
    return as_json({"status": "UP", "model_class": "factpin"})


@router.post("/labelstudio/setup")
async def label_studio_setup(body: SetupRequest) -> Response:  # noqa: ARG001  (nothing is kept)
    """The version of the predictions."""
    return as_json({"model_version": MODEL_VERSION})


@router.post("/labelstudio/webhook")
async def label_studio_webhook(body: OpenShape) -> Response:  # noqa: ARG001
    """Taken note of; nothing is trained from it."""
    return as_json({"result": "ok"})


@router.post("/labelstudio/predict")
async def label_studio_predict(body: LabelStudioTasks, request: Request, offsets: str = "codepoint") -> Response:
    """Predictions for tasks of Label Studio."""
    try:
        config = labelstudio.read_config(body.label_config)
    except FactpinError as error:
        raise refusal_of(error, "label_config") from None
    texts = [_text(task, config.field, i) for i, task in enumerate(body.tasks)]
    found = await _extract(request, texts)
    results = [labelstudio.prediction(doc, config, MODEL_VERSION, utf16=offsets == "utf16") for doc in found]
    answer = as_json({"results": [result for result, _ in results]})
    answer.headers["X-Factpin-Lost"] = str(sum(lost for _, lost in results))
    return answer


def _text(task: dict[str, Any], field: str, index: int) -> str:
    data = task.get("data")
    text = data.get(field) if isinstance(data, dict) else None
    if not isinstance(text, str):
        raise Refusal(422, f"The task has no text in {field}.", kind="BadInput", field=f"tasks[{index}].data.{field}")
    return text


async def _extract(request: Request, texts: list[str]) -> list[Document]:
    service: Service = request.app.state.service
    documents = documents_of(ExtractRequest(texts=texts), service.limits, service.limits.texts)
    options = ReadOptions(service.choose(()))
    return await until_gone(request, service.extract(documents, options, client_of(request)))
