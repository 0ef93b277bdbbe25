"""The main job: annotate documents with everything that the models find.

Each document is read by the models for its language, and their results are combined (combine.py). Annotation that a
document already has is replaced. Where facts are looked for, mentions are then grouped into entities, by a coreference
model where there is one and by rules otherwise. Document relation models look for facts between these entities, and the
facts of all models are settled between them (settle.py).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Self

from factpin.documents import Coverage, Document, Mention, Span
from factpin.documents.gaps import gaps
from factpin.documents.likely import LIKELY, keep_likely
from factpin.documents.notes import UNSURE, without_annotation
from factpin.errors import BadInput
from factpin.extraction.combine import Place, combine, without_title_marks
from factpin.extraction.coverage import coverage_notes
from factpin.extraction.definitions import define
from factpin.extraction.names import NUMERAL, PLACE, doubtful, mend
from factpin.extraction.route import Route, reads, route
from factpin.extraction.select import select
from factpin.extraction.settle import once, places, settle, without_loose, without_mentions
from factpin.extraction.summary import Summary
from factpin.language.coreference import resolve
from factpin.language.countries import is_of_country
from factpin.language.sentences import split_sentences
from factpin.models.extractor import AHEAD, Extractor
from factpin.models.runtimes import AUTO
from factpin.models.settings import Settings
from factpin.models.shipped import is_shipped
from factpin.tasks.links import fits
from factpin.words import count


def load_models(
    folders: Sequence[Path],
    on_overflow: Literal["window", "error"] = "window",
    *,
    precision: str = AUTO,
    device: str = "cpu",
    runtime: str = AUTO,
) -> list[Extractor]:
    """Load the models in these folders; those that ship, when the first text in their language comes."""
    found = [Extractor.load(folder, device, runtime, precision, late=is_shipped(folder)) for folder in folders]
    return [replace(extractor, on_overflow=on_overflow) for extractor in found]


@dataclass(frozen=True)
class Team:
    """Models by what they read."""

    finders: tuple[Extractor, ...]  # texts; models whose mentions are those of facts come last
    scorers: tuple[Extractor, ...]  # mentions: coreference
    linkers: tuple[Extractor, ...]  # entities: document relations

    @classmethod
    def of(cls, models: Sequence[Extractor]) -> Self:
        """Sort the models."""
        finders, scorers, linkers = (
            tuple(model for model in models if model.task.asks == what) for what in ("text", "mentions", "entities")
        )
        if models and not finders:
            raise BadInput(
                "Coreference and document relation models work on what other models find. Add a model that finds "
                "mentions (--model), or annotate a corpus that has them with `factpin predict`."
            )
        return cls(tuple(sorted(finders, key=only_for_facts)), scorers, linkers)

    def shown(self, way: Route) -> float:
        """The score from which on mentions are shown: the lowest that a model for the languages of a text asks for."""
        least = [
            model.settings.shown
            for model in self.finders
            if not only_for_facts(model) and any(reads(model.settings.language, other) for other in way.languages)
        ]
        return min(least, default=0.0)

    def evidence(self, language: str | None) -> dict[str, float]:
        """How the words around the facts of a text correct their scores, by feature: as its fact model asks for."""
        return {
            name: weight
            for model in self.finders
            if model.settings.task == "triples" and language and model.settings.language == language
            for name, weight in model.settings.task_config.get("evidence", {}).items()
        }

    @property
    def adds_definitions(self) -> bool:
        """Whether facts that English definitions state are added (definitions.py)."""
        return any(model.settings.definitions for model in self.finders)

    @property
    def seeks_names(self) -> bool:
        """Whether some model looks for mentions that no fact needs."""
        return any(not only_for_facts(model) for model in self.finders)

    @property
    def seeks_facts(self) -> bool:
        """Whether some model looks for facts."""
        return bool(self.linkers) or any(model.settings.task == "triples" for model in self.finders)


def extract(
    documents: Iterable[Document],
    models: Sequence[Extractor],
    min_score: float = LIKELY,
    *,
    coreference: bool = False,
    only: Collection[str] = (),
    mark_unsure: bool = False,
    on_document: Callable[[Summary], None] = lambda _: None,
) -> Iterator[Document]:
    """The documents in order, with what the models for their language find.

    min_score: facts and events that score less are left out, and a note says how many. So are mentions that a model
    with `shown` in its settings is not sure of, unless a fact is about them or `min_score` is lower than they score.
    coreference: group mentions into entities even where no model needs them.
    only: keep these select.PARTS alone.
    mark_unsure: `meta["unsure"]` says which mentions the usual minimum score hides, and below which score.
    on_document: is called with the summary of each document.
    """
    if not 0 <= min_score <= 1:
        raise BadInput(f"The minimum score is {min_score}; expected a number from 0 to 1, such as 0.6.")
    team = Team.of(models)
    languages = {model.settings.language for model in team.finders}
    relations = [model.settings for model in team.linkers]
    functional = {name for model in models for name in functional_relations(model.settings)}
    documents = iter(documents)
    while group := list(islice(documents, AHEAD)):
        routes, results = find(group, team.finders)
        merged = [merge(*one, languages) for one in zip(group, routes, results, strict=True)]
        linked = link(merged, team) if team.scorers or team.seeks_facts or coreference else merged
        for doc, way, by_task, plain, found in zip(group, routes, results, merged, linked, strict=True):
            notes = coverage_notes(plain, way, by_task, relations)
            free, least = loose(by_task, team.finders), team.shown(way)
            settled = settle(found, functional, team.evidence(found.language), free if team.seeks_names else ())
            stated = define(settled) if team.adds_definitions else settled
            sure, hidden, unsure = hide(add_notes(stated, notes), free, least, min_score)
            shown = select(sure, only)
            if mark_unsure:
                shown = with_unsure(shown, hide(stated, free, least, LIKELY)[0], least)
            hidden = 0 if set(only) == {"entities"} else hidden
            on_document(Summary.of(doc, shown, notes=notes, hidden=hidden, unsure=unsure))
            yield shown


def find(
    documents: Sequence[Document], models: Sequence[Extractor]
) -> tuple[list[Route], list[dict[str, list[Document]]]]:
    """The languages of each document, and what the models of each task find in it."""
    split = [_split(doc) for doc in documents]
    routes = [route(doc) for doc in split]
    results: list[dict[str, list[Document]]] = [{model.settings.task: [] for model in models} for _ in documents]
    for model in models:
        language = model.settings.language
        wanted = [i for i, way in enumerate(routes) if any(reads(language, other) for other in way.languages)]
        asked = {id(split[i]): routes[i].wanted(language) for i in wanted}
        chosen = (split[i] for i in wanted)
        for i, found in zip(wanted, model.annotate(chosen, wanted=partial(_of_document, asked)), strict=True):
            bare = mend(without_title_marks(routes[i].restrict(found, language)))
            if only_for_facts(model):
                bare = retype(bare, [m for by in results[i].values() for one in by for m in one.mentions], model)
            results[i][model.settings.task].append(bare)
    return routes, results


def _of_document(asked: Mapping[int, list[Span] | None], doc: Document) -> list[Span] | None:
    return asked[id(doc)]


def only_for_facts(model: Extractor) -> bool:
    """Whether the mentions of a model are only those of its facts."""
    return model.settings.task == "triples" and model.settings.task_config.get("mentions", "linked") == "linked"


def retype(doc: Document, others: Iterable[Mention], model: Extractor) -> Document:
    """Give the mentions of a fact model the types that mention models find on the same characters, if it knows them.

    Facts that the schema does not allow between the new types are left out, and a note says how many.
    """
    known = {*model.settings.head_config["subjects"], *model.settings.head_config["objects"]}
    type_at = {(m.start, m.end): m.type for m in others if m.type in known}
    mentions = tuple(replace(m, type=type_at.get((m.start, m.end), m.type)) for m in doc.mentions)
    type_of = {m.id: PLACE if is_of_country(m.text) else m.type for m in mentions}  # nationality: a French painter
    given = {m.id: m.type for m in mentions}
    entities = tuple(replace(e, type=given[e.mentions[0]]) for e in doc.entities)
    type_of |= {e.id: type_of[e.mentions[0]] for e in entities}
    finder: Any = model.finder
    schema = finder.rules.schema
    facts = tuple(
        fact
        for fact in doc.facts
        if fits(schema, fact.relation, type_of[fact.head_mention or fact.head], type_of[fact.tail_mention or fact.tail])
    )
    retyped = replace(doc, mentions=mentions, entities=entities, facts=facts)
    lost = len(doc.facts) - len(facts)
    note = f"{count(lost, 'fact')} left out between types that the relation does not join"
    return add_notes(retyped, [note]) if lost else retyped


def loose(found: Mapping[str, Sequence[Document]], models: Sequence[Extractor]) -> set[Place]:
    """The places that are mentions only because a model found a fact there."""
    if any(model.settings.task == "triples" and not only_for_facts(model) for model in models):
        return set()
    by_task = {task: {place for doc in by for place in places(doc)} for task, by in found.items()}
    return by_task.pop("triples", set()).difference(*by_task.values())


def functional_relations(settings: Settings) -> list[str]:
    """The relations with one tail for each entity, according to a model."""
    own = settings.task_config
    rows = own["schema"]["relations"] if own.get("functional") else {}
    return [*own.get("one_tail", ()), *(name for name, row in rows.items() if row.get("functional"))]


def _split(doc: Document) -> Document:
    """The document with sentences, so that they are found once for all models."""
    if doc.sentences:
        return doc
    return replace(doc, sentences=tuple(Span(start, end) for start, end in split_sentences(doc.text)))


def hide(doc: Document, free: Collection[Place], shown: float, min_score: float) -> tuple[Document, int, int]:
    """The document without what is hidden at a minimum score; how many facts and events that are, and mentions.

    free: mentions that are only shown with a fact; shown: the score from which on others are.
    """
    kept, unlikely = hide_unlikely(doc, min_score)
    sure, unsure = hide_unsure(without_loose(kept, free), shown, min_score)
    return sure, unlikely, unsure


def with_unsure(doc: Document, usual: Document, shown: float) -> Document:
    """The document, with the mentions that `usual` lacks in `meta["unsure"]`, if there are any."""
    shown_usually = {m.id for m in usual.mentions}
    unsure = [m.id for m in doc.mentions if m.id not in shown_usually]
    return replace(doc, meta={**doc.meta, UNSURE: {"least": shown, "mentions": unsure}}) if unsure else doc


def hide_unlikely(doc: Document, min_score: float) -> tuple[Document, int]:
    """The document without facts and events that score less, with a note of how many; and their number."""
    kept, hidden = keep_likely(doc, min_score)
    these = count(hidden, "fact or event that is", "facts and events that are")
    note = f"{these} less likely than {min_score:g} {'is' if hidden == 1 else 'are'} hidden"
    return (add_notes(kept, [note]), hidden) if hidden else (doc, 0)


def hide_unsure(doc: Document, shown: float, min_score: float) -> tuple[Document, int]:
    """The document without mentions that score less than `shown`, with a note of how many; and their number.

    Those that a fact or an event is about stay, and those of an entity with a surer mention, unless it is a number: a 2
    here says nothing of a 2 there. Mentions that the words show to be none (names.py) are never sure. A minimum score
    below LIKELY asks for what is unlikely, so it holds for mentions too.
    """
    least = shown if min_score >= LIKELY else min(shown, min_score)
    wrong = doubtful(doc) if least and min_score >= LIKELY else set()
    sure = {m.id for m in doc.mentions if (m.score is None or m.score >= least) and m.id not in wrong}
    sure |= _stated(doc)
    about = {end for fact in doc.facts for end in (fact.head, fact.tail, *(q.entity for q in fact.qualifiers))}
    named = [e for e in doc.entities if e.type != NUMERAL and not sure.isdisjoint(e.mentions)]
    sure |= {id for e in (*named, *(e for e in doc.entities if e.id in about)) for id in e.mentions}
    sure -= wrong - _stated(doc)
    kept = without_mentions(doc, {m.id for m in doc.mentions} - sure)
    hidden = {m.id for m in doc.mentions} - {m.id for m in kept.mentions}
    odd = len(hidden & wrong)
    notes = [
        f"{count(number, f'mention that is {why} is', f'mentions that are {why} are')} hidden"
        for number, why in ((len(hidden) - odd, f"less likely than {least:g}"), (odd, "no name, date or number"))
        if number
    ]
    return (add_notes(kept, notes), len(hidden)) if hidden else (doc, 0)


def _stated(doc: Document) -> set[str]:
    """The mentions that facts and events are about."""
    found = {id for fact in doc.facts for id in (fact.head_mention, fact.tail_mention) if id}
    found |= {a.mention for event in doc.events for a in event.arguments if a.mention}
    return found | {event.trigger for event in doc.events if event.trigger}


def add_notes(doc: Document, notes: Sequence[str]) -> Document:
    """The document with more notes."""
    coverage = doc.coverage or Coverage()
    return replace(doc, coverage=replace(coverage, notes=(*coverage.notes, *notes))) if notes else doc


def merge(doc: Document, way: Route, found: Mapping[str, Sequence[Document]], languages: Collection[str]) -> Document:
    """Combine what the models of each task found, and mark what none of them read. languages: of the models."""
    bare = replace(doc, language=way.main, mentions=(), entities=(), facts=(), events=())
    both = combine(replace(bare, meta=without_annotation(doc.meta)), [one for by in found.values() for one in by])
    coverage = both.coverage or Coverage()

    def why(place: int) -> str:
        language = way.language_at(place)
        is_read = any(reads(model, language) for model in languages)
        return "no window holds it" if is_read else f"no model reads the language {language or 'unknown'!r}"

    return replace(both, coverage=replace(coverage, unread=tuple(gaps(doc.text, coverage.read, why))))


def link(documents: Sequence[Document], team: Team) -> list[Document]:
    """Group the mentions of each document into entities, and add the facts that document relation models find."""
    documents = group_mentions(documents, team.scorers)
    for model in team.linkers:
        wanted = [i for i, doc in enumerate(documents) if reads(model.settings.language, doc.language)]
        for i, found in zip(wanted, model.annotate(documents[i] for i in wanted), strict=True):
            documents[i] = add_facts(documents[i], found)
    return documents


def group_mentions(documents: Sequence[Document], scorers: Sequence[Extractor]) -> list[Document]:
    """The documents with entities: by the first coreference model that reads their language, or else by rules."""
    results: list[Document | None] = [None] * len(documents)
    for model in scorers:
        language = model.settings.language
        wanted = [i for i, doc in enumerate(documents) if results[i] is None and reads(language, doc.language)]
        for i, found in zip(wanted, model.annotate((documents[i] for i in wanted), keep=True), strict=True):
            results[i] = add_coverage(replace(documents[i], entities=found.entities, facts=found.facts), found)
    return [resolve(doc) if result is None else result for doc, result in zip(documents, results, strict=True)]


def add_facts(doc: Document, found: Document) -> Document:
    """The facts of two versions with the same entities. A fact of both has the better score and all the evidence."""
    return add_coverage(replace(doc, facts=tuple(once((*doc.facts, *found.facts)))), found)


def add_coverage(doc: Document, found: Document) -> Document:
    """The document, with what another version of it notes and could not read."""
    own, other = doc.coverage or Coverage(), found.coverage or Coverage()
    unread = tuple(sorted({*own.unread, *other.unread}, key=lambda part: (part.start, part.end, part.reason)))
    return replace(doc, coverage=replace(own, unread=unread, notes=tuple(dict.fromkeys((*own.notes, *other.notes)))))
