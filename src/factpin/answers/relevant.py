"""Whether what a reader found can answer the question at all.

A small reader looks for words of the right kind, and finds some in passages about something else. It is not believed

- where the question asks for two steps, of which one passage tells one: "When did Tim Burton's father die?";
- where the question compares two things: "Who is older, A or B?";
- where the question asks who or what a name is: "Who is Ed Wood?";
- where the question asks when, or how many, and it found neither a number nor a time;
- where it found words of the question itself;
- where what was read lacks a name or number of the question: another season, another person;
- where the question asks for the wife or the capital of something, and uncertain facts have others;
- where the question asks who came after or before somebody, and the sentence does not say it in that direction;
- where a text denies the answer, or somebody rejected it;
- where a fact explains what the answer has to do with a name of the question, the question does not ask for that fact,
  and no other word of the question is in the sentence: "Who shot Ed Wood?" for "Ed Wood was directed by Tim Burton."
"""

import re
from collections.abc import Sequence

from factpin.answers.cues import CONCEPTS
from factpin.answers.lookup import Lookup
from factpin.answers.parse import ParsedQuestion, blank_out, content_words
from factpin.answers.passages import AnswerSpan, sentence_of, text_of
from factpin.answers.relate import stemmed
from factpin.answers.succession import says_so
from factpin.answers.topic import has_topic, topics
from factpin.documents import Span
from factpin.documents.keys import fold
from factpin.memory.terms import query_terms, terms

_RELATIVE = (
    "father|mother|parent|spouse|wife|husband|son|daughter|child|brother|sister|director|producer|composer|author|writer|"
    "performer|singer|founder|owner|ceo|creator|screenwriter"
)
_STEP = re.compile(rf"['’]s?\s+(?:{_RELATIVE})s?\b|\b(?:{_RELATIVE})s?\s+of\b", re.I)
_MORE = r"first|last|older|younger|earlier|later|recently|larger|bigger|taller|longer|higher|more|most|better"
_COMPARES = re.compile(
    rf"\b(?:{_MORE})\b.*[,?:] .*\bor\b|\bor\b.*\b(?:{_MORE})\b|\bsame\b|\bboth\b|\bin common\b", re.I
)
_COMPARES_ZH = re.compile(
    r"[和与跟].*(?:谁|哪个?|哪一).*(?:更|先|早|晚|大|小|高|长)|还是.*[更先早晚]|相同|同一|一样|共同"
)
_NAME = r"(?:proper|real|full|middle|birth|given|first|last|maiden|stage) name"
_OF_WHOM = re.compile(
    rf"\b(?:(?:{_NAME}|age|nationality|birthplace|birthday|profession|occupation|population) of (?:the|an?) "
    rf"(?:[\w-]+ ){{1,4}}?(?:who|that|which|whose)|{_NAME} of (?:the|an?) (?:[\w-]+ ){{1,2}}of)\b",
    re.I,
)
_IDENTITY = re.compile(r"\s*(?:[Ww]ho|[Ww]hat)(?:['’]s| is| was| are| were)\s+(?P<name>[^\W\d_a-z].*?)\W*")
_LOWER = re.compile(r"(?<![\w'’])(?!(?:of|the|and|de|van|von|der|la|le|al|bin)\b)[a-z]+")
_OWNED = re.compile(r"['’]s?\s")
_IDENTITY_ZH = re.compile(r"(?P<name>.+?)(?:是谁|是什么|是什么人|是何人)[？?]?")
_COUNTED = re.compile(
    r"\d|[〇零一二三四五六七八九十百千万亿两几半数]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|"
    r"hundreds?|thousands?|millions?|billions?|half|twice|several|many|few|single|both|no)\b|\b(?:twen|thir|for|fif|six|seven|"
    r"eigh|nine)t(?:y|een)",
    re.I,
)
_TIME = re.compile(
    rf"{_COUNTED.pattern}|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec|mon|tues|wednes|thurs|fri|satur|sun)[a-z]*\b|"
    r"\b(?:spring|summer|autumn|fall|winter|centur|decade|year|month|week|day|night|morning|evening|noon|dawn|era|age|period|"
    r"dynasty|war|reign|before|after|during|until|since|when|while|today|yesterday|tomorrow|ago|late|early|christmas|easter)|"
    r"[年月日时時天夜晨午晚早春夏秋冬朝代初末后後前期间間]|世[纪紀]|周|节|節",
    re.I,
)
_WORD = re.compile(r"[^\W_]+")
_CLAUSE_END = re.compile("[，,；;]")
_ASKING = frozenset("who whom whose what when where which why how many much".split())  # noqa: SIM905


def is_relevant(
    question: ParsedQuestion, reading: AnswerSpan, by_facts: Lookup | None, *, followed: bool = False
) -> bool:
    """Whether a reading may answer the question; yes and no always may.

    followed: the passage was found by the title that another one mentions, so it need not have the names itself.
    """
    if reading.choice:
        return True
    if fold(text_of(reading)) in fold(question.text):
        return False
    kinds = {"time": _TIME, "number": _COUNTED}
    if question.kind in kinds and kinds[question.kind].search(text_of(reading)) is None:
        return False
    if (
        two_steps(question)
        or compares(question)
        or asks_identity(question, by_facts)
        or not (followed or names_it(question, reading.passage.title, reading.read or reading.passage.text, by_facts))
        or not says_so(question, text_of(reading), sentence_of(reading))
    ):
        return False
    if by_facts is None:
        return True
    found = fold(text_of(reading).strip("《》"))
    if by_facts.rivals and not any(alike(found, rival) for rival in by_facts.rivals):
        return False
    return found not in by_facts.refuted and (found not in by_facts.unasked or _echoes(question, by_facts, reading))


def two_steps(question: ParsedQuestion) -> bool:
    """Whether an English question asks for something of a relative: one cue is a relative, and there is another."""
    step = _STEP.search(question.text)
    if question.language != "en":
        return False
    if _OF_WHOM.search(question.text):
        return True
    if step is None:
        return False
    rest = blank_out(question.text, [Span(*step.span())])
    return any(concept.cue("en").search(rest) for concept in CONCEPTS)


def asks_identity(question: ParsedQuestion, by_facts: Lookup | None) -> bool:
    """Whether a question has nothing but a name: a passage describes it, and no span of it is the answer.

    What is a name in Chinese, the store knows.
    """
    if question.language == "zh":
        match = _IDENTITY_ZH.fullmatch(question.text.strip())
        return match is not None and by_facts is not None and any(match["name"] == name for name, _ in by_facts.names)
    match = _IDENTITY.fullmatch(question.text)
    return match is not None and not _LOWER.search(match["name"]) and not _OWNED.search(match["name"])


def compares(question: ParsedQuestion) -> bool:
    """Whether a question names two things and asks which of them is more, or whether they are alike."""
    pattern = _COMPARES_ZH if question.language == "zh" else _COMPARES
    return pattern.search(question.text) is not None


def names_it(question: ParsedQuestion, title: str, text: str, by_facts: Lookup | None = None) -> bool:
    """Whether a text or its title has every English name and number of a question; of a Chinese one, its topics."""
    if question.language == "zh":
        known = [name for name, _ in by_facts.names] if by_facts is not None else []
        here = f"{title}\n{text}"
        return all(has_topic(_name_in(topic, known), here) for topic in topics(question))
    there = {word.casefold() for word in _WORD.findall(f"{title}\n{text}")}
    words = [match[0] for match in _WORD.finditer(question.text)][1:]  # the first has a capital anyway
    return all(word.casefold() in there for word in words if word[0].isupper() or word.isdecimal())


def _name_in(topic: str, known: Sequence[str]) -> str:
    """The longest name of the store in a topic, or the topic itself."""
    return max((name for name in known if name in topic), key=len, default=topic)


def alike(one: str, other: str) -> bool:
    """Whether two folded names or dates say the same, or one says less: Burton, Tim Burton; 1963年, 1963年6月23日."""
    a, b = set(_WORD.findall(one)), set(_WORD.findall(other))
    return one in other or other in one or a <= b or b <= a


def _echoes(question: ParsedQuestion, by_facts: Lookup, reading: AnswerSpan) -> bool:
    """Whether the sentence of a reading has a word of the question beside its names.

    In Chinese, it has to be in the clause where the later of name and answer is: 由A执导，B主演 does not say that B
    directed.
    """
    sentence = sentence_of(reading)
    spans = [Span(*m.span()) for name, _ in by_facts.names for m in re.finditer(re.escape(name), question.text)]
    rest = blank_out(question.text, [*spans, *([question.asking] if question.asking else [])])
    if question.language == "zh":
        named = [sentence.find(name) for name in (text_of(reading), *(name for name, _ in by_facts.names))]
        later = max(0, *named)
        before, after = sentence[:later], sentence[later:]
        return bool(set(query_terms(rest)) & set(terms(_CLAUSE_END.split(before)[-1] + _CLAUSE_END.split(after)[0])))
    return any(stemmed(word).search(sentence) for word in content_words(rest) if word not in _ASKING)
