"""A component for spaCy: `nlp.add_pipe("factpin", config={"models": ["zh-facts"]})`.

doc.spans["factpin"]   all mentions, also nested ones
doc.ents               those that do not overlap, the longest first (set_ents)
doc._.factpin          the document of factpin, with facts and evidence
doc._.factpin_lost     mentions that do not begin and end with tokens, and were widened to whole ones
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from factpin.errors import MissingExtra

try:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.util import filter_spans
except ImportError as error:  # an extra
    raise MissingExtra(f"The component needs spaCy ({error}): pip install 'factpin[spacy]'.") from None


class FactpinComponent:
    """Annotates documents of spaCy with what factpin finds."""

    def __init__(self, models: Any, spans_key: str, set_ents: bool) -> None:
        self.models, self.spans_key, self.set_ents = models, spans_key, set_ents
        for name, default in (("factpin", None), ("factpin_lost", 0)):
            if not Doc.has_extension(name):
                Doc.set_extension(name, default=default)

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document."""
        return self._annotate([doc])[0]

    def pipe(self, docs: Iterable[Doc], batch_size: int = 64) -> Iterator[Doc]:
        """Annotate many documents, several at once."""
        docs = iter(docs)
        while group := list(islice(docs, batch_size)):
            yield from self._annotate(group)

    def _annotate(self, docs: list[Doc]) -> list[Doc]:
        for doc, found in zip(docs, self.models.extract([doc.text for doc in docs]), strict=True):
            spans, lost = [], 0
            for m in found.mentions:
                exact = doc.char_span(m.start, m.end, label=m.type)
                lost += exact is None
                wide = exact or doc.char_span(m.start, m.end, label=m.type, alignment_mode="expand")
                spans += [wide] if wide is not None else []
            doc.spans[self.spans_key] = spans
            if self.set_ents:
                doc.ents = filter_spans([*spans, *doc.ents])
            doc._.factpin, doc._.factpin_lost = found, lost
        return docs


@Language.factory("factpin", default_config={"models": [], "spans_key": "factpin", "set_ents": True})
def make(nlp: Language, name: str, models: list[str], spans_key: str, set_ents: bool) -> FactpinComponent:  # noqa: ARG001
    """The component; without models, all that ship."""
    from factpin.extraction.pipeline import loaded  # noqa: PLC0415  (heavy)

    return FactpinComponent(loaded(models), spans_key, set_ents)
