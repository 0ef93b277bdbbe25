"""The documents of zh-facts: DuIE 2.0 and 1.0 and hand-labelled news, with one vocabulary of types.

    python recipes/zh-facts/prepare.py --output runs/data/zh-facts

The meta of every document lists the relations that are annotated exhaustively in it. For DuIE 1.0 this was measured on
sentences that two of the samples share: see NOT_IN_DUIE1 and RELIABLE.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from _mentions import with_mentions
from _prepare_facts import (
    DATA,
    Place,
    Relation,
    Table,
    Told,
    count_arguments,
    fraction,
    keep_relations,
    make_meta,
    mark_types,
    mark_unhinted,
    normalise,
    pin,
    print_counts,
    read_lines,
    read_table,
    told_of,
    without_shared,
    write,
)

import factpin
from factpin import formats
from factpin.documents import Document
from factpin.formats import Options
from factpin.formats._occurrences import ArgumentName, Triple, place
from factpin.formats._reading import ReadContext

# Relations of DuIE 1.0 alone, and of DuIE 2.0 alone: the other version does not annotate them.
DUIE1_ONLY = {"出版社", "出生日期", "出生地", "民族", "连载网站", "目", "身高", "字"}
DUIE2_ONLY = {"饰演", "配音", "获奖", "主题曲", "票房", "代言人", "校长"}
# Of the facts that DuIE 2.0 has in 201 shared sentences, 1.0 lacks a third of these; annotated where one is stated.
NOT_IN_DUIE1 = {"妻子", "丈夫", "上映时间", "简称"}
# The part with 17 relations was thinned out: in 312 shared sentences half of 作者 and 主演 are gone with their whole
# relation, but a relation that is stated at all is complete (4 of 304 missing), and these are complete anyway.
RELIABLE = {"成立日期", "毕业院校", "导演", "所属专辑", "出品公司"}
NEWS_ANNOTATED = {"职务", "任职", "负责人", "隶属机构", "所属国家", "地址", "别称", "研制单位"}
NEWS_POSITIVE = {"国籍", "创始人", "成立日期"}  # annotated now and then, not exhaustively
# Who studies somewhere has not graduated there, though DuIE says so.
STUDIES = re.compile("就读|在读|考入|考上|入读|肄业|退学")
GRADUATED = re.compile("毕业|学位|学士|硕士|博士|校友")
NEAREST = Options(occurrences="nearest")
READ = 0.03  # of the sentences without labels
SHORTEST = 6  # characters of a document without labels


def duie(path: Path, table: Table, source: str, relations: set[str]) -> Iterator[Document]:
    """The documents of a DuIE file with our types."""
    types = table.types["duie"]
    for doc in formats.read(path, format="duie", options=NEAREST):
        facts = [mapped(fact, table.relations[fact.relation], types) for fact in told_of(doc)
                 if fact.relation in table.relations]  # fmt: skip
        names = {fact.relation for fact in facts}
        lost = {spo["predicate"] for spo in doc.meta.get("unfound", ())}
        doubtful = NOT_IN_DUIE1 - names if source == "duie1" else set()
        here = relations - lost - doubtful
        yield pin(doc.id, doc.text, facts, make_meta(source, here), "zh")


def tidied(doc: Document) -> Document:
    """A training document with whole names: without 《》 around them, with the quotation mark that they close, and
    without a fact of a part of a name (小明) that is told of the whole one (杨小明) as well; nobody has graduated from
    where he studies."""
    false = {"毕业院校"} if only_studies(doc) else set()
    facts = [fact._replace(head=whole_name(fact.head, doc.text), tail=whole_name(fact.tail, doc.text))
             for fact in told_of(doc) if fact.relation not in false]  # fmt: skip
    names = {(fact.relation, fact.tail, doc.text[fact.head.start : fact.head.end]) for fact in facts}
    kept = [
        fact
        for fact in facts
        for head in [doc.text[fact.head.start : fact.head.end]]
        if not any(
            (relation, tail) == (fact.relation, fact.tail) and head != name and head in name
            for relation, tail, name in names
        )
    ]
    return pin(doc.id, doc.text, kept, doc.meta, "zh")


def only_studies(doc: Document) -> bool:
    """Whether a text says that somebody studies or studied somewhere, and nothing of a degree."""
    return STUDIES.search(doc.text) is not None and GRADUATED.search(doc.text) is None


def whole_name(place: Place, text: str) -> Place:
    """An argument without 《》 around it, and with the quotation mark that it closes."""
    inside = text[place.start : place.end]
    if inside[0] == "《" and inside[-1] == "》" and len(inside) > 2 and "《" not in inside[1:]:
        return place._replace(start=place.start + 1, end=place.end - 1)
    before = text[place.start - 1 : place.start]
    if any(before == left and right in inside and left not in inside for left, right in ("“”", "‘’")):
        return place._replace(start=place.start - 1)
    return place


def mapped(fact: Told, relation: Relation, types: Mapping[str, str]) -> Told:
    """A fact with types of ours: that of the corpus where the relation allows it, else the relation's own."""

    def typed(where: Place, allowed: tuple[str, ...]) -> Place:
        type = types.get(where.type, "")
        return where._replace(type=type if type in allowed else allowed[0])

    slots = tuple((role, typed(where, (relation.slots[role],))) for role, where in fact.slots if role in relation.slots)
    return Told(typed(fact.head, relation.head), fact.relation, typed(fact.tail, relation.tail), slots)


def seventeen(path: Path, table: Table) -> Iterator[Document]:
    """The part of DuIE 1.0 with 17 relations; it has no types."""
    for doc in formats.read(path, format="triples", options=NEAREST):
        facts = [mapped(fact, table.relations[fact.relation], {}) for fact in told_of(doc)]
        lost = {triple[1] for triple in doc.meta.get("unfound", ())}
        yield pin(doc.id, doc.text, facts, make_meta("duie1_17", (RELIABLE | {f.relation for f in facts}) - lost), "zh")


def news(path: Path, table: Table) -> Iterator[Document]:
    """News, one document a text; a leader or member of an organization serves in it (任职)."""
    lists: dict[str, dict[tuple[str, str, str], None]] = {}
    for record in read_lines(path):
        told = lists.setdefault(record["text"].strip(), {})
        told |= {(t["subject"], t["relation"], t["object"]): None for t in record["sro_list"]}
    for number, (text, triples) in enumerate(lists.items(), 1):
        rows = [row for triple in triples for row in news_rows(triple, table)]
        id = f"zh_news-{number}"
        found = place(rows, text, ReadContext(path, NEAREST), number, id)
        doc = Document(id, text, mentions=found.mentions, entities=found.entities, facts=found.facts)
        here = set(NEWS_ANNOTATED)
        if any(relation in ("使用国家", "所属单位") for _, relation, _ in triples):
            here -= {"所属国家", "隶属机构"}  # annotated for the same pairs under another name
        yield tidied(pin(id, text, told_of(doc), make_meta("zh_news", here), "zh"))


def news_rows(triple: tuple[str, str, str], table: Table) -> Iterator[Triple]:
    """A triple of the news as ours, with types."""
    head, name, tail = triple
    found = table.find(name)
    if found is None or found[0].name not in NEWS_ANNOTATED | NEWS_POSITIVE or head == tail:
        return
    relation, turned = found
    if turned:
        head, tail = tail, head
    kind = {"所属国家": "other", "所属国家-rel": "organization", "别称": "other", "机构别称": "organization"}.get(name)
    yield Triple(
        ArgumentName(head, kind or relation.head[0]),
        relation.name,
        ArgumentName(tail, kind if kind in relation.tail else relation.tail[0]),
    )
    if name == "负责人":
        yield Triple(ArgumentName(tail, "person"), "任职", ArgumentName(head, "organization"))


def plain(paths: Iterable[Path], taken: set[str]) -> Iterator[Document]:
    """Sentences without labels, each once, none of them in another file; READ of them are kept for reading alone."""
    for path in paths:
        for doc in formats.read(path, format="jsonl"):
            key = normalise(doc.text)
            if key not in taken and len(key) >= SHORTEST and fraction(doc.text) >= READ:
                taken.add(key)
                yield Document(doc.id, doc.text, language="zh", meta={"source": "duie_unlabelled"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--output", type=Path, default=Path("runs/data/zh-facts"))
    parser.add_argument("--entities", default="zh-entities", help="the model that finds mentions of no fact")
    parser.add_argument("--judges-only", action="store_true", help="write dev and the judges, in a minute")
    options = parser.parse_args()
    table = read_table("zh")
    folder = options.data / "duie"
    names = set(table.relations) - NEWS_ANNOTATED
    second, first = names - DUIE1_ONLY, names - DUIE2_ONLY
    judge = list(duie(folder / "duie2_dev.json.xz", table, "duie2", second))
    articles = list(news(options.data / "zh_news_triples" / "init-train.txt.xz", table))
    news_judge = [doc for doc in articles if fraction(doc.text) < 0.08]
    news_dev = [doc for doc in articles if 0.08 <= fraction(doc.text) < 0.12]
    train = [
        *(doc for part in "ab" for doc in duie(folder / f"duie2_train_{part}.json.xz", table, "duie2", second)),
        *(doc for part in ("train", "dev") for doc in duie(folder / f"duie1_{part}.json.xz", table, "duie1", first)),
        *seventeen(folder / "duie1_17rel_triples.json.xz", table),
        *(doc for doc in articles if fraction(doc.text) >= 0.12),
    ]
    left: Counter[str] = Counter()
    train = without_shared(map(tidied, train), [*judge, *news_judge, *news_dev], left)
    counts = Counter(fact.relation for doc in train for fact in doc.facts)
    kept = table.only({name for name in table.relations if counts[name] >= table.minimum or name in second})
    arguments = count_arguments(keep_relations(doc, kept) for doc in train)

    def finished(documents: Iterable[Document]) -> list[Document]:
        return [mark_types(keep_relations(doc, kept), arguments) for doc in documents]

    train = [mark_types(mark_unhinted(keep_relations(doc, kept), kept), arguments) for doc in train]
    dev = [doc for doc in judge if fraction(doc.text) < 0.5]
    write(options.output, "dev", finished([*dev, *news_dev]))
    write(options.output / "judges", "duie_dev", finished(judge))
    write(options.output / "judges", "duie_half", finished(doc for doc in judge if fraction(doc.text) >= 0.5))
    write(options.output / "judges", "zh_news", finished(news_judge))
    if options.judges_only:
        return
    train = list(with_mentions(train, factpin.load(options.entities), [t for t, c in arguments.items() if c]))
    write(options.output, "train", train)
    taken = {normalise(doc.text) for doc in (*train, *judge, *news_judge, *news_dev)}
    tests = [options.data / "duie_unlabelled" / f"{name}.json.xz" for name in ("duie1_test", "duie2_test1_part")]
    write(options.output, "unlabelled", list(plain(tests, taken)))
    for reason, count in sorted(left.items()):
        print(f"  left out, {reason}: {count:,}")
    print(f"  relations left out: {', '.join(sorted(table.relations.keys() - kept.relations.keys()))}")
    print_counts(train)


if __name__ == "__main__":
    main()
