"""Numbers in sentences: every count and every share that factpin shows is worded here."""


def count(number: int, one: str, many: str = "") -> str:
    """`1 document`, `2 entities`, `2,000 documents`; `many` is for what does not simply take an ending."""
    if number == 1:
        return f"1 {one}"
    return f"{number:,} {many or plural(one)}"


def plural(noun: str) -> str:
    """`entities` of `entity`, `boxes` of `box`, `days` of `day`."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def share(value: float) -> str:
    """`92.2 %`. All and nothing are said only of all and nothing: 0.9999 is `99.9 %`."""
    if value in (0, 1):
        return f"{100 * value:.0f} %"
    return f"{min(max(round(1000 * value), 1), 999) / 10:.1f} %"
