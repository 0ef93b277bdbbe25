"""Events out of DuIE 2.0: facts of five relations with all their arguments, as events without triggers.

    python recipes/events/prepare.py ../shared/data/duie runs/events-data

An event has the type of the relation and the roles subject, object and those of the qualifiers (inWork, onDate, inArea,
period). Training keeps every sentence with such an event and as many without; dev keeps all sentences.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from factpin import formats
from factpin.documents import Argument, Document, Event, Fact

RELATIONS = ("上映时间", "票房", "获奖", "配音", "饰演")  # those with qualifiers
TRAIN = ("duie2_train_a.json.xz", "duie2_train_b.json.xz")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="the folder of DuIE 2.0")
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    training = [with_events(doc) for name in TRAIN for doc in read(options.corpus / name)]
    some = [doc for doc in training if doc.events]
    none = [doc for doc in training if not doc.events][: len(some)]
    dev = [with_events(doc) for doc in read(options.corpus / "duie2_dev.json.xz")]
    options.output.mkdir(parents=True, exist_ok=True)
    for name, part in (("train", some + none), ("dev", dev)):
        formats.write(part, options.output / f"{name}.jsonl.xz", format="jsonl")
        print(f"{name}: {len(part)} sentences, {sum(len(doc.events) for doc in part)} events")


def read(path: Path) -> list[Document]:
    """The documents, each string at the occurrence that is nearest to the other argument."""
    return list(formats.read(path, format="duie", options=formats.Options(occurrences="nearest")))


def with_events(doc: Document) -> Document:
    """The document with events in place of entities and facts."""
    events = [event_of(fact, f"v{i}") for i, fact in enumerate(doc.facts) if fact.relation in RELATIONS]
    used = {argument.mention for event in events for argument in event.arguments}
    mentions = tuple(replace(mention, type="") for mention in doc.mentions if mention.id in used)
    return replace(doc, mentions=mentions, entities=(), facts=(), events=tuple(events), meta={})


def event_of(fact: Fact, id: str) -> Event:
    further = [Argument(qualifier.role, qualifier.mention) for qualifier in fact.qualifiers]
    arguments = (Argument("subject", fact.head_mention), Argument("object", fact.tail_mention), *further)
    return Event(id, fact.relation, None, arguments)


if __name__ == "__main__":
    main()
