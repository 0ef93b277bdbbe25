"""Facts that the words of their sentences rule out, whatever a model thinks of them.

A small model knows which types a relation joins better than which of several names it joins. What it confuses most can
be read off the words around the names:

- Somebody who studies at a school (就读) has not graduated from it (毕业院校).
- A nationality belongs to the name right behind it (the US researcher Stephen Cook, 法国选手泰丝), or it is said of a
  name before it (X is a New Zealand cook, X，克罗地亚足球运动员). A country that is merely mentioned is nobody's.
- An employer, party or office right before a name (Greens leader Christine Milne, 新意公司总经理陈某某) belongs to that
  name alone.
- What something lies in as its country is a country, and a country lies in no other.
- Some relations need a word that says so, besides the names: who works at a school was not educated there.
- A title that contains the name of a person was cut wrongly.
- A place within the name of an organization is nobody's home, and a parliament nobody's employer.
- Of two works that a sentence tells of one after the other, the people named after the second belong to it.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import replace

from factpin.documents import Document, Fact
from factpin.extraction.names import doubtful
from factpin.extraction.scene import LONGEST, NATIONALITY, OWN, PERSON, PLACE, TITLE, Scene
from factpin.language.countries import is_country, is_of_country
from factpin.language.pronouns import is_pronoun

OF_WORKS = ("主演", "导演", "编剧", "作者", "主角", "歌手", "作曲", "作词", "主持人", "嘉宾", "上映时间")
LISTED = re.compile(r"[\s、，,和与與及以《》“”「」『』]*")  # what joins two works that the same is said of
GRADUATION = "毕业院校"
COUNTRY = ("country", "country of citizenship")
WITHIN = ("country", "located in the administrative territorial entity")

AT = ("residence", "place of birth", "place of death", "headquarters location", "地址", "出生地", "总部地点")

STUDIES = re.compile("就读|在读|考入|考上|入读|肄业|退学")
GRADUATED = re.compile("毕业|学位|学士|硕士|博士|校友")

CUES = {  # relation -> words of which its sentence has one outside the two names
    "cast member": r"star|cast|play|featur|act(?:or|ress|ing|s|ed)|role|portray|voice|appear|lead|perform|with\b|,",
    "educated at": r"attend|stud(?:y|ies|ied|ent)|graduat|educat|degree|enrol|alum|transfer|schooled|schooling|scholar|"
    r"major|train|doctorate|Ph\.? ?D|\b[BM]\.?[AS]c?\b|bachelor|master|pupil|college (?:foot|basket|base)ball|learn|"
    r"diploma|accept|admit|enter|went to|class of|fellowship|from\b",
    "inception": r"found|establish|creat|form|incorporat|launch|open|built|organi[sz]|set up|origin|start|beg[ai]n|"
    r"inaugurat|since|formed|\(",
    "residence": r"\bliv|resid|\bhomes?\b|\bhouse|settl|\bmov(?:e|ed|es|ing)\b|relocat|dwell|migrat|grew|rais|based|"
    r"apartment|exile|stay|return|spent",
    "headquarters location": r"headquarter|\bHQ\b|\bbased\b|\bseat\b|\boffices?\b|located|situated|"
    r"(?:company|firm|corporation|manufacturer|publisher|agency|bank|group|organi[sz]ation|university|college|institute|"
    r"school|museum|hospital|library|club|team|newspaper|station|label|studio)s? (?:in|from|of)\b",
}
CUE = {relation: re.compile(words, re.I) for relation, words in CUES.items()}

FAR = 200  # characters between a name and a country behind it: more say nothing of it
SAID = {  # what links a name to a country behind it
    "en": re.compile(
        r"(?:.*\b(?:is|was|are|were|became)|,) ?(?:an?|the|one of the)? ?"
        r"(?:(?!(?:of|to|by|with|for|from)\b)[\w-]+ ){0,2}|"
        r".*\b(?:president|king|queen|emperor|empress|minister|chancellor|premier|senator|citizen|native|national|"
        r"monarch|ruler|sultan|prince|princess|ambassador|governor[- ]general|politician)s? (?:of|from)(?: the)? ?|"
        r",? ?(?:who )?(?:comes?|came|hails?|hailed|is|was)? ?from(?: the)? ?",
        re.I,
    ),
    "zh": re.compile(r"[，,]?(?:(?:是|为|係|系|乃)[^，。；、]{0,8})?|[，,]?(?:出身|来自|來自)|[，,]?(?:拥有|持有|具有)?"
                     r"(?:国籍|國籍)(?:是|为|為)?|.*(?:国籍|國籍)(?:是|为|為|：|:)"),
}  # fmt: skip
PARTY = re.compile("被告|被害|嫌疑|原告|证人|證人|上诉人|上訴人|民警")  # people whom a court deals with
JOB = re.compile("任(?!何|意|务|務)|职|職|员工|員工|工作|经理|經理|董事|总|總|主席|法人|法定代表|负责人|負責人|股东|"
                 "股東|会计|會計|主任|[局院校所部处處厂廠]长|雇|聘|律师|律師|业务员|業務員")  # fmt: skip
OF_TEXTS = re.compile(  # what is Vietnamese here is a text, not somebody
    r"\s+(?:translat|languages?\b|speak|versions?\b|editions?\b|literature|texts?\b|grammar|dictionar|locali[sz])", re.I
)
PEOPLE = re.compile("族|裔")  # not 人: 绍兴人 says where somebody comes from
MEMBERS = re.compile(r"\b(?:Senate|Parliament|Congress|Legislature|Assembly|House of|Society|Association)\b")
ASIDE = re.compile(r"\s*[（(][^（）()]*[）)]\s*")


def credible(doc: Document) -> list[Fact]:
    """The facts of a document that its wording allows."""
    scene, wrong = Scene.of(doc), doubtful(doc)
    wrong -= {m.id for m in doc.mentions if is_pronoun(m.text)}
    rules = (*RULES, *rules_of(scene.language))

    def is_allowed(fact: Fact) -> bool:
        named = wrong.isdisjoint((fact.head_mention, None if fact.relation in NATIONALITY else fact.tail_mention))
        return named and not any(rule(scene, fact) for rule in rules)

    return [_as_said(scene, fact) for fact in doc.facts if is_allowed(fact)]


def rules_of(language: str) -> Collection[Callable[[Scene, Fact], bool]]:
    """The rules of a language, whose patterns take a while to compile."""
    if language == "zh":
        from factpin.extraction.clauses_zh import RULES as clauses  # noqa: PLC0415
        from factpin.extraction.wording_zh import RULES as words  # noqa: PLC0415
    else:
        from factpin.extraction.clauses_en import RULES as clauses  # noqa: PLC0415
        from factpin.extraction.wording_en import RULES as words  # noqa: PLC0415
    return (*words, *clauses)


def _as_said(scene: Scene, fact: Fact) -> Fact:
    """What a name is called in passing is asserted, though its sentence denies something: the Soviet leader denied it.

    So is what follows the clause that denies something else (大部分提议被否决，不过…), or precedes one that reports
    something (他生于1808年，据记载…).
    """
    ends = scene.within_one_sentence(fact)
    if fact.assertion in (None, "asserted") or ends is None:
        return fact
    first, last, _ = ends
    beyond = fact.cue is not None and (
        (fact.assertion == "negated" and fact.cue[1] <= scene.clause(first).start)
        or (fact.assertion == "reported" and fact.cue[0] > scene.clause(last).end)
    )
    if first.end > last.start or scene.is_attribute(first, last) or (beyond and scene.language == "zh"):
        return replace(fact, assertion="asserted", cue=None)
    return fact


# ---- rules: whether the words rule a fact out -----------------------------------------------------------------------


def only_studies(scene: Scene, fact: Fact) -> bool:
    """The evidence of a graduation speaks of studying alone."""
    if fact.relation != GRADUATION or not fact.evidence:
        return False
    sentences = [scene.sentences[one.sentence] for one in fact.evidence]
    text = "".join(scene.text[start:end] for start, end in sentences)
    return STUDIES.search(text) is not None and GRADUATED.search(text) is None


def belongs_to_another(scene: Scene, fact: Fact) -> bool:
    """What is said of the head is the attribute of another name."""
    ends = scene.ends(fact)
    if fact.relation not in OWN or ends is None:
        return False
    head, owner = ends[0], scene.owner(ends[1])
    if owner is None or owner.text == head.text:
        return False
    return owner.end <= head.start or head.end <= owner.start


def is_not_said(scene: Scene, fact: Fact) -> bool:
    """A nationality whose country neither precedes the name as its attribute nor is said of it."""
    ends = scene.ends(fact)
    if fact.relation not in NATIONALITY or ends is None:
        return False
    head, tail = ends
    own = scene.attributes(head)
    if OF_TEXTS.match(scene.text, tail.end):
        return True
    if tail.end <= head.start:
        return not own or own[-1].text != tail.text
    if tail.start - head.end > FAR:
        return True
    gap = ASIDE.sub("", scene.text[head.end : tail.start])
    said = SAID[scene.language].fullmatch(gap.strip() if scene.language == "zh" else gap)
    return said is None or any(m.text != tail.text for m in own)


def is_a_people(scene: Scene, fact: Fact) -> bool:
    """A people taken for a place of birth: 东干族."""
    ends = scene.ends(fact) if fact.relation == "出生地" else None
    return ends is not None and PEOPLE.match(scene.text, ends[1].end) is not None


def is_no_country(scene: Scene, fact: Fact) -> bool:
    """The country of something is no country; of somebody it may be an adjective: a French painter."""
    name = scene.names[fact.tail]
    adjective = fact.relation in NATIONALITY and is_of_country(name)
    return fact.relation in COUNTRY and not is_country(name) and not adjective


def is_itself_a_country(scene: Scene, fact: Fact) -> bool:
    """A country that is said to lie in another place."""
    return fact.relation in WITHIN and is_country(scene.names[fact.head])


def has_no_cue(scene: Scene, fact: Fact) -> bool:
    """The sentence has no word for the relation."""
    around = scene.around(fact) if fact.relation in CUE else None
    return around is not None and CUE[fact.relation].search(around) is None


def deals_with_a_party(scene: Scene, fact: Fact) -> bool:
    """An institution that has to do with a party to a case, of whom the sentence names no job."""
    around = scene.around(fact) if fact.relation == "任职" else None
    return around is not None and PARTY.search(around) is not None and JOB.search(around) is None


def is_cut_wrongly(scene: Scene, fact: Fact) -> bool:
    """A title that contains the name of a person."""
    ends = scene.ends(fact)
    tail = ends[1] if ends else None
    if tail is None or tail.type != TITLE:
        return False
    return any(m.type == PERSON for m in scene.people.within(tail.start, tail.end))


def is_of_a_later_work(scene: Scene, fact: Fact) -> bool:
    """Another work is named between a work and what is said of it, and the two are not in one list."""
    ends = scene.ends(fact)
    if fact.relation not in OF_WORKS or ends is None or ends[0].end > ends[1].start:
        return False
    head, tail = ends
    between = [m for m in scene.works.within(head.end, tail.start) if m.text != head.text]
    return bool(between) and LISTED.fullmatch(scene.text[head.end : between[0].start]) is None


def is_part_of_a_name(scene: Scene, fact: Fact) -> bool:
    """A place that is part of the name of an organization: the University of Texas at Austin."""
    ends = scene.ends(fact)
    tail = ends[1] if ends and fact.relation in AT else None
    if tail is None or tail.type != PLACE:
        return False
    around = scene.groups.within(max(0, tail.start - LONGEST), tail.end + LONGEST)
    return any(m.start <= tail.start and tail.end <= m.end and len(m.text) > len(tail.text) for m in around)


def has_members(scene: Scene, fact: Fact) -> bool:
    """An employer that has members and no staff to speak of: a parliament, a society."""
    return fact.relation == "employer" and MEMBERS.search(scene.names[fact.tail]) is not None


RULES: Collection[Callable[[Scene, Fact], bool]] = (
    only_studies,
    belongs_to_another,
    is_not_said,
    is_a_people,
    is_no_country,
    is_itself_a_country,
    has_no_cue,
    deals_with_a_party,
    is_cut_wrongly,
    is_of_a_later_work,
    is_part_of_a_name,
    has_members,
)
