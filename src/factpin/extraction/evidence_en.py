"""How directly an English sentence states a fact: the features that evidence.py weighs.

A fact is stated where the words between its two names, or right around them, say its relation and nothing else comes
between: "Maria Rossi (born 12 May 1960", "Acme CEO Ann Lee", "Stamford, Connecticut". The further the names are apart,
the more names and clauses come between them, the more likely the fact is one of others.
"""

import re
from collections.abc import Collection
from math import log

from factpin.documents import Fact, Mention
from factpin.extraction.combine import Place
from factpin.extraction.scene import NATIONALITY, PERSON, PLACE, VERBAL, Scene
from factpin.language.pronouns import is_pronoun

KINDS = {  # relations that are guessed alike
    "chief": ("chief executive officer",),
    "family": ("child", "spouse", "sibling", "father", "mother"),
    "founding": ("founded by", "inception", "parent organization"),
    "home": ("residence",),
    "job": ("employer",),
    "life": ("date of birth", "date of death"),
    "lying": ("country", "located in the administrative territorial entity"),
    "made": ("author", "cast member", "composer", "developer", "director", "performer", "producer", "publication date",
             "publisher", "record label", "screenwriter"),
    "nation": ("country of citizenship",),
    "origin": ("place of birth", "place of death"),
    "party": ("member of political party",),
    "school": ("educated at",),
    "seat": ("headquarters location",),
}  # fmt: skip
GUESSED = ("chief executive officer", "country of citizenship", "educated at", "employer", "headquarters location",
           "place of birth", "publication date")  # fmt: skip
CLAUSE = re.compile(
    r"[;:]|[.!?]\s|,? (?:and|but|while|which|who|whose|whom|where|when|although|though|because|after|before|until|"
    r"since|as|that|if)\b(?= )",
)
LINK = re.compile(r"[\s,;&()“”\"'`–-]*(?:(?:and|or|the|as well as|with)\b[\s,]*)*")
ASIDE = re.compile(r"\s*\([^()]*\)")
_VERB = r"(?:(?:is|was|were|are|has been|had been|be|been|being|who|which|that|first|later|also|then|originally) )*"

STATED = {  # what comes between the names where the head comes first
    "academic degree": r".{0,40}\b(?:earned|received|holds?|held|has|have|obtained|completed|awarded|with|took"
    r"|gained)\b.{0,20}",
    "author": r"[\"”’'`, ]*.{0,30}\b(?:by|author|writer)\b.{0,25}",
    "cast member": r"[\"”’'`, ]*.{0,60}\b(?:starring|stars?|starred|featuring|features|cast|with)\b.{0,60}",
    "chief executive officer": r"(?:['’]s)?.{0,60}\b(?:CEO|chief executive(?: officer)?|chief)\b.{0,15}",
    "child": r".{0,40}\b(?:son|sons|daughter|daughters|child|children|father of|mother of|parents? of)\b.{0,25}",
    "composer": r"[\"”’'`, ]*.{0,50}\b(?:compos|scor|music|written|wrote|song)\w*.{0,25}",
    "country": r",? (?:.{0,25}\b(?:in|of|from)\b )?(?:the |.{0,20}, )?",
    "country of citizenship": r",? (?:(?:is|was|a|an|the)\b ?){1,3}(?:\w+ ){0,2}",
    "date of birth": r",?(?: who)? ?\(?(?:.{0,25}\b(?:born|b\.))?(?: on| in)?\W{0,3}|.{0,20}\(.{0,20}",
    "date of death": r"(?: \(.{0,60}[–—-] ?|.{0,50}\b(?:died|dies|death|killed|d\.)\b).{0,20}",
    "developer": r"[\"”’'`, ]*.{0,60}\b(?:by|at|from)\b(?: the)? .{0,15}",
    "director": r"[\"”’'`, ]*.{0,60}\b(?:by|director)\b.{0,25}",
    "educated at": r".*\b(?:attend\w*|study|studied|studies|graduat\w*|educated|degree|enrolled|alum\w+|student|"
    r"Ph\.? ?D|[BM]\.?[AS]\.?|bachelor|master|doctorate|diploma)\b.{0,45}",
    "employer": r".{0,25}\b(?:of|at|for|with|by|in|joined|joins|from)\b(?: the)? ",
    "founded by": r".{0,40}\b(?:founded|established|created|formed|started|launched|set up|co-founded|founders?)\b"
    r"(?: .{0,25})?(?:\bby\b|,|\bof\b)?.{0,25}",
    "headquarters location": r".{0,40}\b(?:headquarter\w*|based|HQ|seat|located|offices?)\b(?: (?:is|are|was))?"
    r"(?: (?:in|at|on|near|from)\b)?(?: the)? ?.{0,12}|,? (?:of|in|,)(?: the)? ?",
    "inception": r".{0,40}\b(?:found|establish|creat|form|incorporat|launch|open|organi[sz]|set up|start|beg[au]n"
    r"|since)"
    r"\w*.{0,25}|,? ?\(.{0,12}",
    "located in the administrative territorial entity": r",? (?:.{0,25}\b(?:in|of|from)\b )?(?:the |.{0,20}, )?",
    "member of political party": r".{0,30}\b(?:member|of|for|joined|with|by|as)\b(?: an?| the)? .{0,12}| \(",
    "mouth of the watercourse": r".{0,40}\b(?:into|to|joins?|joined|meets?|enters?|tributary of"
    r"|with)\b(?: the)? .{0,10}",
    "parent organization": r".{0,30}\b(?:subsidiary|owned|division|part|unit|arm|acquired|branch|bought|purchased"
    r"|parent)\b"
    r".{0,25}",
    "performer": r"[\"”’'`, ]*.{0,40}\b(?:by|singer|duo|band|group|rapper|artist|feat\w*)\b.{0,40}",
    "place of birth": r".{0,25}\b(?:born|native)\b.{0,35}\b(?:in|at|of)\b(?: the)? .{0,20}|.{0,3}\(.{0,40}",
    "place of death": r".{0,60}\b(?:died|death|killed|buried|murdered|executed|[–—-])\b.{0,35}\b(?:in"
    r"|at)\b(?: the)? .{0,20}",
    "publication date": r"[\"”’'`, ]*.{0,50}\b(?:releas|publish|air|premier|broadcast|appear|issu|print"
    r"|debut)\w*.{0,30}|"
    r"[\"”’'`]* ?\(|[\"”’'`,]* (?:is|was) an? ",
    "publisher": r"[\"”’'`, ]*.{0,50}\b(?:publish\w*|releas\w*|issued|printed)\b.{0,12}\b(?:by|through"
    r"|with)\b.{0,15}|,? ?\(?",
    "record label": r".{0,50}\b(?:sign\w*|releas\w*|contract|deal|record\w*)\b.{0,30}\b(?:to|with|by|on|through"
    r"|for|via|from)\b"
    r"(?: the)? ",
    "residence": r".{0,30}\b(?:liv(?:es|ed|ing)|resid\w+|home|moved|moves|settled|relocated|grew up|raised|stayed)\b"
    r".{0,15}\b(?:in|at|to|near|outside)\b.{0,15}",
    "screenwriter": r"[\"”’'`, ]*.{0,60}\b(?:writ|wrote|screenplay|script|adapted)\w*.{0,30}",
    "sibling": r".{0,25}\b(?:brother|sister|twin|sibling|half-brother|half-sister)s?\b.{0,15}",
    "spouse": r".{0,30}\b(?:marr|wed|wife|husband|spouse|widow|engaged|divorc)\w*.{0,15}",
}  # fmt: skip
TURNED = {  # and where the tail comes first
    "author": r"(?:['’]s)?.{0,40}\b(?:wrote|writes|author|written|novel|book|poem|play|memoir|autobiography|work"
    r"|essay|story"
    r"|published)\b.{0,25}|(?:['’]s) .{0,20}",
    "cast member": r".{0,25}\b(?:star|appear|play|portray|act|feature|role|cast)\w*.{0,40}",
    "chief executive officer": r",? .{0,40}\b(?:CEO|chief executive(?: officer)?|chief)\b.{0,30}",
    "child": r".{0,25}\b(?:son|sons|daughter|daughters|child|children|born)\b.{0,25}|(?:['’]s)? (?:father|mother),? ",
    "composer": r".{0,25}\b(?:compos|scor|music|written|wrote|song)\w*.{0,25}",
    "country": r"(?:['’]s|-based)? ?(?:\w+ ){0,3}",
    "country of citizenship": r"(?:['’]s)?[ -](?:[\w'’-]+ ){0,4}",
    "developer": r"(?:['’]s)? .{0,20}",
    "director": r".{0,25}\b(?:direct|film)\w*.{0,25}|['’]s .{0,20}",
    "educated at": r".{0,20}\b(?:graduate|alum\w+|student|degree|educated)\b.{0,10}",
    "employer": r"(?:['’]s)? (?:[\w'’.-]+ ){1,5}",
    "founded by": r".{0,30}\b(?:found|establish|creat|form|launch|start|set up)\w*.{0,20}",
    "headquarters location": r"[ -]based .{0,20}|(?:['’]s)? .{0,8}",
    "inception": r".{0,25}\b(?:found|establish|creat|form|launch|start|open)\w*.{0,20}",
    "located in the administrative territorial entity": r"(?:['’]s)? ?(?:\w+ ){0,3}",
    "member of political party": r"(?:['’]s)? (?:[\w'’.-]+ ){0,4}",
    "parent organization": r"(?:['’]s)? .{0,25}",
    "performer": r"(?:['’]s)?.{0,30}\b(?:song|single|album|record|perform|hit|released|sang|sung|track)\w*.{0,15}"
    r"|['’]s ",
    "place of birth": r"[ -]born .{0,10}|.{0,5}\bnative\b.{0,5}",
    "screenwriter": r".{0,25}\b(?:writ|wrote|screenplay|script)\w*.{0,20}",
    "sibling": r".{0,25}\b(?:brother|sister|twin|sibling)s?\b.{0,15}",
    "spouse": r".{0,30}\b(?:marr|wed|wife|husband|spouse|widow)\w*.{0,15}",
}  # fmt: skip
JOINS = {name: re.compile(words, re.I | re.S) for name, words in STATED.items()}
JOINS_BACK = {name: re.compile(words, re.I | re.S) for name, words in TURNED.items()}


def said(scene: Scene, fact: Fact, free: Collection[Place]) -> dict[str, float]:
    """The features of an English fact.

    stated: the words between join both names; apart: how many words are between them; rival: another name that the
    relation could be about is nearer; clauses: how many begin between; the rest are relations that are guessed alike.
    """
    ends = scene.ends(fact)
    between = _between(scene, fact)
    gap = None if between is None else between[2]
    stated = is_stated(scene, fact)
    return {
        "stated": float(stated),
        "apart": 3.0 if gap is None else min(3.0, log(1 + len(gap.split()))),
        "clauses": 2.0 if gap is None else min(2.0, float(len(CLAUSE.findall(gap)))),
        "rival head": float(_has_rival(scene, fact, 0)),
        "rival tail": float(_has_rival(scene, fact, 1)),
        "loose": float(sum((m.start, m.end, m.type) in free for m in ends or ())),
        "pronoun": float(any(is_pronoun(m.text) for m in ends or ())),
        **{name: float(fact.relation in relations) for name, relations in KINDS.items()},
        "guessed": float(fact.relation in GUESSED and not stated),
    }  # fmt: skip


def _between(scene: Scene, fact: Fact) -> tuple[Mention, Mention, str] | None:
    found = scene.within_one_sentence(fact)
    return None if found is None else (found[0], found[1], ASIDE.sub("", found[2]) if "(" in found[2] else found[2])


def is_stated(scene: Scene, fact: Fact) -> bool:
    """Whether the words between two names join them directly."""
    between = _between(scene, fact)
    if between is None:
        return False
    first, last, gap = between
    rules = JOINS if first.id == fact.head_mention else JOINS_BACK
    if first.end > last.start or (
        fact.relation in NATIONALITY and first.id == fact.tail_mention and VERBAL.search(gap)
    ):
        return False
    rule = rules.get(fact.relation)
    if rule is None:
        return False
    return rule.fullmatch(gap) is not None


def _has_rival(scene: Scene, fact: Fact, end: int) -> bool:
    """Whether another name of the type of one end is between the two, and not in a list with it."""
    found, between = scene.ends(fact), scene.within_one_sentence(fact)
    if found is None or between is None:
        return False
    own = found[end]
    first, last, _ = between
    row = {PERSON: scene.people, PLACE: scene.places, "organization": scene.groups, "work": scene.works}.get(own.type)
    if row is None:
        return False
    names = scene.names[fact.head if end == 0 else fact.tail]
    others = [m for m in row.within(first.end, last.start) if m.text not in names and not is_pronoun(m.text)]
    for m in others:
        a, b = (own, m) if own.start < m.start else (m, own)
        if (
            LINK.fullmatch(scene.text, a.end, b.start) is None
            and m.text not in scene.names[fact.tail if end == 0 else fact.head]
        ):
            return True
    return False
