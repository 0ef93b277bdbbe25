"""Pronouns: a mention may be one, a name never is."""

from factpin.documents.keys import fold

_ENGLISH = (
    "i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we us our ours "
    "ourselves they them their theirs themselves this that these those who whom whose which one"
)
_CHINESE = "我 你 您 他 她 它 我们 咱们 你们 他们 她们 它们 自己 本人 其 该 此 这 那 这个 那个 前者 后者 双方 对方"
PRONOUNS = frozenset([*_ENGLISH.split(), *_CHINESE.split()])


def is_pronoun(surface: str) -> bool:
    """Whether a surface form is a pronoun."""
    return fold(surface) in PRONOUNS
