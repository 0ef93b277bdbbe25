"""`factpin link`: the mentions of a corpus, linked to the entities of a store."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from factpin.app.commands._options import (
    encoding_option,
    format_option,
    json_option,
    lossy_option,
    quiet_option,
    source_argument,
    target_argument,
    target_option,
)
from factpin.app.commands._store import as_of_option, db_option, linker_option, open_db
from factpin.app.commands._training import warn
from factpin.app.console import notes, print_json, working
from factpin.errors import BadInput
from factpin.formats import Options
from factpin.words import count


@click.command()
@source_argument
@target_argument
@db_option
@linker_option
@as_of_option
@format_option
@target_option
@lossy_option
@encoding_option
@json_option
@quiet_option
def link(
    source: Path,
    target: Path,
    db: str | None,
    as_of: str | None,
    lossy: bool,
    encoding: str,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> int:
    """Link the mentions of IN to the entities of a store, or to none of them, with the probability of that.

    Links in IN are replaced, so that the result can be compared with IN. To link what models find in raw text, use
    `factpin extract --db kb.db --link`.

    \b
    factpin link dev.jsonl linked.jsonl --db kb.db
    factpin link dev.jsonl linked.jsonl --db kb.db --linker runs/linker
    factpin evaluate linked.jsonl dev.jsonl --task linking
    """
    from factpin.corpora.link import LinkRequest, link_corpus

    if as_json and str(target) == "-":
        raise BadInput("--json and OUT would both go to standard output. Name a file for OUT.")
    request = LinkRequest(
        source, target, options=Options(encoding=encoding, lossy=lossy), as_of=as_of or "", **settings
    )
    with open_db(db) as store, working("linking", quiet or as_json) as progress:
        found = link_corpus(request, store, progress)
    if as_json:
        print_json(asdict(found))
    else:
        names = f"{found.linked:,} linked, {found.nil:,} not linked (the store has nothing that they mean)"
        names += f", {count(found.skipped, 'pronoun')} not looked up" if found.skipped else ""
        notes(quiet).print(f"{count(found.documents, 'document')}, {count(found.mentions, 'mention')}: {names}")
    if found.documents and not found.mentions:
        warn(quiet or as_json)(
            f"{source} has no mentions, so there is nothing to link. To link what models find in its text: factpin "
            f"extract {source} --db {db} --link"
        )
    if found.unseen:
        from factpin.extraction.linking import about_unseen

        warn(quiet or as_json)(about_unseen(found.unseen, str(db)))
    return 0
