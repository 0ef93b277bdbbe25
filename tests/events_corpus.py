"""A small world of events in both languages: shared arguments, two events in a sentence, nested arguments.

    corpus(size, seed)   documents, the same for the same seed

A frame is a text with slots and the events that it tells. A slot `{name:pool}` is filled from a pool, `{name:=word}` is
that word. An event is (type, trigger or None, ((role, slot), …)); a slot "a+b" reaches from the first of a to the last
of b, so that an argument can hold another.
"""

import random
from string import Formatter

from factpin.documents import Argument, Document, Event, Mention, Span

POOLS = {
    "公司": ["海星科技", "云杉集团", "长河银行", "青石食品"],
    "人": ["林晓", "周桥", "王小明", "赵云飞"],
    "数": ["三百人", "1200人", "两成员工"],
    "奖": ["金叶奖", "远山奖"],
    "time": ["周一", "去年", "3月5日"],
    "firm": ["Northmere Ltd", "Calder Bank", "Ostrava Foods"],
    "person": ["Ines Calder", "Tom Hill", "Anna Weber"],
    "place": ["Northmere", "Rome", "New York"],
    "day": ["Monday", "last May"],
}
Told = tuple[str, str | None, tuple[tuple[str, str], ...]]
FRAMES: list[tuple[str, tuple[Told, ...]]] = [
    ("{t:time}，{a:公司}{v:=裁员}{n:数}。", (("裁员", "v", (("时间", "t"), ("公司", "a"), ("人数", "n"))),)),
    (  # one trigger, two events of one type that share the buyer
        "{a:公司}{v:=收购}{b:公司}和{c:公司}。",
        (("收购", "v", (("买方", "a"), ("标的", "b"))), ("收购", "v", (("买方", "a"), ("标的", "c")))),
    ),
    (  # two types that share an argument in different roles
        "{a:公司}{v:=收购}{b:公司}后{w:=裁员}{n:数}。",
        (("收购", "v", (("买方", "a"), ("标的", "b"))), ("裁员", "w", (("公司", "a"), ("人数", "n")))),
    ),
    (  # nested: the firm lies inside the person's description
        "{a:公司}{x:=总裁}{p:人}{v:=获}{g:奖}。",
        (("获奖", "v", (("得主", "a+p"), ("单位", "a"), ("奖项", "g"))),),
    ),
    (  # two triggers of one type, the time in both events, two winners of one prize
        "{t:time}{p:人}和{q:人}{v:=获}{g:奖}，{r:人}{w:=获得}{h:奖}。",
        (
            ("获奖", "v", (("时间", "t"), ("得主", "p"), ("得主", "q"), ("奖项", "g"))),
            ("获奖", "w", (("时间", "t"), ("得主", "r"), ("奖项", "h"))),
        ),
    ),
    ("{v:=地震}了。", (("地震", "v", ()),)),
    ("昨天没有什么事。", ()),
    (
        "{a:firm} {v:=bought} {b:firm} on {d:day}.",
        (("Acquire", "v", (("buyer", "a"), ("target", "b"), ("time", "d"))),),
    ),
    (
        "{a:firm} {v:=hired} {p:person} and {w:=fired} {q:person} in {l:place}.",
        (
            ("Hire", "v", (("firm", "a"), ("person", "p"), ("place", "l"))),
            ("Fire", "w", (("firm", "a"), ("person", "q"), ("place", "l"))),
        ),
    ),
    (  # one span, two roles in one event
        "{p:person} of {l:place} {v:=hired} himself.",
        (("Hire", "v", (("firm", "p"), ("person", "p"), ("place", "l"))),),
    ),
    ("Nobody spoke in {l:place}.", ()),
]


def corpus(size: int, seed: int) -> list[Document]:
    """The frames in turn, filled by chance."""
    chance = random.Random(seed)
    return [_document(f"v{seed}-{i}", *FRAMES[i % len(FRAMES)], chance) for i in range(size)]


def _document(id: str, frame: str, told: tuple[Told, ...], chance: random.Random) -> Document:
    text, places = "", dict[str, tuple[int, int]]()
    left = {pool: chance.sample(words, len(words)) for pool, words in POOLS.items()}  # no name occurs twice
    for literal, slot, filling, _ in Formatter().parse(frame):
        text += literal
        if slot is not None:
            word = filling[1:] if filling.startswith("=") else left[filling].pop()
            places[slot] = (len(text), len(text) + len(word))
            text += word
    spans = {slot: _place(slot, places) for _, trigger, roles in told for slot in _slots(trigger, roles)}
    ids = {place: f"m{i}" for i, place in enumerate(sorted(set(spans.values())))}
    return Document(
        id,
        text,
        sentences=(Span(0, len(text)),),
        mentions=tuple(Mention(ids[s, e], s, e, text[s:e]) for s, e in sorted(ids)),
        events=tuple(
            Event(
                f"v{k}",
                type,
                None if trigger is None else ids[spans[trigger]],
                tuple(Argument(role, ids[spans[slot]]) for role, slot in roles),
            )
            for k, (type, trigger, roles) in enumerate(told)
        ),
    )


def _slots(trigger: str | None, roles: tuple[tuple[str, str], ...]) -> list[str]:
    return [slot for slot in (trigger, *(slot for _, slot in roles)) if slot is not None]


def _place(slot: str, places: dict[str, tuple[int, int]]) -> tuple[int, int]:
    parts = [places[name] for name in slot.split("+")]
    return parts[0][0], parts[-1][1]
