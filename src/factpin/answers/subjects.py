"""What a document is about, by its title: the entity that it names first.

A film may be called "The Base (film)" in a title and "The Base" in the text, a person "Dwight H. Little" in one
document and "Dwight Hubbard Little" in the one about him.
"""

from collections.abc import Iterable

from factpin.documents import Document, Mention
from factpin.memory import ALL, Candidate, Filter, Store
from factpin.memory.names import title_key

EARLY = 5  # characters before the subject of a text: a quotation mark, an article
MOST = 3  # documents of one title that are looked at


def subjects(store: Store, names: Iterable[str], filter: Filter = ALL) -> dict[str, list[Candidate]]:
    """The subjects of the documents with these titles, by name; what a title has in brackets does not count."""
    keys = {name: key for name in names if (key := title_key(name))}
    found: dict[str, list[Candidate]] = {}
    by_key: dict[str, list[Candidate]] = {}
    for key, ids in store.titled(sorted(set(keys.values())), filter).items():
        documents = list(dict.fromkeys(passage.document for passage in store.passages(ids)))[:MOST]
        for uri in store.uris(documents).values():
            subject = _subject(store.document(uri)[0])
            candidates = [] if subject is None else store.candidates(subject.text, filter)
            fit = [c for c in candidates if subject is not None and c.entity.type == subject.type] or candidates
            by_key.setdefault(key, []).extend(fit[:1])
    for name, key in keys.items():
        if by_key.get(key):
            found[name] = list({c.entity.id: c for c in by_key[key]}.values())
    return found


def _subject(doc: Document) -> Mention | None:
    """The longest of the names that a text begins with."""
    first = min((m.start for m in doc.mentions), default=EARLY)
    starting = [m for m in doc.mentions if m.start == first < EARLY]
    return max(starting, key=lambda m: m.end, default=None)
