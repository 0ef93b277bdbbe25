"""What a Chinese question asks about, and whether a passage names it.

    topics("杨利伟的身高是多少？")        -> ["杨利伟"]
    topics("谁唱了《忘情水》？")          -> ["忘情水"]

A topic is what is in title marks, or the first words that ask for nothing. A passage names a topic if it has more than
half of its pairs of characters, all of a name of two or three; two fifths of a longer run, which has words beside the
name. Numbers and Latin words of a topic have to be there themselves.
"""

import re

from factpin.answers.cues import CONCEPTS
from factpin.answers.parse import ParsedQuestion, blank_out, parse_question
from factpin.documents import Span
from factpin.memory.terms import fold_words

_TITLE = re.compile(r"《([^》]+)》|「([^」]+)」|“([^”]+)”|\"([^\"]+)\"")
_ASIDE = re.compile(
    r"请问|告诉我|我想知道|你?知道|目前|现在|现任|当前|名字|叫做|哪些|一共|总共|关于|根据|其中|为什么|怎么样?|怎样|如何|多少|由于|除了|文中|"
    r"(?:还|又|也)?可以|[又还也](?:叫|称|名)|大多|一般|主要|这个|这些|那个|已经|经常|曾经|第(?=几)|出现"
)
_BREAK = re.compile(r"[\s\W_]+|[的是有]|(?<=\w)[在由被于把对将向]|\b[在由被于把对将当与从第据]")
_INNER = re.compile(r"[·•・]")  # in the names of foreigners
_EXACT = re.compile(r"[a-z0-9]+")
_SHORT = 2  # characters; fewer are no topic
_NAME = 4  # characters of a run that may be a name; a longer one has other words beside it
_SOME = 0.4  # of the pairs of characters of a longer run


def topics(question: ParsedQuestion) -> list[str]:
    """The words in title marks, or else the first run of words that ask for nothing."""
    text = _INNER.sub("", question.text)
    titles = [next(filter(None, match.groups())) for match in _TITLE.finditer(text)]
    if titles:
        return titles
    asking = parse_question(text).asking
    spans = [*([asking] if asking else []), *(Span(*m.span()) for m in _ASIDE.finditer(text))]
    spans += [Span(*m.span()) for concept in CONCEPTS for m in concept.cue("zh").finditer(text) if len(m[0]) >= _SHORT]
    runs = [run for run in _BREAK.split(blank_out(text, spans)) if len(run) >= _SHORT]
    return runs[:1]


def has_topic(topic: str, text: str) -> bool:
    """Whether a text names a topic."""
    wanted, there = fold_words(_INNER.sub("", topic)), fold_words(_INNER.sub("", text))
    if wanted in there:
        return True
    if any(word not in there for word in _EXACT.findall(wanted)):
        return False
    pairs = [wanted[i : i + 2] for i in range(len(wanted) - 1)]
    share = sum(pair in there for pair in pairs) / max(1, len(pairs))
    return share > 1 / 2 if len(wanted) <= _NAME else share >= _SOME
