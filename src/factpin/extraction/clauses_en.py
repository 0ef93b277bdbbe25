"""English facts whose two names are in parts of a sentence that say different things.

- What is in brackets is said of the name before them: in "Acme Games (part of Acme Group) was founded in 1999", the
  group has no date, and in "the album Love (2011)" only the album has.
- After a semicolon another subject may follow, and "after Bell Labs left the project" is not about who made it.
- A date belongs to the verb before it: what was written in 1954 need not have been published then.
- Born to somebody is born to a parent. Offices are no headquarters, and a part of a date is no date.
- A cover or a new release has a date of its own, an honorary degree is no education, and a consulate is not in the
  country it represents.
- In a list of actors "as" comes before a part, and nobody there is married.
- A couple is married only where a word says so, and the year of a new name is not that of the founding. A
  transcription is no name.
- Somebody is not born where he was raised or reigned, and "Ann Lee of the Labour Party" says nothing of others.
- A text that begins with "she" is about somebody without a name.
"""

import re
from collections.abc import Callable, Collection

from factpin.documents import Fact, Mention
from factpin.extraction.scene import NATIONALITY, PERSON, Scene
from factpin.language.countries import is_of_country
from factpin.language.pronouns import is_pronoun

DATES = ("date of birth", "date of death", "inception", "publication date")
LIFE = ("date of birth", "date of death", "place of birth", "place of death")
MADE = ("author", "cast member", "chief executive officer", "composer", "developer", "director", "founded by",
        "performer", "producer", "publication date", "publisher", "record label", "screenwriter")  # fmt: skip
OF = re.compile(r"\b(?:of|by|with|from|and|to|at|in|for)(?: the)? $")
QUOTES = " \t\n\"”’'`"


def is_beside_brackets(scene: Scene, fact: Fact) -> bool:
    """A head in brackets that end before its tail, or a date in the brackets behind another name."""
    between = scene.within_one_sentence(fact)
    if between is None:
        return False
    head, tail = scene.at[fact.head_mention or ""], scene.at[fact.tail_mention or ""]
    own, other = _brackets(scene, head), _brackets(scene, tail)
    if own is not None and own != other and OF.search(scene.text, own[0], head.start):
        return True
    if other is None or other == own or fact.relation not in DATES:
        return False
    before = scene.text[: other[0] - 1].rstrip(QUOTES)
    named = [m.text for m in scene.at.values() if m.end == len(before)]
    name = scene.names[fact.head]
    return bool(named) and not any(text in name or name in text or head.text in text for text in named)


def _brackets(scene: Scene, m: Mention) -> tuple[int, int] | None:
    """What the brackets around a mention hold, if it is in any."""
    start, end = scene.sentence(m)
    opened = scene.text.rfind("(", start, m.start)
    if opened < 0 or ")" in scene.text[opened : m.start]:
        return None
    closed = scene.text.find(")", m.end, end)
    return None if closed < 0 else (opened + 1, closed)


SINCE = re.compile(r"\b(?:after|before|until|when|while|although|though|because|whereas|unlike)\b")


def is_said_apart(scene: Scene, fact: Fact) -> bool:
    """A clause that says when or why: of who made something, or behind a death, of whom it names last."""
    between = scene.within_one_sentence(fact) if fact.relation in (*MADE, *LIFE) else None
    if between is None:
        return False
    first, _, gap = between
    forward = first.id == fact.head_mention
    if fact.relation in LIFE:
        return not forward and SINCE.search(gap) is not None
    return ";" in gap or (forward and SINCE.search(gap) is not None)


DATED = re.compile(
    r"\b(?:(releas|publish|issu|air|premier|debut|broadcast|appear|print|launch|came out|open|screen|ship|introduc|hit)"
    r"|record|writ|wrote|sign|sold|compos|shot|film(?:ed|ing)|copyright|adapt|set in|annouc|announc|stor|form|born|"
    r"sampl|cover|inspired|based|cast|produc|construct|press|creat|invent|develop|work)\w*",
    re.I,
)


AGAIN = re.compile(
    r"\b(?:cover(?:ed)?(?: version)? by|cover version|popularized|remix(?:ed)?|reissued?|re-?released?)\b", re.I
)
FIRST = re.compile(r"\b(?:releas|publish|issu|air|premier|debut|broadcast)\w*", re.I)


def is_dated_otherwise(scene: Scene, fact: Fact) -> bool:
    """A date of publication whose last verb says something else (recorded, written, signed), or of a later version."""
    between = scene.within_one_sentence(fact) if fact.relation == "publication date" else None
    if between is None:
        return False
    first, last, gap = between
    if _says_last(AGAIN, FIRST, gap):
        return True
    if first.id == fact.head_mention:
        said = [match[1] for match in DATED.finditer(gap)]
        return bool(said) and said[-1] is None
    said = [match[1] for match in DATED.finditer(scene.text, scene.clause(first)[0], last.start)]
    return bool(said) and said[0] is None and " and " in gap


def _says_last(pattern: re.Pattern[str], other: re.Pattern[str], words: str) -> bool:
    """Whether words match a pattern, and behind its last match nothing matches the other."""
    last = max((match.end() for match in pattern.finditer(words)), default=None)
    return last is not None and other.search(words, last) is None


HONORARY = re.compile(
    r"\bhonorary (?:[\w.]+ ){0,2}(?:degrees?|doctor\w*|professor\w*|fellow\w*|LL\.?D|D\.?Sc)|\bhonoris causa\b", re.I
)
LEARNED = re.compile(r"\b(?:graduat|educated|stud(?:y|ied|ies)|attend|earned|worked|works|joined|taught)\w*", re.I)


def is_an_honour(scene: Scene, fact: Fact) -> bool:
    """A university that made somebody an honorary doctor or professor."""
    between = scene.within_one_sentence(fact) if fact.relation in ("educated at", "employer") else None
    return between is not None and _says_last(HONORARY, LEARNED, between[2])


MISSION = re.compile(
    r"\b(?:embassy|embassies|consulates?|high commissions?)(?:[ -]general)?\b[^.;]{0,100}\bin [^.;]{0,200}$", re.I
)
OWNS_IT = re.compile(r"['’]s\b| (?:has|have|had|maintains|operates|opens|opened)\b")


def is_a_mission(scene: Scene, fact: Fact) -> bool:
    """A city with a consulate, and the country that has it: China's only embassy in London."""
    ends = scene.ends(fact) if fact.relation in LYING else None
    if ends is None or ends[0].start < ends[1].end or not OWNS_IT.match(scene.text, ends[1].end):
        return False
    return MISSION.search(scene.text, ends[1].end, ends[0].start) is not None


BORN_TO = re.compile(
    r"\b[Bb]orn\b[^.;()]{0,60}\bto (?:[a-z]+ ){0,4}$|\b[Bb]orn\b[^.;()]{0,60}\bto [^.;()]{1,40}\band (?:\w+ )?$"
)


def is_a_parent(scene: Scene, fact: Fact) -> bool:
    """Somebody to whom a child was born, taken for the child."""
    ends = scene.ends(fact) if fact.relation in (*LIFE, "educated at") else None
    return ends is not None and BORN_TO.search(scene.text[scene.sentence(ends[0])[0] : ends[0].start]) is not None


LIVED = re.compile(r"\d{3,4}[^()]{0,60}[–—-]\s*$")
DASH = re.compile(r"\d[^()]*[–—-]{1,2}[^()]*\d")
PARTLY = re.compile(r"[-/]\d")
FLOURISHED = re.compile(r"\b(?:fl|flourished|active|reign(?:ed)?)\b|^r\.")
DEATH = re.compile(
    r"\b(?:di(?:es?|ed|ying)|dea(?:d|th)|kill|murder|assassin|suicide|execut|drown|crash|pass(?:ed|ing)|d\.|bur(?:y|ied)"
    r"|funeral|perish|shot|hang|fell|lost|end|last|succumb|funeral|memor|late|surviv|martyr|behead)"
)
RANGE = re.compile(r"\d+s?\s*[-–—]+\s*\d{2,4}$")


def is_no_whole_date(scene: Scene, fact: Fact) -> bool:
    """A part of a date (1860 of 1860-02-29), a span of years, or what is said of a death taken for a birth."""
    ends = scene.ends(fact) if fact.relation in (*DATES, *LIFE) else None
    if ends is None:
        return False
    tail = ends[1]
    if fact.relation == "date of birth" and (held := _brackets(scene, tail)) is not None:
        before = scene.text[held[0] : tail.start]
        if LIVED.search(before) and "born" not in before:
            return True
    if fact.relation == "place of birth":
        held = _brackets(scene, tail)
        return held is not None and DASH.search(scene.text, held[0], tail.start) is not None
    if fact.relation not in DATES:
        return False
    held = _brackets(scene, tail)
    if held is not None and FLOURISHED.search(scene.text, held[0], tail.start):
        return True
    if fact.relation == "date of death" and held is None:
        start = scene.sentence(tail)[0]
        if DEATH.search(scene.text, start, tail.start) is None and "(" not in scene.text[start : tail.start]:
            return True
    part = PARTLY.match(scene.text, tail.end) or re.search(r"\d[-/]$", scene.text[: tail.start][-2:])
    return part is not None or RANGE.fullmatch(tail.text) is not None


OFFICES = re.compile(
    r"\b(?:offices|branches|plants|stores|facilities|subsidiaries|locations)\b[^.;]*$|\bnear\b[^.;]*$", re.I
)
FAR = 8  # words between a place and the name behind it
OWNS = re.compile(r"\b(?:whose|parent|own(?:ed|er|s))\b")
HEAD_OFFICE = re.compile(r"\b(?:main|head|principal|corporate|central|executive) (?:\w+ ){0,2}(?:offices|facilities)\b")


def is_an_office(scene: Scene, fact: Fact) -> bool:
    """Offices in several cities, or a place that something else before the name has."""
    between = scene.within_one_sentence(fact) if fact.relation == "headquarters location" else None
    if between is None:
        return False
    first, last, gap = between
    if first.id != fact.head_mention:
        return len(gap.split()) > FAR or OWNS.search(gap) is not None
    return OFFICES.search(gap) is not None and HEAD_OFFICE.search(gap) is None and last.start >= first.end


LYING = ("country", "located in the administrative territorial entity")
ASIDE = re.compile(r"\s*\([^()]*\)")
SHORT = 12  # characters between an organization and its place where no verb is needed: Acme Inc. of Ohio
IS_THERE = re.compile(
    r"\b(?:is|was|are|were|based|located|situated|headquarter\w*|founded|established|formed|of|operat\w+|opened)\b"
    r"|^ ?,"
)


def lies_as_another(scene: Scene, fact: Fact) -> bool:
    """A place that is named behind an organization: where it acts, or where the one named after it is.

    Netflix bought rights in the United States; Ash of Russia and Birch of India.
    """
    between = scene.within_one_sentence(fact) if fact.relation in LYING else None
    if between is None or between[0].id != fact.head_mention:
        return False
    first, last, gap = between
    if not scene.groups.within(first.start, first.end):
        return False
    if len(ASIDE.sub("", gap)) > SHORT and IS_THERE.search(gap) is None:
        return True
    groups = [m for m in scene.groups.within(first.end, last.start) if m.text not in scene.names[fact.head]]
    return bool(groups) and bool(scene.places.within(first.end, groups[-1].start))


IN = re.compile(r"\b(?:in|from|to|across|for|with|against|into|throughout)(?: the)? $", re.I)


def is_merely_there(scene: Scene, fact: Fact) -> bool:
    """A country after a preposition, before the name of somebody: in the USA see Edward Herman."""
    ends = scene.ends(fact) if fact.relation in NATIONALITY else None
    if ends is None or ends[1].end > ends[0].start:
        return False
    return not is_of_country(ends[1].text) and IN.search(scene.text, 0, ends[1].start) is not None


RELATED = ("spouse", "sibling")
PARTS = re.compile(
    r"\bas (?!well\b)(?:[\w`'’\"“”.-]+ ){0,8}?(?=[A-Z])"
)  # of a play: George Hall as the father, Ann Lee as Orry
JOINED = re.compile(r"[\s,&]*(?:and|or|as well as)?\s*(?:(?:his|her|the|their)\s+(?:(?!of\b)[\w-]+\s+){0,3})?", re.I)


def are_strangers(scene: Scene, fact: Fact) -> bool:
    """Two people of one family with another person between them who is in no list with one of them."""
    between = scene.within_one_sentence(fact) if fact.relation in RELATED else None
    if between is None:
        return False
    first, last, gap = between
    if PARTS.search(gap):
        return True
    own = scene.names[fact.head] + scene.names[fact.tail]
    others = [m for m in scene.people.within(first.end, last.start) if m.text not in own and not is_pronoun(m.text)]
    row = [first, *others, last]
    listed = (JOINED.fullmatch(scene.text, a.end, b.start) for a, b in zip(row[1:], row[2:], strict=False))
    return bool(others) and not all(listed)


LAST_SAID = {  # what the last verb before a tail says, where the relation is another
    "place of birth": re.compile(r"(?<!born and )\b(?:raised|grew up|moved|lives|lived|settled)\b[^.;]*$"),
    "educated at": re.compile(
        r"\b(?:work(?:s|ed|ing)|taught|teach(?:es|ing)|employed|lectur(?:ed|er))\b"
        r"(?:(?!\b(?:stud|graduat|educat|attend|degree|enrol))[^.;,]){0,30}$"
    ),
}
REIGN = re.compile(
    r"\b(?:president|minister|king|queen|governor|mayor|chancellor|emperor|empress|secretary|bishop|duke|duchess|prince|"
    r"princess|sultan|tsar|ambassador) (?:of|to) (?:the )?$",
    re.I,
)
HIS = re.compile(r",? (?:of|from|for|with)(?: the)? ")
ONE_S_OWN = ("residence", "employer", "educated at", "place of birth", "place of death", "member of political party")


def is_of_another(scene: Scene, fact: Fact) -> bool:
    """Where somebody was raised, taught or reigned, or what is said of the person named right before it."""
    ends = scene.ends(fact) if fact.relation in ONE_S_OWN else None
    if ends is None:
        return False
    head, tail = ends
    if fact.relation in ("place of birth", "place of death") and REIGN.search(
        scene.text, max(0, tail.start - 40), tail.start
    ):
        return True
    if head.end > tail.start:
        return False
    gap = scene.text[head.end : tail.start]
    rule = LAST_SAID.get(fact.relation)
    if rule is not None and rule.search(gap):
        return True
    own = scene.names[fact.head]
    others = [m for m in scene.people.within(head.end, tail.start) if m.text not in own and not is_pronoun(m.text)]
    if not others:
        return False
    return (
        ";" in scene.text[head.end : others[-1].start]
        or HIS.fullmatch(scene.text, others[-1].end, tail.start) is not None
    )


WED = re.compile(
    r"\bmarr(?:y|i|age)|\bwed|\bwife\b|\bwives\b|husband|spouse|widow|\bcouple(?! of)|\bbride|engaged|divorc|honeymoon|"
    r"partner|consort|eloped|\bvows|fianc|\bn[ée]e\b|\bm\. |\btied the knot",
    re.I,
)


def is_no_couple(scene: Scene, fact: Fact) -> bool:
    """Two people with no word in their sentence that says that they are married."""
    if fact.relation != "spouse":
        return False
    words = scene.around(fact)
    return words is not None and WED.search(words) is None


RENAMED = re.compile(r"\b(?:renamed|changed its name|rebranded|became (?:an? )?university|relocated)\b", re.I)
FOUNDED = re.compile(r"\b(?:found|establish|creat|form|incorporat|launch|open|organi[sz]|set up|start|beg[au]n)", re.I)


def is_renamed(scene: Scene, fact: Fact) -> bool:
    """The year of a new name, taken for that of the founding."""
    words = scene.within_one_sentence(fact) if fact.relation == "inception" else None
    if words is None:
        return False
    first, last, _ = words
    return _says_last(RENAMED, FOUNDED, scene.text[scene.clause(first)[0] : last.start])


SOUND, STRESS = re.compile("[\u0250-\u02af]"), re.compile("[\u02c8\u02cc\u02d0]")


def is_a_transcription(scene: Scene, fact: Fact) -> bool:
    """How a name is pronounced: lɔʁɑ̃ dyvɛʁne. Names of languages that write with ə have capitals."""
    texts = [m.text for m in scene.ends(fact) or ()]
    return any(STRESS.search(text) or (len(SOUND.findall(text)) > 1 and text == text.lower()) for text in texts)


def is_in_itself(scene: Scene, fact: Fact) -> bool:
    """A place in a place of the same name. New York in New York is lost, too."""
    return fact.relation in LYING and scene.names[fact.head].lower() == scene.names[fact.tail].lower()


HE = re.compile(r"(?:he|she|his|her|him)", re.I)
BEGINS = re.compile(r"(?:^|[.!?][\"”’']?\s+)(?:He|She|His|Her)\b")


def is_about_a_nameless_one(scene: Scene, fact: Fact) -> bool:
    """She, where a sentence began with her before anybody of this name was mentioned."""
    ends = scene.ends(fact)
    if ends is None:
        return False
    for m, owner in zip(ends, (fact.head, fact.tail), strict=True):
        first = scene.first.get(owner)
        if HE.fullmatch(m.text) and first is not None and scene.types[owner] == PERSON:
            opens = any(start == first for start, _ in scene.sentences)
            if not opens and not is_pronoun(scene.names[owner]) and BEGINS.search(scene.text, 0, first):
                return True
    return False


RULES: Collection[Callable[[Scene, Fact], bool]] = (
    is_beside_brackets,
    is_said_apart,
    is_dated_otherwise,
    is_an_honour,
    is_a_mission,
    is_a_parent,
    is_no_whole_date,
    is_an_office,
    lies_as_another,
    is_merely_there,
    are_strangers,
    is_no_couple,
    is_of_another,
    is_a_transcription,
    is_in_itself,
    is_renamed,
    is_about_a_nameless_one,
)
