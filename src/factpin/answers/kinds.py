"""The kind of an entity, by the type that its model or corpus gave it, or by its form."""

import re

from factpin.memory import StoredEntity

_TYPES = {
    "person": "per person name people 人物 历史人物 娱乐人物 人名 人",
    "place": "loc gpe location address place fac scene 地点 城市 国家 行政区 景点 地名 省",
    "organization": "org organization organisation company government 机构 企业 企业/品牌 学校 出版社 网站 组织 公司",
    "time": "time date 时间 日期",
    "number": "num number cardinal ordinal money percent quantity 数字 数量",
    "work": "work work_of_art movie book game 影视作品 图书作品 文学作品 网络小说 书籍 作品 歌曲 音乐专辑 电视综艺",
}
_KIND = {type: kind for kind, types in _TYPES.items() for type in types.split()}
_DATE = re.compile(r"(?<!\d)\d{4}(?!\d)|\d+\s*年|\d+月\d+[日号]?|世纪|centur", re.I)
_NUMBER = re.compile(r"\d|[一二三四五六七八九十百千万亿]")


def kind_of(entity: StoredEntity) -> str:
    """person, place, organization, time, number or work; "" if unknown."""
    known = _KIND.get(entity.type.lower(), "")
    if not known and _DATE.search(entity.name) and len(entity.name) < 30:
        return "time"
    return known


def fits(wanted: str, entity: StoredEntity, kinds: tuple[str, ...]) -> bool:
    """Whether an entity can be the answer of a question. `kinds` are those that the relation allows."""
    kind = kind_of(entity)
    if wanted == "any":
        return True
    if wanted == "time":
        return kind == "time" or (not kind and bool(_DATE.search(entity.name)))
    if wanted == "number":
        return bool(_NUMBER.search(entity.name)) and kind in ("number", "", "time")
    if kind == wanted or (wanted == "person" and kind == "organization" and "organization" in kinds):
        return True
    return wanted in kinds and kind in ("", *kinds)
