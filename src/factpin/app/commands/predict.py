"""`factpin predict`: annotate a corpus with one model."""

from pathlib import Path
from typing import Literal

import click

from factpin import formats
from factpin.app.console import FORMAT, counting, notes
from factpin.files import refuse_same
from factpin.formats import Options, describe


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("source", metavar="IN", type=click.Path(path_type=Path, allow_dash=True))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "source_format", type=FORMAT, help="Format of IN; guessed where it can be.")
@click.option("--to", "target_format", type=FORMAT, help="Format of OUT; guessed from its ending.")
@click.option("--lossy", is_flag=True, help="Write what the format can hold, and count what it cannot.")
@click.option("--on-overflow", type=click.Choice(["window", "error"]), default="window", show_default=True,
              help="Text longer than the model reads at once: overlapping windows, or an error.")  # fmt: skip
@click.option("--bf16", is_flag=True, help="Half precision: faster where the processor has it (AVX-512 BF16, AMX).")
@click.option("--device", default="cpu", show_default=True, help="Where the model runs: cpu, cuda, cuda:1, mps.")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of IN.")
@click.option("--quiet", is_flag=True, help="No notes.")
def predict(
    model: str, source: Path, target: Path, source_format: str | None, target_format: str | None, lossy: bool,
    on_overflow: Literal["window", "error"], bf16: bool, device: str, encoding: str, quiet: bool,
) -> int:  # fmt: skip
    """Annotate the documents of IN with MODEL; annotation that IN carries is not looked at and not kept."""
    import factpin

    refuse_same(source, target)
    source_format = source_format or formats.guess(source, encoding)
    target_format = target_format or formats.guess_by_name(target)
    extractor = factpin.load(model, device)
    extractor.on_overflow, extractor.bf16 = on_overflow, bf16
    with counting("predicting", quiet) as count:
        documents = formats.read(source, format=source_format, options=Options(encoding=encoding))
        lost = formats.write(extractor.annotate(documents, count), target, format=target_format,
                             options=Options(lossy=lossy))  # fmt: skip
    if str(target) != "-":
        notes(quiet).print(f"written: {target}")
    if lost:
        notes(quiet).print(f"[yellow]not held by {target_format}:[/] {describe(lost)}")
    return 0
