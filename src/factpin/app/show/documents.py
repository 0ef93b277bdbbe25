"""Documents on a terminal: as a table of mentions or as coloured text, then entities, facts and events."""

from collections.abc import Collection, Iterable

from rich.console import Console
from rich.text import Text

from factpin.app.show.highlight import by_number, entities, events, facts, highlight, sentences, table, title
from factpin.documents import Document


def show_documents(
    documents: Iterable[Document], console: Console, *, as_table: bool, only: Collection[str] = ()
) -> None:
    """Print documents one after the other. only: without mentions and entities, unless it names them."""
    for doc in documents:
        if only and "entities" not in only:
            if not doc.facts and not doc.events:
                console.print(Text(f"no {' or '.join(only)} in {title(doc)}", style="dim"))
        elif as_table and not (doc.mentions or doc.facts or doc.events):
            console.print(Text(f"Nothing was found in {title(doc)}.", style="dim"))
        elif as_table:
            console.print(table(doc))
        else:
            text = highlight(doc, colours=console.color_system is not None)
            console.print(Text(f"── {title(doc)}", style="dim"), text, sep="\n", soft_wrap=True)
        if (not only or "entities" in only) and any(len(entity.mentions) > 1 for entity in doc.entities):
            console.print(entities(doc))
        if doc.facts:
            console.print(facts(doc, console.width))
        if by_number(doc, console.width):
            console.print(sentences(doc))
        if doc.events:
            console.print(events(doc))
