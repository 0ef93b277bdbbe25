"""What clients send and get, as pydantic models: they check requests, and the OpenAPI document comes from them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from factpin.answers.ask import Mode
from factpin.documents.likely import LIKELY


class RequestShape(BaseModel):
    """A body. Unknown fields are refused, so that a misspelt option is not ignored."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ExtractOptions(RequestShape):
    """How to extract. Every field may be left out."""

    models: list[str] = Field(default=[], description="Names of models of this server; all of them unless given.")
    language: str | None = Field(
        default=None,
        description="Of the texts, found for every sentence unless given; what no model reads is in coverage.unread.",
    )
    min_score: float = Field(default=LIKELY, ge=0, le=1, description="Facts and events that score less are left out.")
    coreference: Literal["rules"] | None = Field(default=None, description="Group mentions into entities by rules.")
    on_overflow: Literal["window", "error"] = Field(
        default="window", description="For texts longer than a model reads at once."
    )
    mark_unsure: bool = Field(
        default=False,
        description="With a min_score below 0.5: meta.unsure says which mentions would be left out at 0.5, and below "
        "which score.",
    )
    offsets: Literal["codepoint", "utf16"] = Field(
        default="codepoint", description="What the offsets of the answer count."
    )


ONE_OF: dict[str, Any] = {"oneOf": [{"required": ["text"]}, {"required": ["texts"]}, {"required": ["documents"]}]}


class ExtractRequest(RequestShape):
    """Texts to extract from: exactly one of text, texts and documents."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra=ONE_OF)

    text: str = Field(default="", description="One text.")
    texts: list[str] = Field(default=[], description="Several texts.")
    documents: list[dict[str, Any]] = Field(default=[], description="Native documents; their annotation is replaced.")
    options: ExtractOptions = ExtractOptions()


class AskRequest(RequestShape):
    """A question to the store."""

    question: str = Field(min_length=1)
    mode: Mode = "auto"
    k: int = Field(default=8, ge=1, le=1000, description="How many passages to look at.")
    min_score: float | None = Field(
        default=None, ge=0, le=1, description="Abstain where the best answer is less likely."
    )
    as_of: str | None = Field(
        default=None, description="Ignore documents published later: YYYY, YYYY-MM or YYYY-MM-DD."
    )
    explain: bool = Field(default=False, description="Say what was searched.")


class ConvertRequest(RequestShape):
    """Documents to write in a format."""

    documents: list[dict[str, Any]]
    to: str = Field(description="The name of a format, from /v1/models.")
    lossy: bool = Field(default=False, description="Leave out what the format cannot hold.")


class FactToAdd(RequestShape):
    """A fact by hand."""

    head: str = Field(min_length=1)
    relation: str = Field(min_length=1)
    tail: str = Field(min_length=1)
    head_type: str = ""
    tail_type: str = ""
    valid_from: str = ""
    valid_to: str = ""
    published: str = ""


class FactVerdict(RequestShape):
    """A verdict on a fact."""

    fact: str = Field(min_length=1, description="Its key, or the beginning of it.")
    note: str = ""
    undo: bool = False


class EntityJoin(RequestShape):
    """Two entities, by name or key, are one."""

    a: str = Field(min_length=1)
    b: str = Field(min_length=1)
    undo: bool = False


class EntitySplit(RequestShape):
    """In one document, a name is another entity."""

    uri: str = Field(min_length=1)
    name: str = Field(min_length=1)
    undo: bool = False


class ErrorRecord(BaseModel):
    """What went wrong."""

    kind: str
    message: str
    field: str | None = None


class ErrorAnswer(BaseModel):
    """The body of every answer that is not a success."""

    error: ErrorRecord


class NativeDocument(BaseModel):
    """A document as `factpin extract --to jsonl` writes it; fields without content are left out."""

    model_config = ConfigDict(extra="allow")

    id: str
    text: str


class ExtractAnswer(BaseModel):
    """Documents in the order of the request."""

    documents: list[NativeDocument]
    models: dict[str, str] = Field(description="The models that were asked, each with a digest of its weights.")
    took_ms: int


class CitationRecord(BaseModel):
    """Characters of a document that support an answer."""

    model_config = ConfigDict(extra="allow")

    document: str
    uri: str
    start: int
    end: int
    quote: str


class AskAnswer(BaseModel):
    """An answer with citations, or an abstention."""

    model_config = ConfigDict(extra="allow")

    question: str
    answer: str
    score: float
    abstained: bool
    citations: list[CitationRecord]


class HealthAnswer(BaseModel):
    """The server is alive."""

    status: Literal["ok", "loading", "stopping", "failed"]
    models: list[str]
    version: str


class ModelsAnswer(BaseModel):
    """What this server can do."""

    model_config = ConfigDict(extra="allow")

    models: list[dict[str, Any]]
    limits: dict[str, float]
    store: bool
    writable: bool
    version: str


class JobAnswer(BaseModel):
    """How far a job is."""

    model_config = ConfigDict(extra="allow")

    id: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    done: int
    total: int
