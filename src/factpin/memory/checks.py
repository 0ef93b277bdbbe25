"""Check a store: derive every row from the documents again and compare."""

from factpin.errors import FactpinError
from factpin.memory.nouns import ALL
from factpin.memory.passages import PassageSettings
from factpin.memory.rows import Rows, document_of, rows_of
from factpin.memory.tables import Tables

SHOWN = 3  # rows to show for each difference


def check(tables: Tables, settings: PassageSettings) -> list[str]:
    """A sentence for each problem; an empty list if there are none."""
    found = tables.problems()
    with tables.reading():
        apart = [d for d in tables.decisions() if d.kind == "apart"]
        for source in tables.sources(ALL):
            suffixes = {d.b: d.value for d in apart if d.a == source.id}
            kept = tables.rows(source.id)
            try:
                doc, origin = document_of(kept.document)
                expected = rows_of(doc, origin, settings, suffixes)
            except (FactpinError, ValueError, KeyError) as error:
                found.append(f"{source.uri}: its record cannot be read ({error})")
                continue
            found += [f"{source.uri}: {problem}" for problem in differences(kept, expected)]
        lost = {d.a for d in apart} - {source.id for source in tables.sources(ALL)}
    return found + [f"a name is split in a document that does not exist ({id})" for id in sorted(lost)]


def differences(kept: Rows, expected: Rows) -> list[str]:
    """How the stored rows differ from the expected ones."""
    found = ["its row differs from its record"] if kept.document != expected.document else []
    sorted_words = tuple(" ".join(sorted(words.split())) for words in expected.words)
    if kept.words != sorted_words:
        found.append("its indexed words differ from those of its passages")
    for name in ("passages", "entities", "mentions", "facts", "evidence"):
        there, should = set(getattr(kept, name)), set(getattr(expected, name))
        found += [f"{name}: {row!r} is missing" for row in sorted(should - there, key=repr)[:SHOWN]]
        found += [f"{name}: {row!r} is not expected" for row in sorted(there - should, key=repr)[:SHOWN]]
    return found
