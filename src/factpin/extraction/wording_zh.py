"""Chinese facts that the words of their sentences rule out.

- An employer is stated by a job before the name (新意公司总经理陈某某) or by a verb behind it (陈某某任新意公司经理,
  陈某某在新意公司工作). A court or a police station that deals with somebody employs nobody.
- Who recommends or invites somebody else is not what the sentence is about.
- Dates and places of birth, of foundation and of a first showing need their verb in the same clause.
- Where a sentence has titles in 《》, a work is what is in them; a person between two works belongs to the one whose
  title follows the verb (冯宝宝主演的《武则天》). What a work is compared with or made from (接档《妻子》) is another.
- The part that somebody plays is no actor (饰演陈长生, 杨紫（李易欢）), a translator or a critic no author.
- Who has left an office does not hold it, and a nation before an occupation is no part of an office (苏联汉学家).
- A short name is that of the organization right before it, a height that of the mountain right before it.
"""

import re
from collections.abc import Callable, Collection

from factpin.documents import Fact, Mention
from factpin.extraction.names import DATE
from factpin.extraction.scene import GROUP, PERSON, Scene
from factpin.language.countries import region_size

ASIDE = re.compile("[（(][^（）()]*[）)]")
LISTED = re.compile("[、和与與及或]|以及")
STOP = re.compile("[。！？]")
BREAK = re.compile("[，；。！？：;!?]|,(?!\\d{3})|:(?!\\d)")

# ---- jobs -----------------------------------------------------------------------------------------------------------

_JOB = (
    "(?:[长長员員师師监監官](?!期|久|时间)|经理|經理|主席|总裁|總裁|总统|主任|书记|書記|教授|院士|博士|人士|记者|記者|负责人|"
    "負責人|代表人|合伙人|创始人|創始人|创办人|發言人|发言人|经营者|老板|老闆|股东|股東|会计|會計|出纳|出納|民警|董事|理事|"
    "干事|干部|幹部|主管|顾问|顧問|助理|秘书|秘書|工程师|专家|專家|学者|學者|主帅|前锋|前鋒|门将|后卫|中场|队友|医生|醫生|"
    "护士|司机|主编|主編|编辑|編輯|总编|代表|委员|议员|領袖|领袖|首相|部长|厂长|CEO|校董|雇员|职工|工人|法人|高管|站務|"
    "分析人士|主播|学家|學家|钳工|工人|党员|職員|职员|作家|艺术家|医师|教师|主持人|总工|总监|總監|领导人|掌门人|掌門人|业主|包工头|[科处处室部队隊局所院股组组系]的)"
)
JOB_BEFORE = re.compile(  # from an employer to the name behind it: 总经理, 党组书记、副主任
    rf"[^，。；：！？被将將把给給]{{0,16}}?{_JOB}[“”\"‘’「」《》\s]*(?:[\w·]{{2,12}}[、和及与與])*[“「\s]*"
)
TAKES_UP = re.compile(
    "任(?!何|意|务|務)|职于|職於|供职|供職|就职|就職|任教|工作|效力|加盟|加入|受雇|受聘|执教|執教|当选|當選|成为|成為|"
    "系|係|是|为|為|服役|服务于|调入|调至|调往|签约|進入|进入|创办|创立|创建|經營|经营|领导|領導|率领|执掌|掌管|主持|负责"
)
WORKS = re.compile(
    "任职|任職|供职|供職|就职|就職|任教|执教|執教|工作|效力|加盟|加入|受雇|受聘|服役|上班|签约|创办|创立|创建|经营|執掌|执掌"
)
AFTER = re.compile(
    rf"[^，。；！？]{{0,14}}?{_JOB}|[^，。；]{{0,6}}(?:工作|任职|任職|任教|就职|就職|供职|供職|上班|服役|效力|担任|擔任|执教)"
)
AS_TITLE = re.compile("教授|主任|医生|醫生|院士|博士|研究员|研究員|老师|老師|法官|检察官|律师|总经理|经理|董事长|书记")
TOWARDS = re.compile(
    "[向与與跟]|得到|找到|送给|送給|通过|通過|伙同|骗取|骗得|冒充|报案|举报|请求|起诉|指控|指定|认为|获得"
)


def has_no_post(scene: Scene, fact: Fact) -> bool:
    """An employer without a word that says what somebody does there."""
    if fact.relation != "任职":
        return False
    ends = scene.ends(fact)
    if ends is None:
        return False
    person, group = ends
    if CUT_BEFORE.match(group.text):
        return True
    if group.end <= person.start:
        if scene.text[group.end : person.start] in ("", "的"):
            return AS_TITLE.match(scene.text, person.end) is None and scene.text[group.end] != "的"
        return JOB_BEFORE.fullmatch(ASIDE.sub("", scene.text[group.end : person.start])) is None
    gap = ASIDE.sub("", scene.text[person.end : group.start])
    last, after = BREAK.split(gap)[-1], ASIDE.sub("", scene.text[group.end : group.end + 40])
    if TOWARDS.search(last):
        return True
    if WORKS.search(last) or (TAKES_UP.search(last) and AFTER.match(after)):
        return False
    return not (last.strip().endswith(("在", "于", "於", "到", "入", "从", "從")) and AFTER.match(after))


INVITES = re.compile("之[请請邀]|的?邀[请請]|的?委[托任]|的?推荐|的?任命")


def invites_another(scene: Scene, fact: Fact) -> bool:
    """Somebody at whose invitation another one takes up an office: 受陈布雷之请出任严州中学校长."""
    ends = scene.ends(fact) if fact.relation in POSTS else None
    person = next((m for m in ends or () if m.type == PERSON), None)
    if ends is None or person is None or person.start > min(m.start for m in ends):
        return False
    return INVITES.match(scene.text, person.end) is not None


BACKGROUND = re.compile(
    "(?:导演|導演|老师|教授|先生|女士|等人?)?"
    "(?:(?:的|之)(?:高度)?(?:推荐|推薦|邀请|邀請|介绍|介紹|帮助|幫助|赏识|賞識|提携|提攜|指使|陪同|要求|安排|建议|建議|邀[，,]|"
    "好评|好評|称赞|稱讚|赞赏|讚賞|赞扬|肯定|批评|批評|评价|評價|青睐|青睞)|赏识|賞識)"
)


def is_in_the_background(scene: Scene, fact: Fact) -> bool:
    """Somebody who recommends, invites or helps whom the sentence is about."""
    ends = scene.within_one_sentence(fact)
    if ends is None:
        return False
    first, last, _ = ends
    people = (first, last) if fact.relation in MADE else (first,)
    return any(m.type == PERSON and BACKGROUND.match(scene.text, m.end) for m in people)


MEETS = re.compile("会见|會見|接见|接見|会谈|會談|拜访|拜訪|考察|看望")
LEAVES = re.compile("卸任|辞去|辭去|辞任|辭任|离任|離任|离职|離職|辞职|辭職|免去|免职|下台")
BORN = ("生下", "生下了", "生了", "育有", "诞下", "诞下了", "女儿", "儿子", "女兒", "兒子")


def is_their_child(scene: Scene, fact: Fact) -> bool:
    """The child of two who are married (结婚后生下了关之琳), or somebody besides a couple (转让给彭某夫妇)."""
    ends = scene.within_one_sentence(fact) if fact.relation in ("妻子", "丈夫") else None
    if ends is None:
        return False
    couple = scene.text.startswith(("夫妇", "夫妻", "夫婦"), ends[1].end) and LISTED.fullmatch(ends[2]) is None
    return couple or ends[2].endswith(BORN)


IS = re.compile("(?:是|(?<![认認因])[为為])$")
SPOUSE_OF = re.compile("的(?:妻|夫人|丈夫|太太|遗孀)")


def is_anothers_spouse(scene: Scene, fact: Fact) -> bool:
    """Somebody whose wife is spoken of (认为季姆拉利耶夫的妻子涉嫌诽谤), or the family of a wife (妻子的娘家八幡氏)."""
    ends = scene.within_one_sentence(fact) if fact.relation in ("妻子", "丈夫", "父亲", "母亲") else None
    if ends is None:
        return False
    another = SPOUSE_OF.match(scene.text, ends[1].end) is not None and IS.search(ends[2]) is None
    return another or "娘家" in ends[2]


CHILD_OF = re.compile(
    "(?:之|的[长長次大小幼独獨]?)(?:子|女|女儿|女兒|儿子|兒子|妻子|丈夫|父亲|母亲|[哥弟姐妹]{1,2})[，,]"
)
OF_SOMEBODY = ("毕业院校", "出生地", "出生日期", "国籍", "民族", "祖籍", "任职", "职务")
KIN = re.compile(
    "(?:妻子?|丈夫|夫人|[父母]亲|爸爸|妈妈|儿子|女儿|兄|弟|姐|妹|哥哥?|导师|老师|学生|好友)(?:是|为|叫|名叫|：)?$"
)


def is_said_of_their_kin(scene: Scene, fact: Fact) -> bool:
    """Somebody named behind what is said of another, as a relative: 钱某毕业于清华大学，妻子是杨某."""
    ends = scene.ends(fact) if fact.relation in OF_SOMEBODY else None
    if ends is None:
        return False
    if CHILD_OF.match(scene.text, ends[0].end):
        return True
    if ends[1].end > ends[0].start:
        return False
    gap = scene.text[ends[1].end : ends[0].start]
    return BREAK.search(gap) is not None and KIN.search(gap) is not None


POSTS = ("任职", "董事长", "负责人", "校长")


def has_left(scene: Scene, fact: Fact) -> bool:
    """Somebody who gives up the office that connects the two names, or who meets the one who holds it."""
    ends = scene.ends(fact) if fact.relation in POSTS else None
    if ends is None:
        return False
    person, group = ends if fact.relation == "任职" else ends[::-1]
    if fact.relation != "任职" and MEETS.search(scene.text, person.end, max(person.end, group.start)):
        return True
    return LEAVES.search(scene.text, person.end, scene.clause(person).end) is not None


# ---- dates and places -----------------------------------------------------------------------------------------------

IN_CLAUSE = {
    "出生日期": "生(?!下)|诞(?!下)|誕",
    "出生地": "(?<!一)生(?!活)|(?<![国國])籍|诞|誕|祖|故乡|老家|人(?=$|[，。；、（])",
    "成立日期": "成立|创[立办建始刊](?!人|者)|創[立辦建始刊](?!人|者)|建[立于校成]|始建|兴建|修建|建造|筹建|设立|設立|"
    "注册|註冊|登记|登記|组成|開業|开[业馆办播幕校]|挂牌|诞生|落成|创业|創業|始于|启用|通车",
    "上映时间": "映|首播|播出|发行|發行|开播|開播|推出|发布|上线|上線|发表|发售|播放|面世|问世|登陆|登陸|出版",
}
IN_CLAUSES = {relation: re.compile(words) for relation, words in IN_CLAUSE.items()}
ASKS = re.compile("开工|申请|申請|计划|計劃|拟|提议")
AT_A_PLACE = re.compile(
    "位于|位於|坐落|座落|地处|地處|处于|在(?!内)|设[于在立]|設[於在立]|驻|駐|总部|總部|地址|里的|内的|所在|本部|迁|"
    "市|省|县|有(?:家|间|一)|毗邻"
)
CARRIED = re.compile("带到|帶到|送到|送去|运到|運到|卖|賣|向上述|前往|赶到|赶往")
ADDRESSES = ("地址", "总部地点")
ANNIVERSARY = re.compile(
    r"(?:成立|创[立办建]|建[立成校])(?:了|已|近|约|至今)*(?:\d{1,3}|[一二三四五六七八九十百]+)多?个?[周週]?年"
)
DEICTIC = re.compile(
    "[今昨明后後前当次同近即本]?[日天]|近期|日前|目前|现在|現在|如今|[今去明前同当當本次][年月]|(?:今|当|當)晚"
)


def has_no_verb(scene: Scene, fact: Fact) -> bool:
    """A date or place whose clause has no word for what happened then or there."""
    ends = scene.ends(fact)
    if ends is None or fact.relation not in IN_CLAUSES:
        return False
    if fact.relation == "成立日期" and "成立" in ends[0].text:
        return True
    tail = ends[1]
    if tail.type == DATE and (DEICTIC.fullmatch(tail.text) or tail.text.count("(") != tail.text.count(")")):
        return True
    start, end = scene.clause(tail)
    words = scene.text[start : tail.start] + "　" + scene.text[tail.end : end]
    if fact.relation in ("成立日期", "上映时间"):  # 1986年，…正式成立
        words = ANNIVERSARY.sub("", words + scene.text[end : min(end + 80, scene.sentence(tail).end)])
    if words.rstrip().endswith(("-", "－", "—", "–")) or _opened(scene, tail) >= 0:
        return False  # dates of a life
    return IN_CLAUSES[fact.relation].search(words) is None or (
        fact.relation == "成立日期" and ASKS.search(words) is not None
    )


def has_no_place(scene: Scene, fact: Fact) -> bool:
    """An address that is merely mentioned."""
    ends = scene.within_one_sentence(fact)
    if ends is None or fact.relation not in ADDRESSES:
        return False
    first, last, gap = ends
    if first.end > last.start or len(gap) <= 1:
        return False
    return CARRIED.search(gap) is not None or AT_A_PLACE.search(gap) is None


CITED = re.compile(r"[（(]\d{4}年?[）)]")  # 毛某（2004）: when he wrote it
SINCE_BIRTH = re.compile(
    r"[年月日?？][^，。]{0,8}[－—–\-~～至]\s*$"
)  # 1618年－1641年: the second date is that of death
CHILDREN = re.compile(
    "女儿|儿子|兒子|女兒|[长次三幼独][子女]|双胞胎|妻子|丈夫|父亲|母亲|哥哥|弟弟|姐姐|妹妹|[生产诞]下|育有"
)


def is_born_to_another(scene: Scene, fact: Fact) -> bool:
    """A date of birth behind the name of somebody else."""
    ends = scene.ends(fact) if fact.relation in ("出生日期", "出生地") else None
    if ends is None:
        return False
    head, tail = ends
    if fact.relation == "出生地" and scene.text.endswith(("祖籍", "原籍", "祖籍地"), 0, tail.start):
        return True
    if fact.relation == "出生日期" and (
        CITED.fullmatch(scene.text[tail.start - 1 : tail.end + 1])
        or SINCE_BIRTH.search(scene.text, max(0, tail.start - 24), tail.start)
    ):
        return True
    if CHILDREN.search(scene.text, min(head.end, tail.end), max(head.start, tail.start)):
        return True
    if tail.end <= head.start:
        return _opened(scene, tail) >= 0 > _opened(scene, head)
    own = scene.names[fact.head]
    between = scene.people.within(head.end, tail.start)
    return any(m.text not in own and own not in m.text and not _is_aside(scene, m, head) for m in between)


def _opened(scene: Scene, m: Mention) -> int:
    """Where the bracket begins that a mention is in; -1: it is in none."""
    start = scene.sentence(m).start
    opened, closed = (max(scene.text.rfind(mark, start, m.start) for mark in marks) for marks in ("（(", "）)"))
    return opened if closed < opened else -1


def _is_aside(scene: Scene, m: Mention, head: Mention) -> bool:
    """Whether a mention is in brackets that opened behind the head and closed."""
    between = scene.text[head.end : m.start]
    return between.count("（") + between.count("(") > between.count("）") + between.count(")")


KIND = re.compile(
    "(?:[产產行工农農商畜牧養养殖种植][业業]|[市殖][场場]|[公移居网国]民|人民|民众|学生|学者|游客|网友|球迷|企业|品牌|牛奶|厨房|经济|文化|播音)$"
)
GOES_ON = re.compile(
    "和(?!平|谐|諧)|[与與愿願已要向是]|[将將](?![军軍])|[应應](?![急用])|不(?![锈鏽])|在(?![线線])|对(?!外)|有(?![色线線])|同(?![济濟方仁])|欢迎|支持|希望|主张|坚持"
)


def is_a_kind(scene: Scene, fact: Fact) -> bool:
    """A nation with a word behind it that makes no name: 韩国奶牛养殖场, 中国和东盟."""
    ends = scene.ends(fact) if fact.relation == "所属国家" else None
    if ends is None:
        return False
    name = ends[0].text
    nation = next((n for n in range(4, 1, -1) if region_size(name[:n]) == 2), 0)
    return nation > 0 and (KIND.search(name) is not None or GOES_ON.match(name, nation) is not None)


NO_PEOPLE = re.compile("(?:[望公名士皇王豪班薪光老头頭星车車身生领領皇贵貴家宗氏种種]|[A-Za-z])族")
INSTITUTION = re.compile(
    "(?:[局院部委所校厅廳处處室队隊厂廠行团團党黨府军軍站馆館台网社署办庭组組系国市县区省州]|司(?!法)|(?<!社)[会會]|公司|大学|大學|"
    "[中小]学|集团|集團|中心|中央|政协|人大|中共|[联聯]盟|[A-Za-z]+)$"
)
SENDS = re.compile("派出|派遣|下发|发布|主办|批准")


def is_no_institution(scene: Scene, fact: Fact) -> bool:
    """The beginning of a longer name that names no institution (高科技创业公司), or what one does: 国务院派出工作组."""
    ends = scene.ends(fact) if fact.relation == "隶属机构" else None
    if ends is None or ends[0].start != ends[1].start:
        return False
    cut = scene.text.startswith("司法", ends[1].end - 1)
    return cut or INSTITUTION.search(ends[1].text) is None or SENDS.search(ends[0].text) is not None


CHAIR = re.compile("董事长|董事長|董事局|董事会|董事會|主席|掌门|掌門|董座")


def is_beside_it(scene: Scene, fact: Fact) -> bool:
    """Two institutions in a list, or both as one name: 财政部和国家税务总局."""
    ends = scene.ends(fact) if fact.relation == "隶属机构" else None
    if ends is None:
        return False
    head, tail = ends
    gap = scene.text[min(head.end, tail.end) : max(head.start, tail.start)]
    return (
        LISTED.fullmatch(gap) is not None
        or re.match("[、和与與及向对把将被都]", head.text.removeprefix(tail.text)) is not None
    )


def is_no_people(scene: Scene, fact: Fact) -> bool:
    """A word with 族 that names no people: 上班族."""
    ends = scene.ends(fact) if fact.relation == "民族" else None
    return ends is not None and NO_PEOPLE.search(ends[1].text) is not None


def is_no_chair(scene: Scene, fact: Fact) -> bool:
    """One of the directors of a company, who is not said to chair them."""
    around = scene.around(fact) if fact.relation == "董事长" else None
    return around is not None and CHAIR.search(around) is None


SIZES = ("海拔", "面积", "占地面积", "人口数量")
OF_A_PLACE = re.compile("的|地区|以[东西南北]|境内|最|[东西南北]部|市|县|省")


def is_of_a_nearer_place(scene: Scene, fact: Fact) -> bool:
    """A height, area or population behind the name of another place."""
    ends = scene.ends(fact)
    if fact.relation not in SIZES or ends is None or ends[0].end > ends[1].start:
        return False
    head, tail = ends
    between = [m for m in scene.places.within(head.end, tail.start) if m.text != head.text]
    return any(not OF_A_PLACE.match(scene.text, m.end) for m in between)


def is_of_a_nearer_group(scene: Scene, fact: Fact) -> bool:
    """A short name that is not right behind the name that it shortens."""
    ends = scene.ends(fact)
    if fact.relation != "简称" or ends is None or ends[0].type != GROUP:
        return False
    head, tail = ends
    between = scene.groups.within(head.end, tail.start)
    return tail.end <= head.start or any(not _is_aside(scene, m, head) for m in between)


PREDECESSOR = re.compile("(?:前身|起源|追溯)[^，。；]*$")


def is_of_a_predecessor(scene: Scene, fact: Fact) -> bool:
    """The date of what an institution was before: 前身是1958年成立的师范专科学校."""
    ends = scene.ends(fact) if fact.relation == "成立日期" else None
    return ends is not None and PREDECESSOR.search(scene.text[ends[0].end : ends[1].start]) is not None


def is_behind_another(scene: Scene, fact: Fact) -> bool:
    """What is in brackets behind a name of the same kind: 甲院（成立于1976年）和乙院（成立于1985年）."""
    ends = scene.ends(fact)
    if ends is None:
        return False
    head, tail = ends
    opened = _opened(scene, tail)
    if opened < 0 or _opened(scene, head) == opened:
        return False
    before = [m.text for m in scene.at.values() if m.end == opened and m.type == head.type]
    name = scene.names[fact.head]
    return bool(before) and not any(text in name or name in text for text in before)


DEGREE = re.compile("毕业|畢業|学位|學位|学士|學士|硕士|碩士|博士|校友|出身|本科|研究生")


def has_no_degree(scene: Scene, fact: Fact) -> bool:
    """Somebody who studies or teaches at a school, of whom the sentence names no degree."""
    ends = scene.ends(fact) if fact.relation == "毕业院校" else None
    if ends is None:
        return False
    first, last = sorted(ends, key=lambda m: m.start)
    return DEGREE.search(scene.text, scene.sentence(first).start, scene.sentence(last).end) is None


TEACHER = re.compile("(?:师从|師從|师承|師承|受教于|受業於|跟随|导师|導師|随)[^，。；]{0,10}$")


def is_a_teacher(scene: Scene, fact: Fact) -> bool:
    """The teacher of the one who studied somewhere, or somebody before whom another one is named that did."""
    ends = scene.ends(fact) if fact.relation == "毕业院校" else None
    if ends is not None and ends[0].end <= ends[1].start:
        nearer = [m for m in scene.people.within(ends[0].end, ends[1].start) if m.type == PERSON]
        between = scene.text[ends[0].end : nearer[-1].start] if nearer else ""
        if BREAK.search(between) and scene.text[nearer[-1].end : nearer[-1].end + 1] in ("从", "毕", "于"):
            return True
    return ends is not None and TEACHER.search(scene.text[max(0, ends[0].start - 16) : ends[0].start]) is not None


# ---- works ----------------------------------------------------------------------------------------------------------

MADE = {  # what links a person to the work behind the name
    "主演": "演|饰|飾|领衔",
    "导演": "导|導|拍",
    "编剧": "编|編|剧本|劇本|写|寫|撰",
    "作者": "作|著|写|寫|撰|书|文|诗|的|记|画|小说|^.{0,6}[《\\s]*$",
    "歌手": "唱|歌|曲|专辑|專輯|单曲|的《|推出|发行",
    "主持人": "主持",
    "作曲": "曲",
    "作词": "词|詞",
}
MADE_BY = {relation: re.compile(words) for relation, words in MADE.items()}
WITH_WORK = (*MADE, "主角", "嘉宾", "上映时间", "票房", "制片人", "改编自", "出品公司")
OF_THE_NEXT = re.compile("[^，。；《》]{0,12}的[^，。；《》]{0,8}《")
ITS = re.compile("的[^，。；《》]{0,4}《")
OTHER_WORK = re.compile("[译譯]|题写|題寫|作序|题词|读过|看过|翻阅|出版商|翻拍|盗版|盜版|称赞|好评|参考|借鉴|雷同")
DEFINED = re.compile("[》」”]?[^，、；。]*?[是为由]")
NO_ACTOR = re.compile(
    "[^，。；,;]{0,12}?(?:设计|設計|作曲|编曲|編曲|导演|導演|编剧|編劇|舞团|舞團|剧团|劇團|剧组|劇組|歌仔戏团|歌仔戲團|[执執][导導]|监制|監製|"
    "制片|製片|出品|等(?:电视|電視|影视|电影|電影|作品|多部|节目))(?!者|[并並兼及、和]*(?:领衔)?主演)"
)
PART = re.compile("(?:[饰飾扮出]演|[饰飾]|演[男女]?[主配]角)(?:[了过的]|一名|一位)?[^，。；、：《》,;:]{0,8}$")
ACTED = re.compile("[^，。；《》,;）)]{0,3}?(?:[饰飾演]|担纲)")
GENRE = re.compile("[^，。；、的《》,;]{0,10}[剧劇片影]《")
COMPARED = re.compile(
    "(?:仅次于|僅次於|超[过越過]|高于|低于|不及|不如|媲美|堪比|类似|類似|接[档檔]|取代|对比|參照|参照|参考|借鉴|恶搞|致敬)《?$|"
    "(?:改编自|改編自|改自|翻拍自)[^，。；《》,;]{0,14}《$"
)
ADAPTED = re.compile("(?:改编自|改編自|改自|根据|根據)[^，。；《》,;]{0,8}$")
JOINED = re.compile("(?:[、与與和跟同]|(?<!以)及)$")
APART = re.compile("[为為是]$|[，；《,;].*[^》，；,;]$")
LABEL = re.compile(r"([\u4e00-\u9fff]{1,5})\s?[：:]")
ROLES = {  # what credits call the people behind a colon -> their relation
    "导演": "导演", "执导": "导演", "编剧": "编剧", "主演": "主演", "演员": "主演", "监制": "", "制片人": "制片人",
    "出品人": "", "作者": "作者", "译者": "", "主编": "作者", "嘉宾": "嘉宾", "导师": "嘉宾", "导师阵容": "嘉宾",
    "主持": "主持人", "主持人": "主持人", "作词": "作词", "填词": "作词", "词": "作词", "作曲": "作曲", "谱曲": "作曲",
    "曲": "作曲", "编曲": "", "演唱": "歌手", "歌手": "歌手", "原唱": "歌手",
}  # fmt: skip
FIGURE = re.compile("》?(?:系列)?[中里裡][的]?(?:主要|重要)?(?:人物|角色|男主|女主|主角|配角|登场|之一)")
QUOTED = re.compile('》[:：]\\s*[“「‘『"]')
OTHER_ROLE = re.compile("(?:联合|總|总)?(?:策划|策劃|监制|監製|制片|製片|编曲|編曲|翻唱|出品)(?!、|兼|并|及|和|人)")
TRANSLATED = re.compile(r"[\s（(]*等?人?(?:翻)?[译譯](?!者|名|为|為|成|作|制)")
TRANSLATOR = re.compile(r"(?:[译譯]者?|翻[译譯])[:：\s（(]*$")
WRITES_PREFACE = re.compile("[为為][^，。；]{0,6}(?:序|跋|题)")
SCRIPT = re.compile("剧本|劇本|改编成|改编为")
WHOSE = re.compile("》?的(?:作者|导演|编剧|主演|原唱)?")
WITH = re.compile("[与與和跟]《?$")
BESIDE = re.compile("》?(?:系列)?[作做相]?(?:比较|比較|相比|对比|媲美)")
PREFACE = re.compile("》?(?:一书)?的?(?:序|前言|跋)")
SOURCE = re.compile("[—－-]{2}[^，。；—－-]{0,8}《$")
HOSTED = re.compile("主持人|由|：|:|主持(?!节目)")


PERIODICAL = re.compile("(?:[报報]|杂志|雜誌|[周月季年半]刊|网络版)(?:[（(].*)?$")
IN_PRINT = re.compile("》?(?:[^，。；《》]{0,2}(?:杂志|雜誌|[周月季]刊|报纸)|网站|日报)")


def is_a_periodical(scene: Scene, fact: Fact) -> bool:
    """A newspaper or a journal, which has no author and no actors."""
    ends = scene.ends(fact) if fact.relation in WITH_WORK and fact.relation != "主持人" else None
    if ends is None:
        return False
    return PERIODICAL.search(ends[0].text) is not None or IN_PRINT.match(scene.text, ends[0].end) is not None


def is_no_title(scene: Scene, fact: Fact) -> bool:
    """A work without 《》 in a sentence that has titles in 《》."""
    ends = scene.ends(fact)
    if ends is None or fact.relation not in WITH_WORK:
        return False
    start, end = scene.sentence(ends[0])
    text = scene.text[start:end]
    before = scene.text[start : ends[0].start]
    if not re.search(r"[^\W\d]", before):
        return False  # what a sentence begins with
    if "《" not in text:
        return before[-1:] not in tuple('“「『〈〖"‘')
    return before.rfind("《") <= before.rfind("》") and not _has_title(scene, fact)


def _has_title(scene: Scene, fact: Fact) -> bool:
    """Whether the name of the head is somewhere between 《》."""
    return f"《{scene.names[fact.head]}" in scene.text


def is_of_another_work(scene: Scene, fact: Fact) -> bool:
    """Somebody who is named with a work, and made another one."""
    ends = scene.ends(fact)
    if ends is None or fact.relation not in MADE_BY or ends[1].type != PERSON:
        return False
    work, person = ends
    if work.end <= person.start and _is_credited_otherwise(scene, fact.relation, work, person):
        return True
    if OTHER_ROLE.match(ASIDE.sub("", scene.text[person.end : person.end + 20])):
        return True
    if fact.relation == "主演" and (NO_ACTOR.match(scene.text, person.end) or _is_a_part(scene, person)):
        return True
    if work.end <= person.start:
        gap = scene.text[work.end : person.start]
        if scene.text.startswith("《", person.end) and BREAK.search(gap):
            return True
        follows = None if DEFINED.match(gap) else OF_THE_NEXT.match(scene.text, person.end)
        if follows and (MADE_BY[fact.relation].search(follows[0]) or (ITS.match(follows[0]) and BREAK.search(gap))):
            return True
        clause = scene.text[person.end : min(person.end + 16, scene.sentence(person).end)]
        before = scene.text[max(scene.sentence(work).start, work.start - 8) : work.start]
        if MADE_BY[fact.relation].search(before + gap + clause) is None and not DEFINED.match(gap):
            return True
        return fact.relation == "主持人" and HOSTED.search(gap + scene.text[person.end : person.end + 12]) is None
    gap = scene.text[person.end : work.start]
    if (
        FIGURE.match(scene.text, work.end)
        and MADE_BY[fact.relation].search(scene.text, person.end, person.end + 4) is None
    ):
        return True
    if (fact.relation == "作者" and QUOTED.search(gap)) or (WITH.search(gap) and BESIDE.match(scene.text, work.end)):
        return True
    whose = WHOSE.match(scene.text, work.end)
    if whose and any(
        m.start == whose.end() and m.type == PERSON for m in scene.people.within(whose.end(), whose.end() + 20)
    ):
        return True  # 《西游记》的作者吴承恩、撰写了《老残游记》的刘鹗
    said = BREAK.split(scene.text[max(0, person.start - 6) : person.start])[-1] + gap
    if OTHER_WORK.search(gap) or MADE_BY[fact.relation].search(said) is None:
        return True
    start = scene.sentence(person).start
    earlier = [m for m in scene.works.within(start, person.start) if m.text != work.text]
    if earlier and BREAK.search(gap) is not None:
        return True
    verb = MADE_BY[fact.relation]
    last = BREAK.split(gap)[-1]
    if "《" in gap[: len(gap) - len(last)] and re.search(r"[^\W\d]{2}", last) and verb.search(last) is None:
        return True  # 郭敬明执导的《小时代》，主演首部《你是我的眼》
    nearer = [m for m in scene.people.within(person.end, work.start) if m.type == PERSON]
    between = scene.text[person.end : nearer[-1].start] if nearer else ""
    if JOINED.search(between) or APART.search(between) is None:
        return False
    return verb.search(scene.text, person.end, nearer[-1].start) is None


def _is_credited_otherwise(scene: Scene, relation: str, work: Mention, person: Mention) -> bool:
    """Whether the last label with a colon before somebody names another role: 编剧：肖璀 主演：严顺开."""
    labels = [label for match in LABEL.finditer(scene.text, work.end, person.start) if (label := _role(match[1]))]
    if not labels or ROLES[labels[-1]] == relation:
        return False
    made = MADE_BY[relation].search(scene.text, person.end, person.end + 2)  # 作者：艾米 周冬雨主演
    return made is None or LABEL.match(scene.text, person.end) is not None


def _role(label: str) -> str:
    """The role that the characters before a colon end with."""
    return next((label[i:] for i in range(len(label)) if label[i:] in ROLES), "")


def _is_a_part(scene: Scene, m: Mention) -> bool:
    """A name that is the part somebody plays, or no name: 鹿晗饰演的陈长生, 杨紫（李易欢）, 主演励志剧《…》."""
    text = scene.text
    start = scene.sentence(m).start
    if ACTED.match(text, m.end):
        return False
    part = PART.search(text, max(start, m.start - 20), m.start)
    if part and not scene.people.within(part.start(), m.start):
        return True
    if text[max(start, m.start - 2) : m.start] in ("主演", "出演") and GENRE.match(text, m.end):
        return True
    opened = _opened(scene, m)
    return opened >= 0 and any(other.end == opened for other in scene.people.within(opened - 20, opened))


def is_compared(scene: Scene, fact: Fact) -> bool:
    """A work that another one is compared with, follows or was made from, and that has no other mention as a title."""
    ends = scene.ends(fact) if fact.relation in WITH_WORK and fact.relation not in ("作者", "改编自") else None
    if ends is None:
        return False
    work = ends[0]
    before = scene.text[max(scene.sentence(work).start, work.start - 24) : work.start]
    once = scene.text.count(f"《{work.text}》") < 2
    return once and COMPARED.search(before) is not None


def is_no_author(scene: Scene, fact: Fact) -> bool:
    """A translator, the author of a book that a film was made from, or what follows the source of a quotation."""
    ends = scene.ends(fact) if fact.relation in ("作者", "编剧") else None
    if ends is None:
        return False
    work, person = ends
    before = scene.text[max(0, person.start - 16) : person.start]
    if fact.relation == "编剧":
        return ADAPTED.search(before) is not None
    if TRANSLATED.match(scene.text, person.end) or TRANSLATOR.search(before):
        return True
    if WRITES_PREFACE.match(scene.text, person.end):
        return True
    if work.end <= person.start and SCRIPT.search(scene.text, work.end, person.start):
        return True
    if PREFACE.match(scene.text, work.end) and person.end <= work.start:
        return True
    return work.end <= person.start and SOURCE.search(scene.text, max(0, work.start - 12), work.start) is not None


RELATIVE = re.compile("的(?:好?朋友|[哥弟父母姐妹儿兒女妻丈室爸妈媽爷奶情同]|老[师師婆公板])")


PLAYED_BY = re.compile("[（(][^（）()]{1,12}[饰飾演][）)]")
PLAYS = re.compile("[饰飾][）)]")


def is_played_by_another(scene: Scene, fact: Fact) -> bool:
    """The next part in a list (饰演蛊娘，并饰演郑爽的室友), a relative of the part, or whom somebody plays with."""
    ends = scene.ends(fact) if fact.relation == "饰演" else None
    if ends is None:
        return False
    actor, part = ends
    played = PLAYED_BY.match(scene.text, part.end)
    if played and not played.start() < actor.start < played.end():
        return True
    if PLAYS.match(scene.text, actor.end) and part.end < actor.start - 1:
        return True
    if RELATIVE.match(scene.text, part.end) or scene.text.startswith(("合作", "搭档", "搭檔"), actor.end):
        return True
    gap = scene.text[part.end : max(part.end, actor.start)]
    return BREAK.search(gap) is not None or re.search("[饰飾扮]演", gap) is not None


# ---- other ----------------------------------------------------------------------------------------------------------

OFFICE = re.compile(
    "[长長员員師师监監家者官任记記授士手王帝皇后侯相臣将將尉史令丞守牧卿郎使督抚撫帅帥领領导導演编編星工兵司爵君主"
    "统統理席裁事问問代表CEO总總]$|[^\\W]人$|书记|書記"
)


CUT_BEFORE = re.compile("[应應用以由与與被将將把对對向经經据據让讓]|[一二三四五六七八九十两兩几幾数數\\d]+[名个個位家]")
BEFORE_NAME = re.compile("(?:[、，和及兼][^。；]{0,20})?[\\s“「：]*")
ADVERB = re.compile("常常|往往|一般|通常|经常|主要|分别")


OCCUPATION = re.compile("(?:[家师師手]|[作学學记記]者|[演球学學][员員]|明星|导演|導演|人士|诗人|詩人|医生|外交官)$")
IN_NO_TITLE = re.compile(  # what a title does not contain: 检察院指派检察员, 公安人员将, 飞|铲国安队门将
    "[，。由了（(]|(?<!主)任(?!委)|联系|認定|认定|指控|指派|推举|报告|聘请|宣布|要求|命令|安排|判令|公告|工人$|人[员員]将$|"
    "^(?:意(?!大利|甲)|铲|授|奉(?!天))"
)
ADDRESS = ("被告人", "原告人", "嫌疑人", "拿督", "爵士", "先生", "女士", "同志")
BEATEN = ("击败", "擊敗", "战胜", "戰勝", "打败", "打敗", "取代")


def is_of_a_nation(title: str) -> bool:
    """An occupation with a nation in front, which is no office: 苏联汉学家."""
    folded = title.replace("國", "国")
    nation = any(region_size(folded[:n]) == 2 for n in range(2, 6))
    return nation and OCCUPATION.search(title) is not None


def is_no_office(scene: Scene, fact: Fact) -> bool:
    """A title that does not end like one (警方拘捕), has a verb in it, or is not next to the name."""
    ends = scene.ends(fact) if fact.relation == "职务" else None
    if ends is None:
        return False
    person, title = ends
    if (
        CUT_BEFORE.match(title.text)
        or OFFICE.search(title.text) is None
        or is_of_a_nation(title.text)
        or title.text.endswith(ADDRESS)
        or re.search("(?<![经經总總助代协協监監])理$", title.text)
        or scene.text.endswith(BEATEN, 0, person.start)
        or IN_NO_TITLE.search(title.text)
    ):
        return True
    gap = ASIDE.sub("", scene.text[title.end : person.start])
    return title.end <= person.start and (
        BEFORE_NAME.fullmatch(gap) is None or ADVERB.match(scene.text, person.start) is not None
    )


WORKER = (
    "[家员員师師者手人士星长長王帝后妃储相臣统統理领領将將帅帥官兵生模匠农農商爵卿使译]|导演|導演|教授|总裁|经理|經理|代表|主席|"
    "领袖|領袖|书记|主编|教练|教練|组合|博士|运动员|女子|男子|女孩|男孩|[A-Z]{2,4}"
)
WHO = re.compile(rf"(?:{WORKER}|籍|翻译|人物)[\s“「《（(]*$")
WHAT = re.compile(f"{WORKER}|籍")
NATIONAL = re.compile("国籍|國籍")
DESCENT = re.compile("裔|血统")


def has_no_occupation(scene: Scene, fact: Fact) -> bool:
    """A nation with a word before or behind it that names nobody: 加拿大人口普查, 日本警方起诉布朗, X是日本汉字音."""
    ends = scene.ends(fact) if fact.relation == "国籍" else None
    if ends is None:
        return False
    person, nation = ends
    if DESCENT.match(scene.text, nation.end):
        return True
    if nation.end <= person.start:
        gap = scene.text[nation.end : person.start]
        return bool(gap.strip()) and WHO.search(gap) is None
    said = BREAK.split(scene.text[nation.end : nation.end + 30])[0]
    named = NATIONAL.search(scene.text, person.end, nation.start) is not None
    return not named and bool(said.strip()) and WHAT.search(said) is None


def is_of_another_people(scene: Scene, fact: Fact) -> bool:
    """A people that is named some words before somebody."""
    ends = scene.ends(fact) if fact.relation == "民族" else None
    return ends is not None and ends[1].end + 6 < ends[0].start


def is_across_sentences(scene: Scene, fact: Fact) -> bool:
    """A sentence ends between the two names, though it goes on in quotes."""
    ends = scene.ends(fact)
    if ends is None:
        return False
    first, last = sorted(ends, key=lambda m: m.start)
    return STOP.search(scene.text, first.end, last.start) is not None


RULES: Collection[Callable[[Scene, Fact], bool]] = (
    has_no_post,
    invites_another,
    is_in_the_background,
    has_left,
    is_their_child,
    is_anothers_spouse,
    is_said_of_their_kin,
    has_no_verb,
    has_no_place,
    is_born_to_another,
    is_a_kind,
    is_beside_it,
    is_no_people,
    is_no_institution,
    is_no_chair,
    is_of_a_nearer_place,
    is_of_a_nearer_group,
    is_of_a_predecessor,
    is_behind_another,
    has_no_degree,
    is_a_teacher,
    is_no_title,
    is_a_periodical,
    is_of_another_work,
    is_compared,
    is_no_author,
    is_played_by_another,
    is_no_office,
    has_no_occupation,
    is_of_another_people,
    is_across_sentences,
)
