"""Entity linking: which entity of a knowledge base a mention refers to, or none of them (NIL).

    linked      (start, end, link): micro precision, recall and F1 of links to the knowledge base
    nil         (start, end): the same for mentions that are in no knowledge base
    accuracy    share of the gold mentions whose link, or NIL, is right; those that were not found are wrong
    ambiguous   the same, for names with several links in gold or among the candidates that `known_names` lists

A mention without an entity, such as a date, is not judged. Where two gold entities share a span (a country and its
people), either is right for `accuracy`. Mentions outside meta["evaluation_span"] do not count. With `known`, gold links
that are not in it are NIL: nobody can find an entity that the knowledge base does not have.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from factpin.documents import Document
from factpin.documents.keys import name_key
from factpin.scoring.align import Pair
from factpin.scoring.counts import Row, Rows, as_rows, ratio, row

Place = tuple[int, int]
NIL = ""


@dataclass(frozen=True)
class LinkScores:
    """Rows of counts a document, and what happened to every gold mention."""

    rows: Mapping[str, Rows]  # linked, nil -> (documents, 4)
    right: Sequence[tuple[str, str, bool]]  # (name, gold link, right?) of each gold span
    ambiguous: Collection[str]  # names
    outcomes: Sequence[tuple[float, bool]] = field(default_factory=tuple)  # (score, right?)

    @property
    def accuracy(self) -> float:
        """Over all gold mentions."""
        return ratio(sum(ok for *_, ok in self.right), len(self.right))

    @property
    def on_ambiguous(self) -> tuple[float, int]:
        """Accuracy over ambiguous names, and how many mentions have one."""
        found = [ok for name, _, ok in self.right if name in self.ambiguous]
        return ratio(sum(found), len(found)), len(found)

    @property
    def on_nil(self) -> tuple[float, int]:
        """Accuracy over the gold mentions that are NIL, and their number."""
        found = [ok for _, link, ok in self.right if link == NIL]
        return ratio(sum(found), len(found)), len(found)


def score_linking(
    pairs: Sequence[Pair],
    known: Collection[str] | None = None,
    names: Mapping[str, Collection[str]] | None = None,
) -> LinkScores:
    """known: all links of the knowledge base. names: the links of each name there, by its key."""
    rows: dict[str, list[Row]] = {"linked": [], "nil": []}
    right, outcomes, meanings = [], [], defaultdict[str, set[str]](set)
    for key, links in (names or {}).items():
        meanings[key] |= set(links)
    for gold, predicted in pairs:
        wanted = _links(gold, gold, known)
        found = _links(predicted, gold, None, everything=True)
        scores = _scores(predicted)
        for place, links in wanted.items():
            name = name_key(gold.text[slice(*place)])
            meanings[name] |= links - {NIL}
            given = found.get(place)
            ok = given is not None and (bool(given & links) or (NIL in links and given == {NIL}))
            right.append((name, NIL if NIL in links else min(links), ok))
            if place in scores:
                outcomes.append((scores[place], ok))
        rows["linked"].append(_row(wanted, found, lambda link: link != NIL))
        rows["nil"].append(_row(wanted, {p: links for p, links in found.items() if p in wanted}, lambda link: not link))
    several = {name for name, links in meanings.items() if len(links) > 1}
    return LinkScores({name: as_rows(values) for name, values in rows.items()}, right, several, outcomes)


def known_names(documents: Iterable[Document]) -> dict[str, set[str]]:
    """The links of each name in some documents, by its key."""
    found = defaultdict[str, set[str]](set)
    for doc in documents:
        for (start, end), links in _links(doc, doc, None).items():
            found[name_key(doc.text[start:end])] |= links - {NIL}
    return dict(found)


def _links(
    doc: Document, gold: Document, known: Collection[str] | None, *, everything: bool = False
) -> dict[Place, set[str]]:
    """The links at each span inside the part that counts. everything: mentions without an entity are NIL."""
    span = gold.meta.get("evaluation_span")
    low, high = span if isinstance(span, list) and len(span) == 2 else (0, len(gold.text))
    by_mention = {id: entity.link for entity in doc.entities for id in entity.mentions}
    found: dict[Place, set[str]] = {}
    for m in doc.mentions:
        if low <= m.start and m.end <= high and (everything or m.id in by_mention):
            link = by_mention.get(m.id, NIL)
            found.setdefault((m.start, m.end), set()).add(link if known is None or link in known else NIL)
    return {place: links - {NIL} or {NIL} for place, links in found.items()}


def _scores(doc: Document) -> dict[Place, float]:
    """The scores of links, as `factpin extract --link` keeps them."""
    kept = doc.meta.get("links")
    places = {m.id: (m.start, m.end) for m in doc.mentions}
    records = [one for one in kept if isinstance(one, dict)] if isinstance(kept, list) else []
    return {places[one["mention"]]: float(one["score"]) for one in records if one.get("mention") in places}


def _row(wanted: Mapping[Place, set[str]], found: Mapping[Place, set[str]], counts: Callable[[str], bool]) -> Row:
    a, b = ({(p, link) for p, links in side.items() for link in links if counts(link)} for side in (wanted, found))
    return row(len(a & b), len(b), len(a))
