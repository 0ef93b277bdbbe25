"""How directly a Chinese sentence states a fact: the features that evidence.py weighs."""

import re
from collections.abc import Collection

from factpin.documents import Fact, Mention
from factpin.extraction.combine import Place
from factpin.extraction.scene import GROUP, NATIONALITY, PERSON, TITLE, WORK, Scene
from factpin.extraction.wording_zh import ASIDE, BREAK, DEGREE, MADE_BY
from factpin.language.borders_zh import cut_words

COUPLE = ("妻子", "丈夫")
FAMILY = (*COUPLE, "父亲", "母亲")
NAMES = (PERSON, GROUP, WORK)
DOUBTFUL = 0.75  # the score of a person below which the borders of the name often are wrong
NEAR = 20  # characters behind two names in which a word about both of them comes

TITLE_BEFORE = re.compile(r"[“「《》\s]*")
JOB_BEFORE = re.compile(r"[^，。；：、！？由被将把]{1,14}?[\s“「]*")
TAKES = re.compile("[^，。；]{0,6}(?:任|就职于|任职于|成为|当选为?|在|于)[^，。；]{0,4}")
IS = re.compile("[，,]?[男女]?[，,]?[是为]?(?:一[位名])?(?:著名)?")
FOUNDS = "(?:成立|创立|创建|建立|创办|始建|设立|建成|组建|注册)"
FOUNDED = re.compile(f"[^，。；]{{0,3}}(?:{FOUNDS}?[于於在自]?)")
FOUNDED_AFTER = re.compile(f"，?[^，。；]{{0,10}}{FOUNDS}了?[^，。；的]{{0,2}}")
WEDS = re.compile(
    "(?:[和与跟、，]|以及)?[的他她其]?(?:现任|前|亡|原配|结发|第[一二三四五]任|首任|未来的?|[大二三四])?"
    "(?:妻子?|夫人|太太|老婆|丈夫|老公|先生|爱人|媳妇|王妃|皇后|皇妃|宠妃|妃子|娇妻|亡夫|前妻)(?:就?是|为|名?叫|：|，|原名)?|"
    ".{0,6}(?:娶|嫁给?了?|下嫁|改嫁)(?!妻)[^，。；]{0,8}|[和与跟及同].{0,8}(?:妻子|丈夫|夫人|太太)|就?是"
)
PARENT = re.compile("[的，他她其]{0,2}.{0,4}(?:父亲?|爸爸|母亲?|妈妈|生父|养父)[是为叫：]?")
CHILD = re.compile("[^，。；]{0,8}(?:子|女|儿|所生)")
BY = re.compile("》?[^，。；《]{0,4}[是为由：:][^，。；《]{0,14}|》?的?[^，。；《]{0,6}")


def said(scene: Scene, fact: Fact, free: Collection[Place]) -> dict[str, float]:
    """The features of a Chinese fact.

    stated: the words join both names directly; cut: a name begins or ends within a word; doubtful: a person may be no
    name; loose: how many names the model of entities does not see there; family and author: relations that are guessed
    too easily.
    """
    ends = scene.ends(fact) or ()
    return {
        "stated": float(is_stated(scene, fact)),
        "cut": float(is_cut(scene, fact)),
        "doubtful": float(any(m.type == PERSON and m.score is not None and m.score < DOUBTFUL for m in ends)),
        "loose": float(sum(m.type in NAMES and (m.start, m.end, m.type) in free for m in ends)),
        "family": float(fact.relation in FAMILY),
        "author": float(fact.relation == "作者"),
    }


def is_cut(scene: Scene, fact: Fact) -> bool:
    """Whether a name begins or ends within a word; parts of a title or of the head (教育部部长) may."""
    head, tail = scene.ends(fact) or (None, None)
    if head is None or tail is None:
        return False
    inside = head.start <= tail.start and tail.end <= head.end
    cut = {place for m in ((head,) if inside else (head, tail)) for place in cut_words(scene.text, m.start, m.end)}
    titles = [m for m in scene.at.values() if m.type == TITLE]  # 中国作家协会|主席
    return any(not any(m.start < place < m.end for m in titles) for place in cut)


def is_stated(scene: Scene, fact: Fact) -> bool:
    """Whether the words between and around two names join them directly."""
    ends = scene.ends(fact)
    if ends is None:
        return False
    head, tail = ends
    first, last = (head, tail) if head.start <= tail.start else (tail, head)
    gap = ASIDE.sub("", scene.text[first.end : last.start])
    if fact.relation in MADE_BY:
        return _is_made(scene, fact.relation, head, tail, gap)
    if fact.relation in COUPLE:
        return WEDS.fullmatch(gap) is not None
    if fact.relation in FAMILY:
        child = last is tail and gap in ("是", "为", "，是") and CHILD.match(scene.text, tail.end) is not None
        return child or (last is tail and PARENT.fullmatch(gap) is not None)
    if fact.relation in NATIONALITY:
        return scene.is_attribute(tail, head) if last is head else IS.fullmatch(gap) is not None
    if fact.relation == "职务":
        return last is head and TITLE_BEFORE.fullmatch(scene.text[tail.end : head.start]) is not None
    if fact.relation == "任职":
        return (JOB_BEFORE if last is head else TAKES).fullmatch(gap) is not None
    if fact.relation == "隶属机构":
        return head.start == tail.start and tail.end < head.end
    if fact.relation in ("出生日期", "出生地"):
        return last is tail and len(gap) < NEAR and "。" not in gap
    if fact.relation == "成立日期":
        return (FOUNDED_AFTER if last is head else FOUNDED).fullmatch(gap.lstrip("（，")) is not None
    if fact.relation == "毕业院校":
        return DEGREE.search(gap + scene.text[last.end : last.end + NEAR]) is not None
    return False


def _is_made(scene: Scene, relation: str, work: Mention, person: Mention, gap: str) -> bool:
    """Whether a title in 《》 and somebody are joined by the word for what he did, or by is, by, of or a colon."""
    if not scene.text.endswith("《", 0, work.start):
        return False
    if work.start < person.start:
        return BY.fullmatch(gap) is not None
    before = BREAK.split(scene.text[max(0, person.start - 6) : person.start])[-1]
    return BREAK.search(gap) is None and MADE_BY[relation].search(before + gap) is not None
