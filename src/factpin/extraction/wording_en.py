"""English facts that the words of their sentences rule out.

- Who wrote and who directed is said right before the names: written by A and directed by B.
- Somebody who is English-born, or plays American football, need not be English or American.
- An employer needs a job: "Nixon" and "the CIA" in one sentence say nothing.
- A place lies in the country that is named right behind it. Three miles from a town is not in it, a border not within.
- An actor in brackets is not of the family of the part: Linda (portrayed by Wendie Jo Sperber).
- A river flows into another where a verb says so. Europe is no administrative unit.
- A date in brackets is that of the person right before them, and two people have no birthday together.
- A pronoun means whom the text is about. If it is about several people, who is meant is a guess, and not shown.
"""

import re
from collections.abc import Callable, Collection

from factpin.documents import Fact, Mention
from factpin.extraction.scene import GROUP, LONGEST, PERSON, PLACE, Scene
from factpin.language.countries import region_size

# ---- works ----------------------------------------------------------------------------------------------------------

BY = {  # what is said right before who made a work
    "director": "direct|film by",
    "screenwriter": "writ|wrote|adapt|screenplay|script",
    "producer": "produc",
    "composer": "compos|scor|music|writ|wrote|song",
    "author": "writ|wrote|author|poem|novel|book|play|story|memoir|essay|work|by",
    "developer": r"develop|creat|design|writ|wrote|built|releas|publish|produc|made|invent|introduc|implement|['’]s\b",
    "performer": "perform|record|sing|sung|song|single|album|track|cover|featur|hit|ballad",
    "cast member": "star|featur|cast|play|portray|act|appear|role|lead|voice|with",
}
VERBS = r"\w*(?:direct|writ|produc|compos|edit|adapt|perform|publish|record|scor|narrat|develop|design|creat|releas)\w*"
SAID_OF = {"developer": "develop|design|creat|produc|writ", "publisher": "publish|releas"}  # right before these
PARTS = r"(?:screen|tele)?play|script|story|score|music|lyrics|words|cinematography|soundtrack|songs"
MADE_BY = re.compile(
    rf"\b({VERBS}(?:,? (?:and )?{VERBS})*|(?:{PARTS})(?: and (?:{PARTS}))?) by\b|"
    r"\b(starring|stars?\b|featuring|featured|cast\b|with\b)",
    re.I,
)
SOURCE = re.compile(
    r"\bbased (?:up)?on\b|\badapt(?:ed from|ation of)\b|\binspired by\b|\bof the same name\b|\bsequel to\b", re.I
)
PART = re.compile(
    r"\b(?:about|fictional|characters?|named|called|hero|protagonist|officer)\b[^,.]{0,30}$|\bas (?:the )?$", re.I
)
HERE = re.compile(r"\bin (?:the|this|that) (?:film|movie|series|show|episode)\b", re.I)
OF_WORKS = (*BY, "publisher", "publication date")


def is_made_by_another(scene: Scene, fact: Fact) -> bool:
    """The last words before the name say something else: directed by, written by, based on a novel by."""
    ends = scene.within_one_sentence(fact) if fact.relation in OF_WORKS else None
    if ends is None:
        return False
    first, last, gap = ends
    if _is_shortened(scene, fact, first, last):
        return True
    around = f"{scene.text[max(0, first.start - 40) : first.start]}{gap}{scene.text[last.end : last.end + 30]}"
    if first.id == fact.head_mention:
        if SOURCE.search(gap) or (last.type == PERSON and PART.search(gap)):
            return True
        if fact.relation == "cast member" and HERE.search(gap):
            return True
        said = ["".join(match) for match in MADE_BY.findall(gap)]
        words = SAID_OF.get(fact.relation, "" if fact.relation == "author" else BY.get(fact.relation, ""))
        if said and words:
            return re.search(words, said[-1], re.I) is None
    elif SOURCE.search(gap):
        return True
    elif fact.relation == "developer":
        return not gap.startswith(("'s", "’s", " 's"))
    return fact.relation in BY and re.search(BY[fact.relation], around, re.I) is None


def _is_shortened(scene: Scene, fact: Fact, first: Mention, last: Mention) -> bool:
    """Whether a work has the initials of another name, which more often is that of its model: TMNT."""
    title = (first if first.id == fact.head_mention else last).text
    return len(title) > 1 and title.isupper() and title.isalpha() and not scene.names[fact.head].isupper()


# ---- people ---------------------------------------------------------------------------------------------------------

NO_NATION = re.compile(
    r"-born\b|\s+(?:[A-Z]\w+ )?(?:racehorse|horse|dog)\b|\s+(?:rules )?football\b|\s+rules\b|\s+descent|\s+origin|"
    r"\s+immigrant",
    re.I,
)
AS = re.compile(r"\bas\b(?!.*\b(?:is|was|are|were)\b)")
PEOPLES = re.compile(r"\bthe $", re.I)
AT_WORK = re.compile(
    r"\bwork|employ|profess|taught|teach|lectur|faculty|officer|\bCE?O\b|\bCFO\b|chief|president|chair|director|manag|"
    r"edit(?:or|ed)|report(?:er|ed for)|journalist|correspondent|research|scientist|engineer|curator|\bdean\b|hired|"
    r"appoint|join|\bserv|coach|\bhead|partner|founder|staff|analyst|fellow|secretary|minister|architect|designer|"
    r"anchor|host|tutor|retir|columnist|writer|executive|sign|play|member|lead|led\b|post\b|position|consult|advis|intern|captain|"
    r"general|commander|agent|spokes|representative|assistant|programmer|developer",
    re.I,
)
TOLD = re.compile(
    r"\b(?:told|said|says|claimed|stated|that|whether|against|under threat|behest|criticis|accus|sued|offered|refus\w*|"
    r"declin\w*)\b",
    re.I,
)
WHOSE = re.compile(r"\w.*\bwhose (?:[\w,-]+ ){1,4}$", re.S)  # of a name between the two: OpenAI, whose CEO
AGAINST = re.compile(
    r"\b(?:against|versus|vs\.?|beat|beats|beating|defeat\w*|lost to|(?:win|victory|wins) over)(?: the)? $", re.I
)
SIGNED = re.compile(
    r"\bsign|releas|record(?:ed|ing|s)? (?:for|with|on|contract|deal)|\bcontract|\bdeal\b|album|single|roster", re.I
)
ACTS = re.compile(r"\b(?:portrayed|played|voiced|acted) by (?:the )?(?:[\w.]+ ){0,2}$", re.I)
VOICES = re.compile(r"\s*(?:,[^,]*,)?\s*(?:voices|plays|portrays|stars|played|portrayed|voiced)\b", re.I)
OF_OTHERS = re.compile(r",? (?:the |an? )?(?:[\w-]+ ){0,3}(?:daughter|son|child) of\b", re.I)
MARRIED = re.compile(r"\b(?:marr|wed)\w*(?!.*\b(?:father|mother|child|son|daughter|had|parent|kid))", re.I)
FAMILY = ("child", "spouse", "sibling", "father", "mother")


def is_no_nation(scene: Scene, fact: Fact) -> bool:
    """An adjective that says something else than of which country somebody is."""
    ends = scene.ends(fact) if fact.relation == "country of citizenship" else None
    if ends is None:
        return False
    several = PEOPLES.search(scene.text, 0, ends[0].start) is not None and ends[0].text.endswith("s")
    between = scene.text[ends[0].end : ends[1].start] if ends[0].end <= ends[1].start else ""
    return several or NO_NATION.match(scene.text, ends[1].end) is not None or AS.search(between) is not None


def has_no_job(scene: Scene, fact: Fact) -> bool:
    """An employer without a word that says what somebody does there."""
    ends = scene.within_one_sentence(fact) if fact.relation == "employer" else None
    if ends is None:
        return False
    first, last, gap = ends
    if TOLD.search(gap) or (last.type == GROUP and AGAINST.search(gap)):
        return True
    return AT_WORK.search(f"{scene.text[max(0, first.start - 40) : first.start]} | {gap} | "
                          f"{scene.text[last.end : last.end + 40]}") is None  # fmt: skip


def is_at_another(scene: Scene, fact: Fact) -> bool:
    """Somebody in a clause about another organization: Microsoft invested in OpenAI, whose CEO Sam Altman."""
    ends = scene.within_one_sentence(fact) if fact.relation in ("employer", "chief executive officer") else None
    return ends is not None and WHOSE.search(ends[2].lstrip(", ")) is not None


def has_no_contract(scene: Scene, fact: Fact) -> bool:
    """A record label of somebody of whom the sentence names no record there."""
    ends = scene.ends(fact) if fact.relation == "record label" else None
    around = scene.around(fact) if ends else None
    return ends is not None and around is not None and ends[0].type == PERSON and SIGNED.search(around) is None


def is_an_actor(scene: Scene, fact: Fact) -> bool:
    """The actor of a part, taken for one of the family."""
    ends = scene.ends(fact) if fact.relation in FAMILY else None
    if ends is None:
        return False
    text = scene.text
    return any(
        ACTS.search(text[max(0, m.start - 40) : m.start]) or VOICES.match(text, m.end) or scene.is_aside(m)
        for m in ends
    )


def is_child_of_another(scene: Scene, fact: Fact) -> bool:
    """He married her, the daughter of somebody else."""
    ends = scene.ends(fact) if fact.relation == "child" else None
    if ends is None or ends[0].end > ends[1].start:
        return False
    gap = scene.text[ends[0].end : ends[1].start]
    return OF_OTHERS.match(scene.text, ends[1].end) is not None or MARRIED.search(gap) is not None


# ---- places ---------------------------------------------------------------------------------------------------------

LYING = ("country", "located in the administrative territorial entity")
AWAY = re.compile(
    r"\b(?:miles?|km|kilomet\w+) (?:[\w-]+ ){0,2}(?:of|from)\b|\b(?:north|south|east|west)(?:east|west)? (?:of|from)\b|"
    r"\bborders?\b|bordering|\bas well as\b|\band (?:at|in)\b|\band (?:[\w-]+ ){3,}in\b|"
    r"\bbetween\b|\bnear\b|off the coast|\bvia\b|;|\bprotectorate\b|\benclos|\binva|\bconquer",
    re.I,
)
BELONGS = re.compile(
    r"(?:['’]s)\b| (?:states?|provinces?|cit(?:y|ies)|count(?:y|ies)|regions?|islands?|territor\w+|towns?|districts?)|"
    r"-based"
)
BEHIND = re.compile(r"(?: ?,| in| of)(?: the)? ")
WITHIN = re.compile(r"\b(?:of|in|across|within|from|throughout)(?: the)? $", re.I)
SEAT = re.compile(r"headquarter\w*(?: (?:located|situated|based))? (?:on|in|at)(?: the)? $", re.I)
SEATED = re.compile(
    r"\b(?:headquarter\w*|HQ|based|seat|located|situated|offices?|founded|established|formed|created)\b", re.I
)
BRANCH = re.compile(r"\b(?:registered|other|branch|regional|satellite|field)\b[^,;]*\boffices?\b", re.I)


def lies_elsewhere(scene: Scene, fact: Fact) -> bool:
    """A place that is named beside another one, but not as a part of it."""
    ends = scene.within_one_sentence(fact) if fact.relation in LYING else None
    found = scene.ends(fact)
    if ends is None or found is None:
        return False
    first, last, gap = ends
    head, tail = found
    if last.start < first.end:
        return False
    if first is head:
        behind = next_place(scene, head)
        nearer = behind is not None and behind.end <= tail.start
        own = behind is not None and region_size(behind.text) >= max(1, region_size(tail.text))
        return (nearer and own) or AWAY.search(gap) is not None
    behind = next_place(scene, head)
    if behind is not None and behind.text != tail.text:
        return True
    if AWAY.search(gap) and not BELONGS.match(scene.text, tail.end):
        return True
    own = BELONGS.match(scene.text, tail.end) is not None or scene.is_attribute(tail, head)
    return not own and (head.type == GROUP or WITHIN.search(scene.text, 0, tail.start) is None)


def next_place(scene: Scene, m: Mention) -> Mention | None:
    """The place that is named right behind another: Stamford, Connecticut."""
    link = BEHIND.match(scene.text, m.end)
    found = scene.places.within(link.end(), link.end() + 40) if link else []
    return next((other for other in found if link and other.start == link.end() and other.type == PLACE), None)


def is_no_seat(scene: Scene, fact: Fact) -> bool:
    """The street of a seat, or an office that is not the main one."""
    ends = scene.ends(fact) if fact.relation == "headquarters location" else None
    if ends is None:
        return False
    head, tail = ends
    gap = scene.text[head.end : tail.start] if head.end <= tail.start else ""
    said = [match[0].lower() for match in SEATED.finditer(gap)]
    moved = bool(said) and not said[-1].startswith(("headq", "hq", "based", "seat", "locat", "situat", "office"))
    return moved or SEAT.search(scene.text, 0, head.start) is not None or BRANCH.search(gap) is not None


WORKPLACE = re.compile(r"\b(?:University|College|School|Institute)\b(?!.*\b(?:mov|liv|settl))[^,.;]*$")
ARTICLE = re.compile(r"^the ", re.I)
LIVES = ("residence", "place of birth", "place of death", "headquarters location")


def is_called_so(scene: Scene, fact: Fact) -> bool:
    """A person taken for a place, or a place within the name of a larger one."""
    ends = scene.ends(fact) if fact.relation in LIVES else None
    if ends is None:
        return False
    tail = ends[1]
    if fact.relation.startswith("place") and re.match(r" ?- ?based\b", scene.text[tail.end : tail.end + 9]):
        return True
    word = re.compile(rf"\b{re.escape(tail.text)}\b")
    if any(m.text != tail.text and word.search(m.text) for m in scene.people.mentions):
        return True
    around = scene.places.within(max(0, tail.start - 40), tail.end + 40)
    gap = scene.text[ends[0].end : tail.start]
    if fact.relation == "residence" and WORKPLACE.search(gap):
        return True
    name = ARTICLE.sub("", tail.text)
    return any(m.start <= tail.start and tail.end <= m.end and ARTICLE.sub("", m.text) != name for m in around)


FLOWS = re.compile(
    r"\b(?:flow|empt|drain|discharg|run|fall|pour|debouch)\w*\b[^;]*\b(?:in)?to\b|\b(?:joins?|joined|joining|enters?|meets?)\b"
    r"|\btributar|\bmouth\b|\bconfluen|\binto\b",
    re.I,
)
CONTINENTS = frozenset("africa antarctica asia europe eurasia oceania".split()) | {"north america", "south america"}  # noqa: SIM905


def flows_elsewhere(scene: Scene, fact: Fact) -> bool:
    """Two rivers in one sentence that does not say that one flows into the other."""
    ends = scene.within_one_sentence(fact) if fact.relation == "mouth of the watercourse" else None
    return ends is not None and FLOWS.search(ends[2]) is None


WILD = re.compile(r"(?:Lake|Mount|Gulf|Bay)\b|.*\b(?:Lake|River|Sea|Ocean|Mountains|Gulf)$")


def is_no_unit(scene: Scene, fact: Fact) -> bool:
    """A continent, a lake or the like taken for an administrative unit."""
    name = ARTICLE.sub("", scene.names[fact.tail])
    return fact.relation == LYING[1] and (name.casefold() in CONTINENTS or WILD.match(name) is not None)


# ---- dates ----------------------------------------------------------------------------------------------------------

FOUNDED = re.compile(
    r"\b(?:(found|establish|creat|form|incorporat|launch|open|built|organi[sz]|set up|start|inaugurat|beg[au]n|since)"
    r"|who\b|which\b|migrat|mov|renam|merg|acqui|becam|becom|bought|purchas|sold|clos|dissolv|disband|won\b|award|host|"
    r"chang|relocat|expand|join|reach|appl)",
    re.I,
)


ANOTHER = re.compile(r",? (?:which was )?(?:founded|established|formed)\b")


def is_not_founded(scene: Scene, fact: Fact) -> bool:
    """The last verb before a date is another one: founded by A, who moved there in 1971; or it has another head."""
    ends = scene.ends(fact) if fact.relation in ("inception", "founded by") else None
    if ends is None or ends[0].end > ends[1].start:
        return False
    if any(ANOTHER.match(scene.text, m.end) for m in scene.groups.within(ends[0].end, ends[1].start)):
        return True
    if fact.relation != "inception":
        return False
    if re.search(r"\b\d{4}\b", scene.text[ends[0].end : ends[1].start]):
        return True
    said = [match[1] for match in FOUNDED.finditer(scene.text, ends[0].end, ends[1].start)]
    return bool(said) and said[-1] is None


FOUNDS = re.compile(r"\b(?:co-?)?(?:found|establish|creat|form|launch|start|set up|built|open)", re.I)
TOGETHER = re.compile(r",?\s*(?:and|&|as well as)?\s*(?:the\s+)?", re.I)


def is_founded_by_another(scene: Scene, fact: Fact) -> bool:
    """Another organization is between the founder and this one, and no verb says that this was founded too."""
    ends = scene.ends(fact) if fact.relation == "founded by" else None
    if ends is None or ends[1].end > ends[0].start:
        return False
    group, founder = ends
    others = [m for m in scene.groups.within(founder.end, group.start) if m.text not in scene.names[fact.head]]
    if not others or TOGETHER.fullmatch(scene.text, others[-1].end, group.start):
        return False
    return FOUNDS.search(scene.text, others[-1].end, group.start) is None


RELATIVE = re.compile(
    r"\b(?:his|her|their|a|an|one|two|first|second|third|only|['’]s)\s+(?:\w+\s+){0,2}"
    r"(?:daughters?|sons?|child(?:ren)?|twins?|brother|sister|wife|husband|father|mother)\b(?! of\b)",
    re.I,
)
LIFE = ("date of birth", "date of death", "place of birth", "place of death")
ASIDE = re.compile(r"\s*\([^()]*\)")
BORN = re.compile(r"\bborn\b|birth|\bnative\b|\bb\. |\bhails?\b|\boriginally\b|\bgrew\b|\braised\b|\bdelivered\b", re.I)
EVENT = {
    "birth": re.compile(r"\b(?:born|birth|native)\b"),
    "death": re.compile(r"\b(?:died|dies|death|killed|buried)\b"),
}
PAIR = re.compile(r"\w\s*(?:--|–|—|&)\s*[A-Z]|\w (?:and|&) [A-Z]")


def is_of_another_life(scene: Scene, fact: Fact) -> bool:
    """A birth or death of two people together, or in the brackets behind somebody else."""
    ends = scene.ends(fact) if fact.relation in LIFE else None
    if ends is None:
        return False
    head, tail = ends
    if PAIR.search(head.text) or _is_the_other_event(scene, fact.relation, tail):
        return True
    if fact.relation == "place of birth" and not scene.is_bracketed(tail) and head.end <= tail.start:
        said = ASIDE.sub("", scene.text[head.end : tail.start]) + scene.text[tail.end : tail.end + 8]
        if BORN.search(said) is None:
            return True  # an American musician (born 1977) from Boise
    if head.end <= tail.start and RELATIVE.search(scene.text, head.end, tail.start):
        return True
    opened = scene.text.rfind("(", scene.sentence(tail)[0], tail.start)
    if opened < 0 or ")" in scene.text[opened : tail.start]:
        return False
    before = [m for m in scene.people.within(max(0, opened - LONGEST), opened) if opened - m.end <= 1]
    return bool(before) and all(m.text not in scene.names[fact.head] and head.text not in m.text for m in before)


def _is_the_other_event(scene: Scene, relation: str, tail: Mention) -> bool:
    """Whether the last verb before a place or date speaks of a death where a birth is meant, or the reverse."""
    own, other = EVENT.values() if relation.endswith("birth") else tuple(EVENT.values())[::-1]
    start = scene.sentence(tail)[0]
    ends = [max((m.end() for m in words.finditer(scene.text, start, tail.start)), default=-1) for words in (own, other)]
    return ends[0] < ends[1]


# ---- pronouns -------------------------------------------------------------------------------------------------------

HE = re.compile(r"(?:he|she|him|his|her|hers|it|its|they|their|them)", re.I)
RELATIVE_PRONOUN = re.compile(r"who(?:se|m)?|which", re.I)
AHEAD = re.compile(r"(?:With|In|From|At|For|As|Despite|After|Before|During|On|Through|By|Under|Since)\b[^,;]*")


def is_a_guess(scene: Scene, fact: Fact) -> bool:
    """A pronoun that may mean somebody else: the text named others before, and did not begin with this one."""
    ends = scene.ends(fact)
    if ends is None:
        return False
    return any(
        (HE.fullmatch(m.text) is not None and (not scene.is_subject(owner, m) or _looks_ahead(scene, m)))
        or (RELATIVE_PRONOUN.fullmatch(m.text) is not None and _means_the_last_name(scene, m, owner))
        for m, owner in zip(ends, (fact.head, fact.tail), strict=True)
    )


def _means_the_last_name(scene: Scene, pronoun: Mention, owner: str) -> bool:
    """Whether a relative pronoun follows another name than that of its entity: OpenAI, whose CEO."""
    near = range(pronoun.start - 2, pronoun.start)
    before = [
        m for row in (scene.groups, scene.people) for m in row.within(max(0, pronoun.start - LONGEST), pronoun.start)
    ]
    last = [m for m in before if m.end in near]
    return bool(last) and all(m.text not in scene.names[owner] for m in last)


def _looks_ahead(scene: Scene, pronoun: Mention) -> bool:
    """Whether the name that a pronoun means follows: With its headquarters in Watford, Wetherspoons is known for..."""
    start, end = scene.sentence(pronoun)
    opening = AHEAD.match(scene.text, start, end)
    if opening is None or opening.end() < pronoun.end:
        return False
    named = (*scene.groups.within(opening.end(), end), *scene.people.within(opening.end(), end))
    return any(m.start == opening.end() + 2 for m in named)


RULES: Collection[Callable[[Scene, Fact], bool]] = (
    is_made_by_another,
    is_no_nation,
    has_no_job,
    is_at_another,
    has_no_contract,
    is_an_actor,
    is_child_of_another,
    lies_elsewhere,
    is_no_seat,
    is_called_so,
    flows_elsewhere,
    is_no_unit,
    is_not_founded,
    is_founded_by_another,
    is_of_another_life,
    is_a_guess,
)
