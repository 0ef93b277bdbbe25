"""What the words around a mention say about it: where it really ends, and whether it is a name, a date or a number.

Small models make the same mistakes again and again. `mend` puts right the borders that the characters settle: the era
belongs to its year (弘治十五年), the number to the person that a court calls so (李某1). `doubtful` finds mentions that
`factpin extract` does not show unless it is asked for everything:

- spans of time that are no dates: three months, 两年零三个月
- years of a reign whose era is not named, and eras and days of the cycle taken for people
- numbers of a list or a section: (2), 5.
- pieces of code: names with underscores, parts of paths, options
- names with half a pair of quotes or brackets, and dates of a bare number that is no year
- in English, names without a capital or a digit; in Chinese, people of one character and the phrases of courts
- countries that are part of the name of a people: 法国人
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from factpin.documents import Document, Entity, Mention
from factpin.language.countries import is_of_country
from factpin.language.eras import NUMBER, REGNAL_YEAR, era_before, is_era

DATE, NUMERAL, PERSON, PLACE, GROUP = "date", "number", "person", "location", "organization"  # of the shipped models
NAMES = (PERSON, PLACE, GROUP, "work", "other")

# ---- borders --------------------------------------------------------------------------------------------------------

WITHHELD = re.compile("[\u3400-\u9fff]?[\u3400-\u9fff]?[0-9]?某")  # a person whose name a court withholds
WITHHELD_TAIL = re.compile("某*(?:[0-9]{1,2}(?![0-9年月日时岁元万名次人点]))?[甲乙丙丁戊己]?")


NEXT_WORD = re.compile(  # 张某利用其担任…: 利 is not of the name
    "(?<=某)(?:利用|安排|指使|到案|明知|伙同|经营|负责|通过|交给|驾驶|主动|承认|供认|接到|得知|要求|同意|安置|以|将|与|和|因|为|向|从|在|"
    "被|等|称|使用|持|系|于|对|多次|及|给|让|后|又|先后|未|无|作为|虚构|冒充|骗取|所|的|至|即|说|借|上)"
)
LEADING = re.compile(
    "(?:联系|前往|来到|位于|就职于|任职于|担任|通过|冒充|征用|进入|考入|毕业于|就读于)(?=[\u3400-\u9fff]{4})"
)


QUOTED = re.compile(r"(?:[\"“]|``) ?$")
UNQUOTED = re.compile(r"[,.!?]? ?(?:[\"”]|'')")
KIND_OF_WORK = (
    r"films?|movies?|novels?|novellas?|books?|songs?|singles?|albums?|series|sitcoms?|shows?|dramas?|plays?|musicals?|"
    r"operas?|poems?|comics?|manga|anime|documentar(?:y|ies)|episodes?(?: of)?|EP|soundtrack|magazine|memoirs?|games?|"
    r"miniseries|entitled|titled"
)
OF_A_WORK = re.compile(rf"\b(?:{KIND_OF_WORK}),? (?:[\"“]|`` )?$")
IS_A_WORK = re.compile(
    rf"(?: ?(?:[\"”]|''))?(?: ?\([^()]{{0,60}}\))? (?:is|was) an? (?:[\w\u2013-]+ (?:- )?){{0,7}}?(?:{KIND_OF_WORK})\b"
)
_SYSTEMS = """
Debian Linux Ubuntu Fedora Gentoo Slackware Unix UNIX GNU GNOME KDE FreeBSD NetBSD OpenBSD Solaris Windows Perl Python
Java Lisp Emacs Vim Multics Android Mesa Modula Pascal Algol Smalltalk Prolog Erlang Haskell Apache Mozilla
"""
_SURE = r"MDCM|[GKD]?CMG|[KDCMO]BE|GBE|[GK]?CVO|[GK]CB|DSO|DFC|FRSC?|FBA|Ph\.?D\.?|MBA|LL[BM]"
_MAYBE = r"M\.?D\.?|JD|SJ|KC|QC|CB|DSC|DDS|DVM|OFM"  # these are also initials: Wong KC
HONOURS = re.compile(  # behind a name of two words at least: Ann Lee, OBE
    rf"(?<=[\w.])(?:,? +(?:{_SURE})|, +(?:{_MAYBE}))(?:,? +(?:{_SURE}|{_MAYBE}))*$"
)
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
IN_MONTH = re.compile(rf" (?:in|on) (?:(?:early|late|mid) )?(?:{MONTHS}|\d{{4}})\b.*$")  # the date behind a place
SYSTEMS = frozenset(_SYSTEMS.split())  # which small models take for people and places
NO_WORK = re.compile(r"\b(?:Awards?|Prize|Cup|OS|Tournament|Festival|Championships?)$")
DIRECTION = re.compile(r"\b(?:Northern|Southern|Eastern|Western|Upper|Lower|New|Saint|San|Los) $")


def mend(doc: Document) -> Document:
    """The document with mentions whose borders and types are put right; entities are named anew."""
    if doc.language != "zh":
        doc = _with_works(doc)
        if not re.search("[\u3400-\u9fff]", doc.text):
            return doc
    mended = {m.id: _mended(doc.text, m) for m in doc.mentions}
    if all(mended[m.id] is m for m in doc.mentions):
        return doc
    return _with_mentions(doc, mended)


def _with_mentions(doc: Document, mended: Mapping[str, Mention]) -> Document:
    """The document with these mentions; entities that are named by one of them are named anew."""
    before, types = ({m.id: getattr(m, part) for m in doc.mentions} for part in ("text", "type"))

    def renamed(e: Entity) -> Entity:
        named = next((mended[id].text for id in e.mentions if before[id] == e.name), e.name)
        first = e.mentions[0]
        return replace(e, name=named, type=e.type if mended[first].type == types[first] else mended[first].type)

    return replace(doc, mentions=tuple(mended.values()), entities=tuple(map(renamed, doc.entities)))


def _with_works(doc: Document) -> Document:
    """An English document whose titles of films, books and songs are works; people are named without their honours."""
    types = {m.id: "work" for m in doc.mentions if m.type == "other" and _is_a_work(doc.text, m)}
    types |= {m.id: "other" for m in doc.mentions if m.type in (PERSON, PLACE) and m.text in SYSTEMS}
    bare = {m.id: end for m in doc.mentions if (end := _bare_end(m)) is not None}
    if not types and not bare:
        return doc
    taken = {(m.start, m.end) for m in doc.mentions}
    mended = {m.id: replace(_shortened(m, bare.get(m.id), taken), type=types.get(m.id, m.type)) for m in doc.mentions}
    return _with_mentions(doc, mended)


def _bare_end(m: Mention) -> int | None:
    """Where a name ends that has an honour or a date behind it, counted from its beginning."""
    rule = {PERSON: HONOURS, PLACE: IN_MONTH}.get(m.type)
    found = rule.search(m.text) if rule else None
    alone = found is not None and m.type == PERSON and " " not in m.text[: found.start()]
    return None if found is None or alone else found.start()


def _shortened(m: Mention, length: int | None, taken: Collection[tuple[int, int]]) -> Mention:
    if not length or (m.start, m.start + length) in taken:
        return m
    return replace(m, end=m.start + length, text=m.text[:length])


def _is_a_work(text: str, m: Mention) -> bool:
    """Whether the words around a name call it a title, or it is in quotes."""
    if is_of_country(m.text) or NO_WORK.search(m.text):
        return False
    before = text[max(0, m.start - 40) : m.start]
    quoted = QUOTED.search(before) is not None and UNQUOTED.match(text, m.end) is not None
    return quoted or OF_A_WORK.search(before) is not None or IS_A_WORK.match(text, m.end) is not None


def _mended(text: str, m: Mention) -> Mention:
    start, end = m.start, m.end
    if m.type == DATE and REGNAL_YEAR.match(m.text) and not FULL_YEAR.match(m.text):
        start = era_before(text, start)
    elif m.type == DATE and m.text.startswith("今") and text[start - 1 : start] == "距":  # 距今11600年
        start -= 1
    elif m.type == PERSON and WITHHELD.fullmatch(m.text):
        found = WITHHELD_TAIL.match(text, end)
        end = found.end() if found else end
    elif m.type == PERSON and len(m.text) > 2 and m.text[-2] == "某" and NEXT_WORD.match(text, end - 1):
        end -= 1
    elif m.type == "title" and re.search("[\u3400-\u9fff][ \u3000][\u3400-\u9fff]", m.text):  # 新华社巴黎电 法国总统
        start = end - len(re.split("[ \u3000]", m.text)[-1])
    elif m.type == GROUP and (leading := LEADING.match(m.text)):
        start += leading.end()
    return m if (start, end) == (m.start, m.end) else replace(m, start=start, end=end, text=text[start:end])


# ---- what is no name, date or number --------------------------------------------------------------------------------

_COUNT = (
    r"(?:\d[\d.,]*|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|"
    r"sixty|ninety|(?:a )?few|several|many|(?:a )?couple of|(?:a )?dozen|hundreds? of|thousands? of|some)"
)
_UNIT = r"(?:year|month|week|day|night|hour|minute|second|decade|centurie|century|season)s?"
DURATION = {
    "en": re.compile(rf"(?:about |nearly |almost |over |more than |less than |at least |up to |(?:the )?(?:first|next|"
                     rf"last|past) )?{_COUNT}[ -](?:and a half[ -])?{_UNIT}(?:[ -](?:long|old|period))?", re.I),
    "zh": re.compile(r"(?:[近约逾超过长达满共整短]*"
                     r"(?:\d[\d.]{0,2}(?!年)|[1-4]?\d(?=年)|[零一二两三四五六七八九十百千数半几]+)(?:多|余)?"
                     r"(?:年|个?半年|个(?:多|半)?(?:月|星期|小时|礼拜|钟头)|小时|分钟?|秒钟?|天|晚|夜|周|星期)"
                     r"(?:零|又|多|余|半|之久|左右|以上|以内|间|时间)*)+"),
}  # fmt: skip
REGNAL_DATE = re.compile(f"{NUMBER}[年载載].*")
FULL_YEAR = re.compile(r"\d{3,4}|[5-9]\d年|.{1,3}年代|[一二三四五六七八九零〇○]{4}")
CYCLE = re.compile("[甲乙丙丁戊己庚辛壬癸][子丑寅卯辰巳午未申酉戌亥][年日]?")
COURT = re.compile("(?:经|業经)?(?:依法)?(?:公开)?(?:开庭)?审理(?:查明|终结)|经?查明|本院认为")
PEOPLE = re.compile("(?:人(?![民口员員大事力寿壽物文工才均气氣体體权權间間道质質格])|族|裔|夫人|语|語|话|話)")
CAPITAL = re.compile(r"[^\W\d_a-z]|[A-Z0-9]")
CODE = re.compile(r"_|::|\w\(\)|^[\w.-]+/[\w./-]+$|^--?\w|\.(?:py|c|h|so|txt|html?|xml|conf|json)$")
PAIRS = tuple(zip("“([（《「『【", "”)]）》」』】", strict=True))
LISTED = re.compile(r"[.)\]]\s")
UNITS = re.compile(r"[A-Z]{1,2}[Bb]|[kKMGT]?Hz|USD|EUR|GBP|UTC|GMT|AM|PM|BC|AD|CE|BCE|MW|KW|GW|ISBN")


def doubtful(doc: Document) -> set[str]:
    """The mentions that the words of a document show to be none."""
    rules = ZH if doc.language == "zh" else EN
    court = [match.span() for match in COURT.finditer(doc.text)] if doc.language == "zh" else []
    found = {m.id for m in doc.mentions if any(rule(doc.text, m) for rule in rules)}
    return found | {m.id for m in doc.mentions if any(start < m.end and m.start < end for start, end in court)}


def _is_duration(language: str) -> Callable[[str, Mention], bool]:
    pattern = DURATION[language]
    return lambda text, m: m.type == DATE and (pattern.fullmatch(m.text) is not None or _is_within_days(text, m))


def _is_within_days(text: str, m: Mention) -> bool:
    """40日内 is a span of time, 40日 alone might be a day."""
    return re.fullmatch(r"\d{1,3}日", m.text) is not None and text.startswith(("内", "內", "之内", "以内"), m.end)


def _is_lone_regnal_date(_: str, m: Mention) -> bool:
    """A year of a reign without its era."""
    return m.type == DATE and REGNAL_DATE.match(m.text) is not None and FULL_YEAR.match(m.text) is None


def _is_era_or_cycle(text: str, m: Mention) -> bool:
    """An era before its year, or a day of the cycle, taken for a name."""
    if m.type not in NAMES:
        return False
    year = REGNAL_YEAR.match(text, m.end)
    whole = REGNAL_YEAR.search(m.text)
    return (
        (is_era(m.text) and year is not None)
        or (whole is not None and is_era(m.text[: whole.start()]))
        or CYCLE.fullmatch(m.text) is not None
    )


def _is_one_character(_: str, m: Mention) -> bool:
    return m.type == PERSON and len(m.text) == 1


def _is_of_a_people(text: str, m: Mention) -> bool:
    """A country within the name of a people, a language, or a lady's title."""
    return m.type == PLACE and PEOPLE.match(text, m.end) is not None


def _is_festival(text: str, m: Mention) -> bool:
    """A month that is part of a name: 十月革命."""
    return m.type == DATE and text.startswith(("革命", "起义", "起義", "事变", "事變", "运动", "運動"), m.end)


def _is_enumerator(text: str, m: Mention) -> bool:
    """The number of a list or a section."""
    if m.type != NUMERAL or not re.fullmatch(r"[\d.]{1,6}", m.text):
        return False
    before, after = text[max(0, m.start - 1) : m.start], text[m.end : m.end + 2]
    bracketed = before in "([" and after[:1] in (")", "]") if before else False
    opens = not text[: m.start].rsplit("\n", 1)[-1].strip()
    return bracketed or (opens and (LISTED.match(after) is not None))


def _is_number_of_a_name(_: str, m: Mention) -> bool:
    """A number with letters that are no unit: 420 FLTF."""
    letters = re.fullmatch(r"\d+ ?([A-Z]{2,})", m.text)
    return m.type == NUMERAL and letters is not None and UNITS.fullmatch(letters[1]) is None


def _is_code(text: str, m: Mention) -> bool:
    """A piece of code: an identifier, an option, a part of a path."""
    if m.type not in NAMES:
        return False
    before, after = text[max(0, m.start - 1) : m.start], text[m.end : m.end + 1]
    beside = (before and before in "_/\\*@=<$#~:") or (after and after in "_/\\*@=(~")
    colon = after == ":" and not text[m.end + 1 : m.end + 2].isspace() and m.end + 1 < len(text)
    return bool(beside) or colon or CODE.search(m.text) is not None


def _has_no_capital(_: str, m: Mention) -> bool:
    """A name without a capital or a digit."""
    return m.type in NAMES and CAPITAL.search(m.text) is None


def _is_cut(_: str, m: Mention) -> bool:
    """A name with half a pair of quotes or brackets."""
    return m.type in NAMES and (m.text.count('"') % 2 == 1 or any(m.text.count(a) != m.text.count(b) for a, b in PAIRS))


def _is_bare_number(_: str, m: Mention) -> bool:
    """A date that is a bare number and no year."""
    return m.type == DATE and re.fullmatch(r"\d{1,3}(?:\.\d+)?", m.text) is not None


def _is_common_word(text: str, m: Mention) -> bool:
    """A word that has a capital because a sentence begins with it: Hacker, where the text speaks of hackers."""
    if m.type not in NAMES or not m.text.isalpha() or not (m.text[1:].islower() and m.text[0].isupper()):
        return False
    opens = re.search(r"(?:^|[.!?]\s+|[“\"(]\s*)$", text[: m.start]) is not None
    return opens and re.search(rf"\b{m.text.lower()}s?\b", text) is not None


def _is_job(_: str, m: Mention) -> bool:
    """The short form of an office."""
    return m.type in NAMES and m.text in ("VP", "CEO", "CFO", "CTO", "COO", "MP", "PhD", "DJ", "TV", "PC", "CPU")


def _is_no_day(_: str, m: Mention) -> bool:
    """A word for the present, which gives no date."""
    return (
        m.type == DATE
        and re.fullmatch("today|now|nowadays|present|present day|now|如今|现在|現在|目前|现今|現今|当今", m.text, re.I)
        is not None
    )


def _has_a_gap(_: str, m: Mention) -> bool:
    """A Chinese name with a space in it: two names, or a name and a verb."""
    return m.type in NAMES and re.search("[\u3400-\u9fff] [\u3400-\u9fff]", m.text) is not None


def _goes_on(_: str, m: Mention) -> bool:
    """A Chinese name with the adverb behind it."""
    return m.type in NAMES and re.search("(?:可能|已经|曾经|应该|于是|甚至|分别|已經|曾經)$", m.text) is not None


def _is_cut_duration(text: str, m: Mention) -> bool:
    """The beginning of a span of time: the past two days."""
    return (
        m.type == DATE
        and re.match(r" (?:days?|weeks?|months?|years?|hours?|decades?)\b", text[m.end : m.end + 9]) is not None
    )


def _is_an_amount(text: str, m: Mention) -> bool:
    """万某 within 20万某, where the unit of an amount is withheld."""
    return m.type == PERSON and m.text in ("万某", "元某", "千某") and text[m.start - 1 : m.start].isdigit()


def _is_no_office(text: str, m: Mention) -> bool:
    """The end of a longer word for a profession, or people who hold no office."""
    tail = m.text in ("学家", "學家") and re.match("[\u3400-\u9fff]", text[m.start - 1 : m.start]) is not None
    return m.type == "title" and (tail or m.text in OFFICELESS)


OFFICELESS = (
    "学生",
    "學生",
    "考生",
    "证人",
    "證人",
    "被告人",
    "被害人",
    "犯罪嫌疑人",
    "原告",
    "被告",
    "用户",
    "客户",
    "作者",
)

EN: Collection[Callable[[str, Mention], bool]] = (
    _is_duration("en"),
    _is_enumerator,
    _is_number_of_a_name,
    _is_code,
    _has_no_capital,
    _is_cut,
    _is_bare_number,
    _is_common_word,
    _is_job,
    _is_cut_duration,
    _is_no_day,
)
ZH: Collection[Callable[[str, Mention], bool]] = (
    _is_duration("zh"),
    _is_lone_regnal_date,
    _is_era_or_cycle,
    _is_one_character,
    _is_of_a_people,
    _is_festival,
    _is_cut,
    _is_bare_number,
    _is_an_amount,
    _is_no_office,
    _is_no_day,
    _has_a_gap,
    _goes_on,
)
