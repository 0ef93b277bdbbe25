"""Parse a question: its language, the kind of answer it asks for, and the words that remain unexplained.

A question is understood if every word belongs to a name in the store, to the cue of a relation, or to the words that
ask for a kind of answer. A single word left over can change the meaning ("the first wife of X"), so we abstain.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from factpin.documents import Span
from factpin.language.identify import HAN, find_language

_EN_KINDS = {
    "time": "year|date|day|month|century|decade|time",
    "place": "city|country|place|town|state|province|location|village|region|continent|county|district|nation|island",
    "person": "person|people|man|woman|actor|actress|singer|writer|politician|player|artist|scientist",
    "organization": "company|organi[sz]ation|university|school|college|team|band|club|party|studio|label|firm|group|"
    "agency|institution|newspaper",
    "work": "film|movie|book|song|album|novel|work|series|game|show|play|poem|story|painting",
}
_ZH_KINDS = {
    "time": "年份?|天|日期?|月份?|时候|时间|世纪",
    "place": "国家?|城市|省份?|地方|县|市|州|地区|地点|区|镇|村|岛",
    "person": "诗人|画家|人物?|位|演员|歌手|作家|导演",
    "organization": "公司|企业|学校|大学|机构|组织|球队|院校|出版社|乐队|政党|单位",
    "work": "电影|影片|作品|小说|书籍?|歌曲?|专辑|电视剧|剧|游戏|节目|戏",
}
_EN_WH = (
    ("time", r"when|(?:in |on )?(?:what|which) (?:{time})"),
    ("place", r"where|(?:in |at )?(?:what|which) (?:{place})"),
    ("person", r"(?:by )?whom?|whose|(?:what|which) (?:{person})"),
    ("number", r"how (?:many|much|old|tall|long|large|high|big|far)"),
    ("organization", r"(?:what|which) (?:{organization})s?"),
    ("work", r"(?:what|which) (?:{work})s?"),
    ("any", r"what|which"),
)
_ZH_WH = (
    ("time", r"什么(?:时候|时间|日子)|何时|哪一?(?:年|天|月)(?:哪一?月)?(?:哪一?[天日])?|几几?年|几月几?[日号]?"),
    ("place", r"哪里|哪儿|何处|何地|什么地方|哪一?(?:个|座)?(?:{place})|什么(?:城市|国家|地方)"),
    ("person", r"谁|何人|哪一?(?:位|些人|个人)(?:{person})?|什么人"),
    ("number", r"多少|有?多(?=[高大长久远])|几(?:个|人|位|部|名)"),
    ("organization", r"哪一?(?:家|所|个|支|些)?(?:{organization})|什么(?:{organization})"),
    ("work", r"哪一?(?:部|本|首|个|些|几部|款)?(?:{work})|什么(?:{work})|哪[部本首]"),
    ("any", r"什么|哪(?:个|些|种|一个)?|何"),
)
_SMALL = (
    "a an the of in on at by to for from with as and is are was were be been being do does did has have had s it its "
    "his her their he she they that this there name named called full please tell me us know can could would you "
    "exactly currently current now"
)
_EN_SMALL = frozenset(_SMALL.split())
_ZH_SMALL = re.compile(
    r"请问|告诉我|我想知道|的名字|叫做|名字|目前|现在|现任|当前|[的了是在于呢啊呀么那这部个位家首本所座叫名有被由为其她他它和与及都而]"
)
_ASIDE = re.compile(r"[\s\W_]+")
_WORD = re.compile(r"[^\W_]+")
_YES_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will)\b|[吗么嘛]\W*$|是不是|是否|有没有", re.I
)
_REQUEST = re.compile(
    r"^\W*(?:do|can|could|will|would) (?:you|anyone|anybody) (?:\w+ )?(?:know|tell|say|name|give|remember)\b"
    r"(?!.*\b(?:if|whether)\b)|"
    r"^\W*(?:请问)?(?:你们?|您|有人|大家)?(?:能不能|是否|能|可以|可否)?(?:知道|晓得|记得|告诉我?|说出)(?!.*(?:是不是|是否|有没有))",
    re.I,
)


def _filled(pattern: str, kinds: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: kinds[match[1]], pattern)


_WH = {
    "en": [(kind, re.compile(rf"\b(?:{_filled(p, _EN_KINDS)})\b", re.I)) for kind, p in _EN_WH],
    "zh": [(kind, re.compile(_filled(p, _ZH_KINDS))) for kind, p in _ZH_WH],
}
_NOUNS = {
    "en": [(kind, re.compile(rf"\b(?:{p})s?\b", re.I)) for kind, p in _EN_KINDS.items()],
    "zh": [(kind, re.compile(p)) for kind, p in _ZH_KINDS.items() if kind != "time"],
}


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """What can be said about a question before looking at the store."""

    text: str
    language: str  # en or zh
    kind: str  # of the answer: person, place, time, number, organization, work or any; "" for a yes-no question
    asking: Span | None = None  # the question words: when, 什么时候


def parse_question(question: str) -> ParsedQuestion:
    """Find the language of a question and what it asks for."""
    language = "zh" if find_language(question) in ("zh", "ja") or HAN.search(question) else "en"
    for kind, pattern in _WH[language]:
        if match := pattern.search(question):
            return ParsedQuestion(question, language, kind, Span(*match.span()))
    return ParsedQuestion(question, language, "" if _YES_NO.search(question) else "any")


def is_yes_no(question: str) -> bool:
    """Whether yes or no answers a question. "Do you know the capital of Peru?" asks for the capital."""
    return parse_question(question).kind == "" and not _REQUEST.search(question)


def asking_yes_no(question: ParsedQuestion) -> list[Span]:
    """The words that make it a yes-no question: is, did, 吗."""
    return [Span(*match.span()) for match in _YES_NO.finditer(question.text)]


def unexplained(question: ParsedQuestion, explained: Iterable[Span], kinds: Iterable[str]) -> str:
    """The words that are neither explained, nor function words, nor nouns for one of the kinds ("the film")."""
    spans = [*explained, *([question.asking] if question.asking else [])]
    text = blank_out(question.text, spans)
    wanted = set(kinds)
    for kind, pattern in _NOUNS[question.language]:
        if kind in wanted:
            text = pattern.sub(" ", text)
    if question.language == "zh":
        return _ASIDE.sub("", _ZH_SMALL.sub("", text))
    return " ".join(word for word in _WORD.findall(text) if word.lower() not in _EN_SMALL)


def blank_out(text: str, spans: Iterable[Span]) -> str:
    """Replace spans of a text by spaces of the same length, so that other offsets stay valid."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def content_words(text: str) -> list[str]:
    """The English words of a text without function words, in lower case."""
    return [word for word in (w.lower() for w in _WORD.findall(text)) if word not in _EN_SMALL]
