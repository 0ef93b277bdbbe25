"""Relations with a single tail, or a single one at a time: the marks of a new store."""

from factpin.documents import Relation, Schema
from factpin.memory import Store, open_store

ONCE = (
    "date of birth|place of birth|date of death|place of death|father|mother|inception|出生日期|出生时间|生日|出生地|"
    "死亡日期|去世时间|逝世日期|父亲|母亲|成立日期|成立时间|朝代"
)
AT_A_TIME = (
    "CEO|chief executive officer|chairperson|head of government|head of state|capital|population|spouse|"
    "headquarters location|首席执行官|总裁|董事长|校长|市长|总统|总理|首都|人口数量|总部地点|妻子|丈夫"
)


def usual_schema() -> Schema:
    """The marks of well-known relations; every other relation may have any number of tails."""
    once = {name: Relation(name, functional=True) for name in ONCE.split("|")}
    return Schema((), once | {name: Relation(name, functional=True, changes=True) for name in AT_A_TIME.split("|")})


def open_marked(url: str, *, create: bool = False) -> Store:
    """Open a store. A new one starts with the marks of well-known relations."""
    store = open_store(url, create=create)
    if create and not store.schema().relations and not store.how_many():
        store.set_schema(usual_schema())
    return store
