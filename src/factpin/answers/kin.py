"""Relatives that are two steps away, in the words of the steps: the paternal grandfather is the father's father.

    in_steps("Who is Ann Ash's maternal grandfather?") -> "Who is Ann Ash's mother's father?"
    in_steps("谁是王五的外公？")                         -> "谁是王五的母亲的父亲？"

Words that may mean either side (grandfather, uncle) are left as they are, and so are titles: 《我的外公》.
"""

import re

_ENGLISH = {
    "paternal grandfather": ("father", "father"),
    "paternal grandmother": ("father", "mother"),
    "maternal grandfather": ("mother", "father"),
    "maternal grandmother": ("mother", "mother"),
    "father-in-law": ("spouse", "father"),
    "mother-in-law": ("spouse", "mother"),
    "child-in-law": ("child", "spouse"),
    "daughter-in-law": ("child", "wife"),
    "son-in-law": ("child", "husband"),
}
_CHINESE = {
    "外祖父": "母亲的父亲", "外公": "母亲的父亲", "姥爷": "母亲的父亲", "外祖母": "母亲的母亲", "外婆": "母亲的母亲",
    "姥姥": "母亲的母亲", "祖父": "父亲的父亲", "爷爷": "父亲的父亲", "祖母": "父亲的母亲", "奶奶": "父亲的母亲",
    "岳父": "妻子的父亲", "岳母": "妻子的母亲", "公公": "丈夫的父亲", "婆婆": "丈夫的母亲",
}  # fmt: skip
_KIN = "|".join(_ENGLISH).replace("-", "[- ]").replace(" ", r"\s+")
_OF = re.compile(rf"\b(?:the\s+)?({_KIN})\s+of\b", re.I)
_POSSESSIVE = re.compile(rf"(['’]s?\s+)({_KIN})\b", re.I)
_TITLE = re.compile('(《[^》]*》|“[^”]*”|「[^」]*」|"[^"]*")')
_ZH = re.compile(rf"的({'|'.join(_CHINESE)})")


def in_steps(question: str) -> str:
    """The question with both steps named."""
    return "".join(part if _TITLE.fullmatch(part) else _in_steps(part) for part in _TITLE.split(question))


def _in_steps(question: str) -> str:
    question = _OF.sub(
        lambda match: " of ".join(f"the {step}" for step in reversed(_steps(match[1]))) + " of", question
    )
    question = _POSSESSIVE.sub(lambda match: match[1] + "'s ".join(_steps(match[2])), question)
    return _ZH.sub(lambda match: f"的{_CHINESE[match[1]]}", question)


def _steps(word: str) -> tuple[str, str]:
    """The two steps to a relative."""
    spaced = " ".join(word.lower().split())
    return _ENGLISH.get(spaced) or _ENGLISH[spaced.replace(" ", "-")]
