"""The rules: each is a function that reads the names of a document and proposes links with a strength.

    same_name      Obama … Obama                                      1.00
    variant        seizure … seizures, anti-body … antibody           0.95
    alias          Bob Dylan, born Robert Zimmerman; 又称, 简称         0.94
    abbreviation   renal failure (RF) 0.93; UN … United Nations 0.80; (…) that spells nothing 0.70; 北大 … 北京大学 0.60
    containment    Obama <- Barack Obama; 张教授 <- 张伟                0.50
    nominal        the company, 该公司 -> the nearest that fits          0.40, where the head noun recurs; else 0.30
    pronoun        he, 其 -> the subject of the nearest sentence        0.20

A rule proposes, and _coreference_clusters decides. If several hosts fit, all are proposed, the likeliest first, and the
first one without a conflict is used. Short forms that fit two different things are not linked, unless one fits best
(北大: 北京大学 rather than 北京师范大学), or a title or the number of mentions decides which person is meant.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator

from factpin.language import _coreference_en as en
from factpin.language import _coreference_zh as zh
from factpin.language._coreference_clusters import Link
from factpin.language._coreference_forms import initials, part_of, shortened, spells, variant_key, whole
from factpin.language._coreference_index import Abbreviations, ShortForms
from factpin.language._coreference_names import MentionNames, Name, fold, singular
from factpin.language._coreference_people import People
from factpin.language.sentences import split_sentences

GAP = 60  # characters between a name and its alias
BACK = 4  # earlier mentions that are searched for one that ends directly before a mention
REACH = 1000  # characters back that are searched for the nearest mention that fits
SEEN = 30  # mentions examined there
OFFERED = 4  # of them proposed
STEP = 0.01  # each is less likely than the one before


def same_name(reading: MentionNames) -> Iterator[Link]:
    """Link the mentions of one name. A name without a type joins the typed one with most mentions."""
    typed: dict[str, Name] = {}
    for name in reading.names:
        for mention in name.mentions[1:]:
            yield Link(mention, name.mentions[0], "same_name", 1.0)
        if name.kind == "name" and name.type:
            best = typed.setdefault(name.key, name)
            if len(name.mentions) > len(best.mentions):
                typed[name.key] = name
    for name in reading.names:
        if name.kind == "name" and not name.type and name.key in typed:
            yield _link(name, typed[name.key], "same_name", 1.0)


def variant(reading: MentionNames) -> Iterator[Link]:
    """Link spelling variants. With both a Mr. Lee and a Ms. Lee, a plain Lee is linked to neither."""
    groups: dict[tuple[str, str], list[Name]] = {}
    for name in reading.names:
        if name.kind == "name" and name.thing not in ("time", "number"):
            groups.setdefault((variant_key(name), name.type), []).append(name)
    for names in groups.values():
        both = len({name.gender for name in names} - {""}) > 1
        first: dict[str, Name] = {}
        for name in names:
            host = first.setdefault(name.gender if both else "", name)
            if host is not name:
                yield _link(name, host, "variant", 0.95)


def alias(reading: MentionNames) -> Iterator[Link]:
    """Link names that the text calls aliases: also known as, 简称."""
    text = reading.doc.text
    host_of: dict[int, int] = {}  # mention that is an alias -> what it is an alias of
    for before, at in _neighbours(reading):
        gap = text[reading.mentions[before].end : reading.mentions[at].start]
        simple = gap.translate(zh.SIMPLIFIED)
        people = reading.name_of[before].thing == reading.name_of[at].thing == "person"
        if en.ALIAS.fullmatch(gap) or zh.ALIAS.fullmatch(simple) or (people and zh.STYLE.fullmatch(simple)):
            host_of[at] = host_of.get(before, before)
        elif before in host_of and (en.FURTHER.fullmatch(gap) or zh.FURTHER.fullmatch(gap)):
            host_of[at] = host_of[before]
    for at, host in host_of.items():
        child, main = reading.name_of[at], reading.name_of[host]
        if _both_names(child, main) and (main.capital or main.chinese or not child.capital):
            yield _link(child, main, "alias", 0.94)


def abbreviation(reading: MentionNames) -> Iterator[Link]:
    """Link abbreviations: defined in parentheses or inside a mention, or the first letters of only one name."""
    yield from _in_parentheses(reading)
    yield from _inside_mentions(reading)
    index = Abbreviations(reading.names)
    for short in reading.names:
        spelled = [long for long in index.by_initials(short) if _both_names(short, long) and initials(short, long)]
        yield from _unambiguous(short, spelled, "abbreviation", 0.80)
        fits = [long for long in index.by_characters(short) if _both_names(short, long) and shortened(short, long)]
        least = min((len(long.key) for long in fits), default=0)  # 北大 is 北京大学 rather than 北京师范大学
        yield from _unambiguous(short, [long for long in fits if len(long.key) == least], "abbreviation", 0.60)


def _in_parentheses(reading: MentionNames) -> Iterator[Link]:
    text = reading.doc.text
    for before, at in _neighbours(reading):
        one, other = reading.name_of[before], reading.name_of[at]
        a, b = reading.mentions[before], reading.mentions[at]
        if not _both_names(one, other) or not en.OPENING.fullmatch(text[a.end : b.start]):
            continue
        if not en.CLOSING.match(text, b.end):
            continue
        if spells(other, one):
            yield _link(other, one, "abbreviation", 0.93)
        elif spells(one, other):
            yield _link(one, other, "abbreviation", 0.93)
        elif one.type == other.type and _glossed(one, other):
            if text[b.end : b.end + 6].lstrip().startswith((")", "]", "）", "-RRB-")):
                yield _link(other, one, "abbreviation", 0.70)
            elif one.chinese and not other.chinese:
                yield from _two_glosses(reading, one, at)


def _glossed(one: Name, other: Name) -> bool:
    """Whether brackets after such a name hold its other name; for a person, only a name in another script."""
    return one.thing in ("organisation", "other") or (one.thing == "person" and one.chinese != other.chinese)


def _two_glosses(reading: MentionNames, one: Name, at: int) -> Iterator[Link]:
    """世界卫生组织（World Health Organization，WHO）: brackets with two foreign names and nothing else."""
    found = zh.GLOSS.match(reading.doc.text, reading.mentions[at].end)
    if found is None:
        return
    yield _link(reading.name_of[at], one, "abbreviation", 0.70)
    for behind in reading.mentions[at + 1 : at + 2]:
        if found.span(1) == (behind.start, behind.end) and _both_names(reading.name_of[at + 1], one):
            yield _link(reading.name_of[at + 1], one, "abbreviation", 0.70)


def _inside_mentions(reading: MentionNames) -> Iterator[Link]:
    forms: dict[str, Name] = {}
    for name in reading.names:
        inside = en.INSIDE.search(name.text) if name.kind == "name" else None
        if inside is not None and inside.start() > 0:
            before, within, behind = name.text[: inside.start()], inside[1], name.text[inside.end() :]
            for form in (before, within, f"{before} {behind}", f"{within} {behind}"):
                forms.setdefault(fold(form, person=name.thing == "person"), name)
    for name in reading.names:
        host = forms.get(name.key)
        if host is not None and _both_names(name, host):
            yield _link(name, host, "abbreviation", 0.93)


def containment(reading: MentionNames) -> Iterator[Link]:
    """Link a part of a name to an earlier full name; the bare name of a company or place may also come first."""
    index = ShortForms(reading.names)
    people = People()
    for short in reading.names:
        if short.kind != "name":
            continue
        found = [
            long
            for long in index.longer(short)
            if _both_names(short, long) and part_of(short, long) and (long.index < short.index or whole(short, long))
        ]
        if not found or "person" not in (short.thing, found[0].thing):
            yield from _unambiguous(short, found, "containment", 0.50)
            continue
        for long, strength in people.called(short, found):
            yield _link(short, long, "containment", strength)


def nominal(reading: MentionNames) -> Iterator[Link]:
    """Link "the company", 该公司 to the nearest earlier mention with the same head noun, or else of its kind."""
    for name in reading.names:
        if name.kind != "nominal":
            continue
        same, kind = [], []
        for i in _before(reading, name.mentions[0]):
            host = reading.name_of[i]
            if host.kind in ("pronoun", "speaker") or not _agree(name, host):
                continue
            if name.head in (host.head, _head(host)):
                same.append(i)
            elif _same_kind(name, host):
                kind.append(i)
        for strength, found in ((0.40, same), (0.30, kind)):
            for rank, i in enumerate(found[:OFFERED]):
                yield Link(name.mentions[0], i, "nominal", strength - rank * STEP)


def _same_kind(name: Name, host: Name) -> bool:
    if name.thing in ("person", "organisation", "place"):
        return name.thing == host.thing
    return host.kind == "nominal" and any({name.head, host.head} <= words.METHODS for words in (en, zh))


def pronoun(reading: MentionNames) -> Iterator[Link]:
    """Link "he", 其 to the first mention in the nearest sentence with its kind, gender and number."""
    pronouns = [name for name in reading.names if name.kind == "pronoun"]
    if not pronouns:
        return
    ends = [end for _, end in reading.doc.sentences or split_sentences(reading.doc.text)]
    sentence = [bisect_right(ends, mention.start) for mention in reading.mentions]
    for name in pronouns:
        not_they = _relatives(reading, name)
        fits = [
            i
            for i in _before(reading, name.mentions[0])
            if _agree(name, reading.name_of[i]) and reading.name_of[i].index != not_they
        ]
        fits.sort(key=lambda i: (-sentence[i], i))
        for rank, i in enumerate(fits[:OFFERED]):
            yield Link(name.mentions[0], i, "pronoun", 0.20 - rank * STEP)


def _relatives(reading: MentionNames, name: Name) -> int:
    """The name that a possessive cannot mean, such as Anna in "Anna is his wife"; -1 for none."""
    at = name.mentions[0]
    words = zh if name.chinese else en
    text, mention = reading.doc.text, reading.mentions[at]
    before = next(_before(reading, at), None)
    if before is None or name.key not in words.POSSESSIVES or not words.RELATION.match(text, mention.end):
        return -1
    linked = words.COPULA.fullmatch(text, reading.mentions[before].end, mention.start)
    return -1 if linked is None else reading.name_of[before].index


RULES: dict[str, Callable[[MentionNames], Iterator[Link]]] = {
    "abbreviation": abbreviation,
    "alias": alias,
    "containment": containment,
    "nominal": nominal,
    "pronoun": pronoun,
    "same_name": same_name,
    "variant": variant,
}


def _link(child: Name, host: Name, rule: str, strength: float) -> Link:
    return Link(child.mentions[0], host.mentions[0], rule, strength)


def _both_names(one: Name, other: Name) -> bool:
    """Whether they are two different names that may mean one thing, by kind and type."""
    named = one.kind == other.kind == "name" and one.index != other.index and one.key != other.key
    return named and (not one.type or not other.type or one.type == other.type)


def _unambiguous(short: Name, found: list[Name], rule: str, strength: float) -> Iterator[Link]:
    """The link to the first name found, if all of them are forms of one name."""
    longest = max(found, key=lambda name: (len(name.key), -name.index), default=None)
    if longest is not None and all(name is longest or part_of(name, longest) for name in found):
        yield _link(short, found[0], rule, strength)


def _neighbours(reading: MentionNames) -> Iterator[tuple[int, int]]:
    """Pairs of mentions (before, at): the second follows the first closely, with no other mention between them."""
    for at, mention in enumerate(reading.mentions):
        for before in range(at - 1, max(-1, at - 1 - BACK), -1):
            end = reading.mentions[before].end
            if end <= mention.start:
                if mention.start - end <= GAP:
                    yield before, at
                break


def _before(reading: MentionNames, at: int) -> Iterator[int]:
    """The mentions before that one, nearest first, without those that contain it."""
    start = reading.mentions[at].start
    for i in range(at - 1, max(-1, at - 1 - SEEN), -1):
        if start - reading.mentions[i].end > REACH:
            return
        if reading.mentions[i].end <= start:
            yield i


def _agree(name: Name, host: Name) -> bool:
    """Whether a pronoun or nominal can mean that host: kind, gender and number must agree if both are known."""
    if host.kind == "speaker" or (name.type and host.type and name.type != host.type):
        return False
    if host.thing in ("time", "number"):
        return False
    if name.thing and host.thing and (name.thing == "person") != (host.thing == "person"):
        return False
    if name.gender and host.gender and name.gender != host.gender:
        return False
    if host.thing == "organisation" and not name.chinese:  # a company may be they, and United Airlines it
        return not (name.number == "many" and host.number == "one")
    if name.chinese or host.thing == "person":
        return {name.number, host.number} != {"one", "many"}
    return (name.number == "many") == (host.number == "many")


def _head(name: Name) -> str:
    if name.chinese:
        return next((noun for noun in zh.HEADS if name.key.endswith(noun)), "")
    return singular(name.key.split(" ")[-1])
