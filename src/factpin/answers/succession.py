"""Questions for who came after or before somebody: the sentence has to say it in that direction.

    "Who succeeded Angela Merkel?", "Gerhard Schröder", "Angela Merkel succeeded Gerhard Schröder."   -> False

A small reader finds all words of the question there, and answers with the other end. What it found counts where the
sentence says that the later one succeeded the earlier one, or that the earlier one was succeeded by the later one. One
of them is the answer, the other has the name of the question or a pronoun. Any other wording is not understood.
"""

import re

from factpin.answers.parse import ParsedQuestion
from factpin.answers.topic import topics

_TURNS = (
    r"succe(?:ed|eds|eded|eding)\b(?!\s+(?:in|at)\b)|replac(?:es?|ed|ing)\b|supersed(?:es?|ed|ing)\b|"
    r"t(?:ake|akes|ook|aking) over from\b"
)
_AFTER = rf"(?:{_TURNS}|follow(?:s|ed|ing)\b)"
_BEFORE = r"preced(?:es?|ed|ing)\b"
_VERB = re.compile(rf"\b(?:(?P<after>{_TURNS})|{_BEFORE})", re.I)
_NOUN = re.compile(r"\b(?:(?P<after>successor)|predecessor)\b", re.I)
_WHO = re.compile(r"\W*(?:by )?(?:whom?|which|what)\b", re.I)
_DID = re.compile(r"\b(?:did|does|do)\b", re.I)
_BY = re.compile(r"\s+by\b", re.I)
_BY_NAME = re.compile(r"\s+by\s+(?:the\s+)?[^\W\d_a-z]")
_NAME = re.compile(r"[^\W\d_a-z][\w.-]*(?:\s+(?:(?:of|the|de|van|von|der|la|le|al|bin)\s+)*[^\W\d_a-z][\w.-]*)*")
_ZH_VERB = r"(?:接替|接任|继任|取代|接班)"
_ZH_LATER = re.compile(
    rf"(?:谁|何人|哪位|哪个).{{0,4}}{_ZH_VERB}|{_ZH_VERB}.*的.{{0,4}}谁|(?:继任者?|接任者|接替者|接班人|后任(?!命))"
)
_ZH_LEFT = "(?:退休|卸任|离任|辞职|下台|去世)(?:之?后)?"
_ZH_ASKED = re.compile(rf"{_ZH_LEFT}|{_ZH_VERB}[了过]?|(?:前任|继任者?|接任者|接替者|接班人|后任(?!命)).*")
_ZH_EARLIER = re.compile(rf"前任(?:[是为叫？?]|$)|谁.*前任|{_ZH_VERB}(?:的是|了)?(?:谁|何人|哪)")

_THEY = r"\b(?:[Hh]e|[Ss]he|[Tt]hey|[Ii]t|him|her|them)\b"
_THEIR = r"\b(?:[Hh]is|[Hh]er|[Tt]heir|[Ii]ts)"
_WORDS = r"(?:(?!by\b)[\w.'’-]+\s+){0,4}?"  # before a name: the former Chancellor
_SUBJECT = r"(?:\s*\([^()]*\))?(?:[^.;!?\n]{0,80}?\b[a-z][\w-]*)?[,)]?\s+"  # between a name and its verb


def says_so(question: ParsedQuestion, answer: str, sentence: str) -> bool:
    """Whether a sentence says that the answer came after, or before, as the question asks. True for other questions."""
    zh = question.language == "zh"
    wanted = _wanted_in_chinese(question.text) if zh else _wanted(question)
    name = _name_in_chinese(question) if zh else _name_in(question.text)
    if not wanted or not name:
        return not wanted
    asked = re.escape(name) if zh else rf"(?:{re.escape(name)}|{re.escape(name.split()[-1])})"
    later, earlier = (re.escape(answer), asked) if wanted == "later" else (asked, re.escape(answer))
    patterns = _in_chinese if zh else _in_english
    return any(re.search(pattern, sentence) for pattern in patterns(later, earlier, asked))


def _wanted(question: ParsedQuestion) -> str:
    """Which end a question asks for: later or earlier; "" if neither."""
    text, verb, noun = question.text, _VERB.search(question.text), _NOUN.search(question.text)
    if question.kind in ("time", "number", "") or not _WHO.match(text):
        return ""
    if noun is not None:
        return "later" if noun["after"] else "earlier"
    if verb is None:
        return ""
    passive = _BY.match(text, verb.end()) or text.strip().lower().startswith("by ")
    object_asked = bool(_DID.search(text[: verb.start()])) or (
        bool(passive) and _BY_NAME.match(text, verb.end()) is None
    )  # "Who did X succeed?", "Who was X succeeded by?"; but "Who was succeeded by X?"
    subject_later = bool(verb["after"]) != bool(passive)
    return "later" if subject_later != object_asked else "earlier"


def _wanted_in_chinese(text: str) -> str:
    return "earlier" if _ZH_EARLIER.search(text) else "later" if _ZH_LATER.search(text) else ""


def _name_in(text: str) -> str:
    """The first name in an English question."""
    first = re.match(r"\W*\w+", text)
    found = _NAME.search(text, first.end() if first else 0)
    return re.sub(r"['’]s?$", "", found[0]).rstrip(".") if found else ""


def _name_in_chinese(question: ParsedQuestion) -> str:
    return next((name for topic in topics(question) for name in _ZH_ASKED.sub(" ", topic).split()), "")


def _in_english(later: str, earlier: str, asked: str) -> list[str]:
    """The ways to say that one came after the other."""

    def any_of(name: str, pronoun: str, ending: str = "") -> str:
        return rf"(?:{name}{ending}|{pronoun})" if name == asked else rf"{name}{ending}"

    before, after = any_of(earlier, _THEY), any_of(later, _THEY)
    before_s, after_s = any_of(earlier, _THEIR, "['’]s?"), any_of(later, _THEIR, "['’]s?")
    behind = r"\W+(?:[\w-]+\W+){0,4}?"
    return [
        rf"{after}{_SUBJECT}{_AFTER}\s+{_WORDS}{before}",
        rf"{before}{_SUBJECT}{_AFTER}\s+(?:\w+\s+){{0,5}}?by\s+{_WORDS}{after}",
        rf"{before}{_SUBJECT}{_BEFORE}\s+{_WORDS}{after}",
        rf"{after}{_SUBJECT}{_BEFORE}\s+(?:\w+\s+){{0,5}}?by\s+{_WORDS}{before}",
        rf"\b[A-Z]\w+ing\s+{_WORDS}{before}\b[^.;!?\n]{{0,30}},\s+{_WORDS}{after}",
        rf"{before_s}\s+(?:\w+\s+){{0,2}}successor{behind}{after}",
        rf"{after_s}\s+(?:\w+\s+){{0,2}}predecessor{behind}{before}",
        rf"{after}\b[^.;!?\n]{{0,60}}\bsuccessor\s+(?:of|to)\s+{_WORDS}{before}",
        rf"{before}\b[^.;!?\n]{{0,60}}\bpredecessor\s+(?:of|to)\s+{_WORDS}{after}",
        rf"{after}\b[^.;!?\n]{{0,60}}{before_s}\s+(?:\w+\s+){{0,2}}successor",
        rf"{before}\b[^.;!?\n]{{0,60}}{after_s}\s+(?:\w+\s+){{0,2}}predecessor",
    ]


def _in_chinese(later: str, earlier: str, asked: str) -> list[str]:
    """The ways to say it in Chinese."""
    before, after = (rf"(?:{name}|[他她其])" if name == asked else name for name in (earlier, later))
    heir = "(?:继任者?|接任者|接替者|接班人|后任(?!命))"
    return [
        rf"{after}[^。；]{{0,20}}{_ZH_VERB}[^。；，的]{{0,10}}{before}",
        rf"{before}[^。；]{{0,20}}[由被]{after}[^。；，]{{0,8}}{_ZH_VERB}",
        rf"{_ZH_VERB}{before}[^。；，]{{0,10}}的[^。；，]{{0,4}}是{after}",
        rf"{before}[^。；，]{{0,6}}{heir}[^。；]{{0,8}}{after}",
        rf"{after}[^。；，]{{0,8}}前任[^。；]{{0,8}}{before}",
        rf"{after}[^。；]{{0,12}}{before}的?{heir}",
    ]
