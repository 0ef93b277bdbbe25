"""What each switch of the schema does to the facts of a trained model: types, functional, complete.

    python recipes/switches.py runs/duie/duie-1 ../shared/data/duie/duie2_dev.json.xz --from duie

The model is loaded once, its switches are set one after the other, and each setting is compared with plain decoding
(all switches off) in a paired test. The table also has the number of relations in the schema that a switch affects; if
it is 0, the switch changes nothing. A learned schema marks a relation as symmetric if all evidence agrees, and has no
inverses: `--inverse 丈夫=妻子` makes the two inverses of each other, `--inverse A=A` makes A symmetric.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

import factpin
from factpin import formats
from factpin.documents.schema import record_of, schema_of
from factpin.formats import Options
from factpin.models.settings import Settings
from factpin.scoring import align, paired_bootstrap
from factpin.scoring.counts import total
from factpin.tasks import TASKS

OFF = {"types": False, "functional": False, "complete": False}
WAYS = {"none": {}, "types": {"types": True}, "functional": {"functional": True}, "complete": {"complete": True},
        "all": {"types": True, "functional": True, "complete": True}}  # fmt: skip


def with_inverses(settings: Settings, pairs: list[tuple[str, ...]]) -> Settings:
    """The settings with these marks in the schema."""
    schema = schema_of(settings.task_config["schema"])
    for a, b in pairs:
        for one, other in ((a, b), (b, a)):
            mark = {"symmetric": True} if a == b else {"inverse": other}
            schema.relations[one] = replace(schema.relations[one], **mark)
    return replace(settings, task_config={**settings.task_config, "schema": record_of(schema)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--from", dest="source", required=True)
    parser.add_argument("--convention", default="strict")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--inverse", nargs="+", default=[], metavar="A=B")
    options = parser.parse_args()
    extractor = factpin.load(options.model)
    settings = with_inverses(extractor.settings, [tuple(pair.split("=")) for pair in options.inverse])
    relations = schema_of(settings.task_config["schema"]).relations.values()
    concerned = {
        "types": sum(bool(r.heads or r.tails) for r in relations),
        "functional": sum(r.functional for r in relations),
        "complete": sum(bool(r.symmetric or r.inverse) for r in relations),
    }
    gold = list(formats.read(options.gold, format=options.source, options=Options(occurrences="nearest")))
    gold = gold[: options.limit]
    table = Table("switches on", "relations concerned", "precision", "recall", "F1", "against none", "p")
    plain = None
    for name, way in WAYS.items():
        extractor.settings = replace(settings, task_config={**settings.task_config, **OFF, **way})
        pairs = align(extractor.annotate(gold), gold).pairs
        rows = TASKS[settings.task].score(pairs).rows[options.convention]
        plain = rows if plain is None else plain
        test, counts = paired_bootstrap(rows, plain, samples=2000, seed=0), total(rows)
        table.add_row(name, str(concerned.get(name, "")), f"{100 * counts.precision:.2f}", f"{100 * counts.recall:.2f}",
                      f"{100 * counts.f1:.2f}", f"{100 * test.difference:+.2f}", f"{test.p_value:.3f}")  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    main()
