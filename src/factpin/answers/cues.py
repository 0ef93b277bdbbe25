"""The words that ask for common relations, in English and Chinese.

A concept maps the names of a relation in corpora and models to the words of a question that ask for it. Relations
without a concept are matched by their own name and by the words of their evidence.
"""

import re
from dataclasses import dataclass
from functools import cache

from factpin.documents.keys import fold


@dataclass(frozen=True, slots=True)
class Concept:
    """Relations and the words that ask for them. The answer is the tail for `names`, the head for `inverse`."""

    names: tuple[str, ...]
    english: str  # a pattern for whole words
    chinese: str
    kinds: tuple[str, ...]  # kinds of answers: person, organization, place, time, number, work, other
    inverse: tuple[str, ...] = ()
    symmetric: bool = False

    def cue(self, language: str) -> re.Pattern[str]:
        """The pattern for the words that ask for it."""
        return _compiled(self.chinese, "zh") if language == "zh" else _compiled(self.english, "en")


@cache
def _compiled(pattern: str, language: str) -> re.Pattern[str]:
    if not pattern:
        return re.compile(r"(?!)")
    return re.compile(pattern if language == "zh" else rf"\b(?:{pattern})\b", re.IGNORECASE)


def _concept(
    names: str,
    english: str,
    chinese: str,
    kinds: str,
    *,
    inverse: str = "",
    symmetric: bool = False,
) -> Concept:
    def split(text: str) -> tuple[str, ...]:
        return tuple(fold(name) for name in text.split("|") if name)

    return Concept(split(names), english, chinese, tuple(kinds.split()), split(inverse), symmetric)


CONCEPTS = (
    # ---- people
    _concept("date of birth|出生日期|出生时间|生日", "date of birth|birth ?date|birth ?day|born(?: in| on)?",
             "出生日期|出生年月|出生时间|生日|出生(?:于|在)?|生于|诞生(?:于)?", "time"),
    _concept("place of birth|出生地|出生地点", "place of birth|birth ?place|born(?: in| at)?|come from",
             "出生地点?|出生(?:于|在)?|生于|诞生(?:于|在)?|(?:哪里|哪儿|什么地方)的?人", "place"),
    _concept("date of death|死亡日期|去世时间|逝世日期", "date of death|death|die[ds]?(?: in| on)?|pass(?:ed)? away",
             "去世(?:时间|日期)?|逝世(?:时间|日期|于)?|死亡(?:时间|日期)?|死于|卒于|过世", "time"),
    _concept("place of death|死亡地点|去世地点|逝世地", "place of death|die[ds]?(?: in| at)?|pass(?:ed)? away",
             "去世(?:地点?|在|于)?|逝世(?:地点?|在|于)?|死于|死在|卒于|过世", "place"),
    _concept("country of citizenship|nationality|国籍",
             r"nationality|citizen(?:ship)?(?: of)?|country of citizenship|from(?=\W*$)",
             "国籍|哪个?国家?的?人", "place"),
    _concept("residence|居住地|住", "residence|reside[sd]?(?: in)?|live[sd]?(?: in)?|living(?: in)?",
             "居住地|居住(?:在|于)?|定居(?:在|于)?|住(?:在)?", "place"),
    _concept("朝代|dynasty", "dynasty", "朝代|哪一?朝", "other work time place organization"),
    _concept("字|courtesy name", "courtesy name", "(?<!名)字(?:是|叫)?", "other person"),
    _concept("ancestral home|祖籍", "ancestral home", "祖籍(?:在|是)?", "place"),
    _concept("spouse|married|配偶", "spouse|wife|husband|married(?: to)?|marry|marries",
             "配偶|妻子|老婆|太太|丈夫|老公|结婚|娶(?:了)?|嫁给?(?:了)?", "person", symmetric=True),
    _concept("妻子|wife", "wife|spouse|married(?: to)?|marry", "妻子|老婆|太太|夫人|配偶|娶(?:了)?|结了?婚",
             "person", inverse="丈夫|husband"),
    _concept("丈夫|husband", "husband|spouse|married(?: to)?|marry", "丈夫|老公|先生|配偶|嫁给?(?:了)?|结了?婚",
             "person", inverse="妻子|wife"),
    _concept("father|父亲", "father|dad", "父亲|爸爸", "person"),
    _concept("mother|母亲", "mother|mom|mum", "母亲|妈妈", "person"),
    _concept("parent|父母", "parents?", "父母", "person", inverse="child|子女|儿子|女儿"),
    _concept("child|子女", "child(?:ren)?|kids?|offspring", "子女|孩子", "person",
             inverse="father|mother|parent|父亲|母亲"),
    _concept("儿子|son", "sons?", "儿子", "person"),
    _concept("女儿|daughter", "daughters?", "女儿", "person"),
    _concept("sibling|兄弟姐妹", "siblings?|brothers?|sisters?", "兄弟姐妹|兄弟|姐妹|哥哥|弟弟|姐姐|妹妹", "person",
             symmetric=True),
    _concept("educated at|毕业院校|school attended",
             "educated(?: at)?|graduate[ds]?(?: from)?|attend(?:ed)?|stud(?:y|ied)(?: at)?|alma mater",
             "毕业院校|毕业学校|毕业(?:于|自|的)?|就读(?:于|在)?|母校|读的?大学|上的?大学", "organization place"),
    _concept("employer|雇主|工作单位|任职", "employer|employed(?: by| at)?|works? (?:for|at)|worked (?:for|at)",
             "工作单位|任职(?:于|在)?|就职(?:于|在)?|供职(?:于|在)?|工作(?:于)?|雇主", "organization"),
    _concept("member of political party|党派|政党", "(?:political )?party|member of(?: political party)?",
             "政党|党派|(?:加入|属于)哪个党", "organization"),
    _concept("member of sports team|球队|效力", "(?:sports )?teams?|clubs?|play(?:s|ed)? for",
             "球队|效力(?:于|过)?|俱乐部", "organization"),
    _concept("position held|职务|职位", "positions?(?: held)?|hold|held|office|post", "职务|职位|担任(?:过|了)?",
             "other work organization"),
    _concept("award received|获奖|奖项", "awards?(?: received)?|prizes?|w[io]n|receive[d]?",
             "获奖|奖项|获得(?:过|了)?|得过|得了|奖", "other work"),
    # ---- works
    _concept("director|导演", "direct(?:ed|or|ors|s)?(?: by)?", "导演(?:了|过|的)?|执导(?:了|过|的)?", "person"),
    _concept("screenwriter|编剧", "screen ?writers?|scriptwriters?|script|wr(?:ote|ite|ites|itten)(?: by)?|writers?",
             "编剧|剧本", "person"),
    _concept("author|作者", "authors?|wr(?:ote|ite|ites|itten)(?: by)?|writers?|penned(?: by)?",
             "作者|写(?:了|过|的)?|撰写(?:了|的)?|所?著(?:的)?|创作(?:了|的)?|(?:谁|哪位(?:作家|作者)?)的作品",
             "person"),
    _concept("cast member|主演|演员", "cast(?: members?)?|star(?:s|red|ring)?(?: in)?|act(?:ed|s|or|ors|ress)?(?: in)?",
             "主演(?:了|过|的)?|演员|出演(?:了|过)?|领衔|演(?:了|过)", "person"),
    _concept("producer|制片人", "produce(?:d|r|rs|s)?(?: by)?", "制片人|监制|制片", "person organization"),
    _concept("production company|出品公司", "production company|produce[ds]?(?: by)?", "出品公司|出品|制作公司",
             "organization"),
    _concept("composer|作曲", "compos(?:e|ed|er|ers)(?: by)?|music", "作曲(?:的|者|家)?|谱曲(?:的)?|曲作者", "person"),
    _concept("lyrics by|作词", "lyrics(?: by)?|lyricists?", "作词(?:的|者|人)?|填词(?:的)?|词作者", "person"),
    _concept("performer|歌手|演唱者", "perform(?:ed|er|ers|s)?(?: by)?|sings?|singers?|sang|sung(?: by)?|artists?",
             "演唱(?:了|过|的|者)?|歌手|原唱|唱(?:了|过|的)?", "person organization"),
    _concept("所属专辑|album", "albums?", "所属专辑|专辑|收录(?:于|在)?", "work"),
    _concept("publisher|出版社", "publish(?:ed|er|ers|es)?(?: by)?", "出版社|出版(?:的)?", "organization"),
    _concept("publication date|release date|上映时间|发行时间|出版时间",
             "publication date|release(?:d| date)?|publish(?:ed)?|c[ao]me out|premiered?|air(?:ed)?",
             "上映(?:时间|日期|于|的)?|发行(?:时间|日期|于|的)?|公映|首播|播出|出版(?:时间|日期|于|的)?|发布(?:于|的)?",
             "time"),
    _concept("creator|创作者", "creat(?:ed|or|ors|e|es)(?: by)?", "创作者|创作(?:的|了)?", "person organization"),
    _concept("based on|改编自", "based on|adapted from", "改编自|改编", "work"),
    _concept("notable work|代表作", "notable works?|famous for|known for", "代表作品?", "work"),
    _concept("票房|box office", "box office|gross(?:ed)?|earn(?:ed)?", "票房", "number"),
    _concept("主持人|presenter", "host(?:s|ed)?(?: by)?|presenters?", "主持人|主持(?:的|了)?", "person"),
    # ---- organizations
    _concept("founded by|founder|创始人|创办人",
             "found(?:ed|er|ers)?(?: by)?|establish(?:ed)?(?: by)?|creat(?:ed|or)(?: by)?|start(?:ed)?(?: by)?",
             "创始人|创办人|创办(?:了|的)?|创立(?:了|的)?|创建(?:了|的)?|成立(?:了|的)?|建立(?:了|的)?",
             "person organization"),
    _concept("inception|founded|成立日期|成立时间|创立时间",
             "inception|found(?:ed|ing)?(?: in)?|establish(?:ed)?|form(?:ed)?|start(?:ed)?|creat(?:ed)?",
             "成立(?:日期|时间|于|的)?|创立(?:于|的)?|创建(?:于|的)?|建立(?:于|的)?|创办(?:于|的)?", "time"),
    _concept("headquarters location|总部地点|总部",
             "headquarter(?:s|ed)?(?: location)?(?: in)?|based(?: in)?|head office",
             "总部地点|总部所在地|总部(?:位于|设在|在)?", "place"),
    _concept("ceo|chief executive officer|首席执行官|总裁", "ceo|chief executive(?: officer)?|run(?:s)?|lead(?:s)?",
             "ceo|首席执行官|总裁|执掌", "person"),
    _concept("chairperson|董事长|主席", "chair(?:man|woman|person)?", "董事长|主席", "person"),
    _concept("校长|rector", "principal|rector|president|headmaster", "校长", "person"),
    _concept("owned by|owner|所有者", "own(?:s|ed|er|ers)?(?: by)?", "拥有(?:者)?|所有者|属于|老板",
             "person organization"),
    _concept("parent organization|母公司", "parent (?:organi[sz]ation|company)", "母公司", "organization",
             inverse="subsidiary|子公司"),
    _concept("subsidiary|子公司", "subsidiar(?:y|ies)", "子公司", "organization",
             inverse="parent organization|母公司"),
    _concept("developer|开发商", "develop(?:ed|er|ers|s)?(?: by)?", "开发商|开发者|开发(?:了|的)?",
             "person organization"),
    _concept("manufacturer|制造商", "manufactur(?:ed|er|ers|es)(?: by)?|ma[dk]e(?:s|r)?(?: by)?|built(?: by)?",
             "制造商|生产商|制造(?:的)?|生产(?:的)?", "organization"),
    _concept("注册资本|registered capital", "registered capital", "注册资本", "number"),
    # ---- places
    _concept("capital|首都", "capital(?: city)?", "首都|首府", "place", inverse="capital of"),
    _concept("country|国家", "country", "国家|属于", "place"),
    _concept("所在城市|city", "city", "所在城市|在哪座城市|位于|坐落(?:于|在)?|所在地?|在", "place"),
    _concept("location|located in the administrative territorial entity|located in|位置|所在地|location of formation",
             "location|locat(?:ed|e)(?: in)?|situated(?: in)?|where is|where are|lies?(?: in)?",
             "所在地|所在|位于|坐落(?:于|在)?|地处|位置|在", "place"),
    _concept("population|人口数量|人口", "population|inhabitants|people(?: live)?(?: in)?", "人口(?:数量|数)?|人",
             "number"),
    _concept("area|面积|占地面积", "area|large|big|size", "占地面积|面积|占地|大", "number"),
    _concept("elevation|altitude|海拔", "elevation|altitude|high|height|tall", "海拔(?:高度)?|高度?", "number"),
    _concept("official language|官方语言", "official languages?|languages?(?: spoken)?", "官方语言|语言", "other"),
    _concept("head of government|市长|总理", "head of government|prime minister|mayor|premier",
             "总理|市长|首相|政府首脑", "person"),
    _concept("head of state|总统|国家元首", "head of state|president|king|queen|monarch", "总统|国家元首|国家主席|国王",
             "person"),
)  # fmt: skip


@cache
def concepts_of(relation: str) -> tuple[tuple[Concept, bool], ...]:
    """The concepts of a relation, each with whether it asks for the head."""
    name = fold(relation.replace("_", " "))
    return tuple(
        (concept, inverse)
        for concept in CONCEPTS
        for inverse, names in ((False, concept.names), (True, concept.inverse))
        if name in names
    )
