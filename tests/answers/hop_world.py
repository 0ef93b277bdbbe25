"""A world of two hops: a passage says who somebody's friend is, the friend's own passage where the friend went.

And one of comparisons, in English: whose passage says that he or she is old, and whose says young?
"""

import random
from functools import cache
from pathlib import Path

import torch

from factpin.documents import Document, Question, Span
from factpin.encoders import small_encoder
from factpin.tokens.small import build_tokenizer
from factpin.training.config import TrainConfig
from factpin.training.hops_options import HopOptions
from factpin.training.part_table import train_part

SINGERS = ["Ann Lee (singer)", "Bob Ray", "Cy Moe (actor)", "Di Poe", "Ed Coe (film)"]
PEOPLE, PLACES = ["李雷", "韩梅梅", "王小明", "张伟", "刘洋"], ["旧金山", "巴黎", "东京", "罗马"]
QUICK = TrainConfig(epochs=14, batch_size=4, learning_rate=3e-3, head_learning_rate=3e-3, seed=7, evaluate_every=1000)


def document(id: str, title: str, text: str) -> Document:
    return Document(id, text, sentences=(Span(0, len(text)),), meta={"title": title})


def hop_questions(size: int, seed: int) -> list[Question]:
    chance, found = random.Random(seed), []
    for i in range(size):
        first, second, third = chance.sample(PEOPLE, 3)
        place, other = chance.sample(PLACES, 2)
        docs = (
            document(f"h{seed}-{i}a", first, f"{first}的朋友是{second}。"),
            document(f"h{seed}-{i}b", second, f"{second}去了{place}。"),
            document(f"h{seed}-{i}c", third, f"{third}没有去{other}。"),
        )
        start = docs[1].text.index(place)
        found.append(
            Question(f"h{seed}-{i}", f"{first}的朋友去了哪里？", "zh", (place,), context=docs,
                     spans=((1, Span(start, start + len(place))),), support=((0, 0), (1, 0)))
        )  # fmt: skip
    return found


@cache
def hop_encoder(home: Path) -> Path:
    torch.manual_seed(0)
    texts = [text for q in hop_questions(50, 0) for text in (q.text, *(d.text for d in q.context))]
    tokenizer = build_tokenizer(texts, vocab_size=300)
    folder = home / "hop-small"
    small_encoder(tokenizer.vocab_size, width=32, layers=2, max_length=96, tokenizer=tokenizer).save(folder)
    return folder


@cache
def trained_hops(home: Path) -> tuple[Path, dict[str, object]]:
    options = HopOptions(str(hop_encoder(home)), max_length=96, overlap=8, negatives=1, language="zh")
    folder = home / "hops"
    report = train_part("hops", hop_questions(60, 1), hop_questions(20, 2), options, QUICK, folder, quiet=True)
    return folder, report


def comparisons(size: int, seed: int) -> list[Question]:
    """Who is older, Ann Lee or Bob Ray? Is Ann Lee older than Bob Ray?"""
    chance, found = random.Random(seed), []
    for i in range(size):
        titles = chance.sample(SINGERS, 3)
        names = [title.split(" (")[0] for title in titles]
        ages = chance.sample(["old", "young"], 2)
        docs = tuple(
            document(f"c{seed}-{i}{n}", title, f"{name} is {age}.")
            for n, (title, name, age) in enumerate(zip(titles, names, (*ages, "young"), strict=True))
        )
        support = ((0, 0), (1, 0))
        if i % 2:
            text, answer = f"Who is older, {names[0]} or {names[1]}?", names[ages.index("old")]
            found.append(Question(f"c{seed}-{i}", text, "en", (answer,), context=docs, support=support))
        else:
            text, answer = f"Is {names[0]} older than {names[1]}?", "yes" if ages[0] == "old" else "no"
            found.append(Question(f"c{seed}-{i}", text, "en", (answer,), "yes_no", context=docs, support=support))
    return found


@cache
def trained_comparisons(home: Path) -> tuple[Path, dict[str, object]]:
    torch.manual_seed(0)
    texts = [text for q in comparisons(50, 0) for text in (q.text, *(d.text for d in q.context))]
    tokenizer = build_tokenizer(texts, vocab_size=300)
    small_encoder(tokenizer.vocab_size, width=32, layers=2, max_length=96, tokenizer=tokenizer).save(
        home / "compare-small"
    )
    options = HopOptions(
        str(home / "compare-small"), max_length=96, overlap=8, negatives=1, final_weight=1.0, language="en"
    )
    report = train_part("hops", comparisons(60, 1), comparisons(20, 2), options, QUICK, home / "compare", quiet=True)
    return home / "compare", report
