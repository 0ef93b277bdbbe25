"""Chinese facts whose names were cut wrongly, or that a clause beside them says of something else.

- A title names an office, not what somebody made (野牛镍币的设计师), a kind of people (吸毒人员) or a profession
  (飓风专家), and no verb before it belongs to it (晋升海军中尉).
- A name does not end in the word behind it (陳誠係, 阿里巴巴集團執行|副主席).
- Whoever founds something is not founded, and a date may be that of a new name (1947年改编成) or of the first stone.
- An uncle (叔父) is no father, and somebody's pupil (受龚一教授启蒙) not the teacher.
- A collection that has somebody's poems (收项斯诗) is not his work, nor a journal with an article of his
  (《求是》第16期, 在《人民文学》上发表), nor what is named as that of another (班固《漢書》).
"""

import re
from collections.abc import Callable, Collection

from factpin.documents import Fact
from factpin.extraction.scene import PERSON, TITLE, Scene
from factpin.extraction.wording_zh import ASIDE

NO_OFFICE = re.compile(
    ".*双方(?:代表|人员)|(?!.*(?:首席|总工|特聘)).*(?:专家|專家|艺术家|藝術家|学家|學家|作家|诗人|詩人|画家|畫家|音乐家|音樂家|歌手|演员|演員|选手|選手|球员|"
    "球員|人员|人員|人士|男子|女子|被告人|嫌疑人|被害人|受害者|患者|学生|學生|考生|信徒|粉丝|球迷|居民|村民)|.*的.*[师師者家]"
)
VERB = re.compile(
    "等待|敦促|促(?!进)|晋升|晉升|升任|任命|担任|擔任|会见|會見|邀请|邀請|拜访|拜訪|认识|認識|遇到|遇见|联合(?=驻)|聯合(?=駐)|呼吁|呼籲|敦請|敦请|指责|指責|批评(?!家)|批評(?!家)"
)
CUT_NAME = re.compile(".*[係是在由与與於于]")
CUT_GROUP = re.compile(".*(?:执行|執行|副|常务|常務|首席|名誉|名譽|兼)")


def is_cut_badly(scene: Scene, fact: Fact) -> bool:
    """A title that is a description or holds a verb, or a name that ends in a part of what follows it."""
    for m in scene.ends(fact) or ():
        if m.type == TITLE and (NO_OFFICE.fullmatch(m.text) or VERB.match(m.text)):
            return True
        if m.type == PERSON and len(m.text) > len("陳誠") and "·" not in m.text and CUT_NAME.fullmatch(m.text):
            return True
        if fact.relation == "任职" and m.id == fact.tail_mention and CUT_GROUP.fullmatch(m.text):
            return True
    return False


FOUNDS = re.compile(
    "(?:决定|决议|正式|批准|宣布|共同|联合|聯合|发起|發起)?(?:成立|设立|創立|创立|组建|建立|創辦|创办)(?:起|了)?"
    "(?P<what>[^，。；、！？：（）]*)"
)
ITSELF = re.compile("于|於|在|时|時|后|後|以|之|的|仪式|儀式|大会|大會|典礼|典禮|至今|初|日|年|前|，|\\d")
RENAMED = re.compile(
    "[^，。；]{0,6}(?:改编|改編|改名|更名|改称|改稱|改为|改為|改组|改組|改制|并入|併入|迁|遷|撤销|撤銷|解散|停刊|升格|命名|"
    "合并|合併|重建|动工|動工|开工|開工|奠基|破土)"
)
BESIDE = re.compile("(?:及|以及|和|与|與|、)")


def is_founded_otherwise(scene: Scene, fact: Fact) -> bool:
    """What founds something else, is renamed on that day, or is named beside what was founded then."""
    ends = scene.ends(fact) if fact.relation == "成立日期" else None
    if ends is None:
        return False
    head, tail = ends
    founds = FOUNDS.match(scene.text, head.end)
    if founds and len(founds["what"]) > 1 and not ITSELF.match(founds["what"]):
        return True
    if RENAMED.match(scene.text, tail.end):
        return True
    return head.end <= tail.start and BESIDE.match(ASIDE.sub("", scene.text[head.end : tail.start])) is not None


KIN = re.compile("(?:叔|伯|祖|岳|舅|姑|师|師|神|教|义|義|继|繼|公)父|(?:祖|岳|伯|姑|姨|乳|继|繼|圣|聖)母|叔|伯|舅")


def is_other_kin(scene: Scene, fact: Fact) -> bool:
    """An uncle or grandfather taken for the father."""
    between = scene.within_one_sentence(fact) if fact.relation in ("父亲", "母亲") else None
    return between is not None and KIN.search(between[2]) is not None


COLLECTS = re.compile(
    "》?[^，。；《]{0,4}(?:收(?!到)|辑录|輯錄|选录|選錄|录有|錄有|载有|載有)|》?(?:杂志|雜誌|月刊|周刊)?第[0-9一二三四五六七八九十百]+[期号號]"
)


APPEARS = re.compile("[^，。；]{0,12}[在于於]《")
_PRINT = "(?:发表|發表|撰文|刊登|刊载|刊載|连载|連載)(?!后|後|时|時|期|以)"
PRINTS = re.compile(f"》(?:(?:杂志|雜誌|月刊|周刊|報|报)上?|上){_PRINT}|》(?:发表|發表)(?:了|过|過|文章|论文|論文|一)")


def is_collected(scene: Scene, fact: Fact) -> bool:
    """A collection or a journal that contains something by somebody."""
    between = scene.within_one_sentence(fact) if fact.relation == "作者" else None
    if between is None:
        return False
    first, last, gap = between
    if first.id == fact.head_mention:
        return COLLECTS.match(gap) is not None
    return APPEARS.fullmatch(gap) is not None and PRINTS.match(scene.text, last.end) is not None


OF_SOMEBODY = re.compile("[的著]?《")


def is_of_another(scene: Scene, fact: Fact) -> bool:
    """A work behind the name of somebody else: 班固《漢書》."""
    ends = scene.ends(fact) if fact.relation == "作者" else None
    if ends is None:
        return False
    work, author = ends
    if scene.text.endswith(("作者", "作者是", "作者为", "著者"), 0, author.start):
        return False
    near = [m for m in scene.people.within(max(0, work.start - 20), work.start) if m.text not in scene.names[fact.tail]]
    owners = [m for m in near if OF_SOMEBODY.fullmatch(scene.text, m.end, work.start)]
    return bool(owners) and not any(AND.fullmatch(scene.text, author.end, m.start) for m in owners)


TAUGHT = re.compile("(?:受|随|隨|跟|师从|師從|师承|師承|拜)$")


def is_a_teacher(scene: Scene, fact: Fact) -> bool:
    """The teacher of whoever graduated (受龚一教授启蒙), or the leader of whoever held an office (随叶剑英参加)."""
    ends = scene.ends(fact) if fact.relation in ("毕业院校", "任职") else None
    if ends is None or ends[1].start < ends[0].start:
        return False
    before = [m for m in scene.people.within(max(0, ends[0].start - 8), ends[0].start) if m.id != ends[0].id]
    starts = [ends[0].start, *(m.start for m in before)]
    return any(TAUGHT.search(scene.text[max(0, start - 2) : start]) for start in starts)


ANCESTRAL = re.compile("(?:祖籍|籍贯|籍貫|原籍|祖上|祖居)[^，。；]{0,8}$")


def is_no_ancestral_home(scene: Scene, fact: Fact) -> bool:
    """A place that no word calls ancestral."""
    ends = scene.ends(fact) if fact.relation == "祖籍" else None
    if ends is None:
        return False
    tail = ends[1]
    return (
        ANCESTRAL.search(scene.text, max(0, tail.start - 12), tail.start) is None
        and scene.text[tail.end : tail.end + 1] != "人"
    )


LOST = re.compile("(?:約|约|有|至少|共)?[0-9二三四五六七八九十百千两兩]+(?:多|余|餘)?[人名死]")


def is_a_toll(scene: Scene, fact: Fact) -> bool:
    """Where so many people died, taken for a place of birth: 乔治亚州2人."""
    ends = scene.ends(fact) if fact.relation == "出生地" else None
    if ends is None or "生" in scene.text[max(0, ends[1].start - 6) : ends[1].start]:
        return False
    return LOST.match(scene.text, ends[1].end) is not None


AND = re.compile("[和与與及、]")


def is_beside_an_officer(scene: Scene, fact: Fact) -> bool:
    """Somebody who is named beside an officer without a name: 铸币局局长和麦克尼尔."""
    between = scene.within_one_sentence(fact) if fact.relation == "职务" else None
    return between is not None and between[1].id == fact.head_mention and AND.fullmatch(between[2]) is not None


RULES: Collection[Callable[[Scene, Fact], bool]] = (
    is_cut_badly,
    is_founded_otherwise,
    is_other_kin,
    is_collected,
    is_of_another,
    is_a_teacher,
    is_a_toll,
    is_no_ancestral_home,
    is_beside_an_officer,
)
