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
from collections.abc import Callable, Collection
from dataclasses import replace

from factpin.documents import Document, Entity, Mention
from factpin.language.eras import NUMBER, REGNAL_YEAR, era_before, is_era

DATE, NUMERAL, PERSON, PLACE = "date", "number", "person", "location"  # types of the shipped models
NAMES = (PERSON, PLACE, "organization", "work", "other")

# ---- borders --------------------------------------------------------------------------------------------------------

WITHHELD = re.compile("[\u3400-\u9fff]?[\u3400-\u9fff]?[0-9]?某")  # a person whose name a court withholds
WITHHELD_TAIL = re.compile("某*(?:[0-9]{1,2}(?![0-9年月日时岁元万名次人点]))?[甲乙丙丁戊己]?")


def mend(doc: Document) -> Document:
    """The document with mentions whose borders are put right; entities are named anew."""
    if doc.language != "zh" and not re.search("[\u3400-\u9fff]", doc.text):
        return doc
    mended = {m.id: _mended(doc.text, m) for m in doc.mentions}
    if all(mended[m.id] is m for m in doc.mentions):
        return doc
    before = {m.id: m.text for m in doc.mentions}

    def renamed(e: Entity) -> Entity:
        first = e.mentions[0]
        return replace(e, name=mended[first].text) if e.name == before[first] else e

    entities = tuple(map(renamed, doc.entities))
    return replace(doc, mentions=tuple(mended.values()), entities=entities)


def _mended(text: str, m: Mention) -> Mention:
    start, end = m.start, m.end
    if m.type == DATE and REGNAL_YEAR.match(m.text) and not FULL_YEAR.match(m.text):
        start = era_before(text, start)
    elif m.type == DATE and m.text.startswith("今") and text[start - 1 : start] == "距":  # 距今11600年
        start -= 1
    elif m.type == PERSON and WITHHELD.fullmatch(m.text):
        found = WITHHELD_TAIL.match(text, end)
        end = found.end() if found else end
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


EN: Collection[Callable[[str, Mention], bool]] = (
    _is_duration("en"),
    _is_enumerator,
    _is_number_of_a_name,
    _is_code,
    _has_no_capital,
    _is_cut,
    _is_bare_number,
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
)
