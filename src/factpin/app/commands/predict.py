"""`factpin predict`: annotate a corpus with one model."""

from pathlib import Path
from typing import Any

import click

from factpin.app.commands._options import (
    device_option,
    encoding_option,
    format_option,
    json_option,
    lossy_option,
    overflow_option,
    precision_option,
    quiet_option,
    runtime_option,
    score_option,
    skip_records_option,
    source_argument,
    target_argument,
    target_option,
)
from factpin.app.console import notes, print_json, working
from factpin.errors import BadInput
from factpin.formats import Options


@click.command()
@click.argument("model", metavar="MODEL")
@source_argument
@target_argument
@format_option
@target_option
@lossy_option
@score_option("Leave out facts and events that are less likely; a note in each document says how many.", default=0.0)
@skip_records_option
@overflow_option
@precision_option
@device_option
@runtime_option
@encoding_option
@json_option
@quiet_option
def predict(
    model: str,
    source: Path,
    target: Path,
    lossy: bool,
    skip_bad: bool,
    encoding: str,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> int:
    """Annotate the documents of IN with MODEL.

    Models of spans, triples and events read the texts of IN. A document relation model works on the mentions and
    entities in IN, a coreference model on its mentions, and these are kept. All other annotation of IN is replaced.

    \b
    factpin predict runs/mine dev.json predicted.jsonl
    factpin predict runs/relations dev.json result.json --to docred_result
    """
    from factpin.app.show.corpus_notes import predict_notes
    from factpin.corpora.predict import PredictRequest
    from factpin.corpora.predict import predict as run

    if as_json and str(target) == "-":
        raise BadInput("--json and OUT would both go to standard output. Name a file for OUT.")
    options = Options(encoding=encoding, lossy=lossy, skip_bad=skip_bad)
    with working("predicting", quiet or as_json) as progress:
        done = run(PredictRequest(model, source, target, options=options, **settings), progress)
    if as_json:
        print_json(
            {
                "documents": done.documents,
                **done.counts,
                "asks": done.asks,
                "without": done.without,
                "from": done.source_format,
                "to": done.target_format,
                "lost": done.lost,
                "noted": done.report.counts,
                "rejected": done.report.rejected,
                "rejects": done.rejects and str(done.rejects),
            }
        )
        return 0
    for line in predict_notes(done, str(target)):
        notes(quiet).print(line)
    return 0
