"""A world of long texts: who went where is said in one sentence, and the other sentences are about the weather.

A sentence that matters begins with the name that the question asks for.
"""

import random
from functools import cache
from pathlib import Path

import torch

from factpin.documents import Document, Question, Span
from factpin.encoders import small_encoder
from factpin.tokens.small import build_tokenizer
from factpin.training.config import TrainConfig
from factpin.training.judge_options import JudgeOptions
from factpin.training.part_table import train_part
from tests.conftest import PEOPLE, PLACES

WEATHER = ["昨天下雪了，天很冷。", "今天天晴了，风不大。", "明天也许会下雨。", "山上有云，河里有冰。"]
QUICK = TrainConfig(epochs=30, batch_size=8, learning_rate=3e-3, head_learning_rate=3e-3, seed=7)


def long_text(chance: random.Random, id: str, sentences: int = 16) -> tuple[Document, str, str, int]:
    """A text, a name in it, where that person went, and the number of the sentence that says so."""
    name, place = chance.choice(PEOPLE[:4]), chance.choice(PLACES[:4])
    parts = [chance.choice(WEATHER) for _ in range(sentences)]
    number = chance.randrange(sentences)
    parts[number] = f"{name}去了{place}。"
    spans, at = [], 0
    for part in parts:
        spans.append(Span(at, at + len(part)))
        at += len(part)
    return Document(id, "".join(parts), sentences=tuple(spans)), name, place, number


def long_questions(size: int, seed: int) -> list[Question]:
    """Questions about long texts."""
    chance = random.Random(seed)
    found = []
    for i in range(size):
        doc, name, place, number = long_text(chance, f"l{seed}-{i}")
        start = doc.sentences[number].start + len(name) + 2
        found.append(
            Question(
                f"l{seed}-{i}",
                f"{name}去了哪里？",
                "zh",
                (place,),
                context=(doc,),
                spans=((0, Span(start, start + len(place))),),
                support=((0, number),),
            )
        )
    return found


@cache
def long_encoder(home: Path) -> Path:
    """A small encoder with random weights that knows the words of this world."""
    torch.manual_seed(0)
    texts = [text for q in long_questions(100, 0) for text in (q.text, q.context[0].text)]
    tokenizer = build_tokenizer([*texts, "是", "否"], vocab_size=400)
    folder = home / "long-small"
    small_encoder(tokenizer.vocab_size, width=32, layers=2, max_length=64, tokenizer=tokenizer).save(folder)
    return folder


@cache
def trained_judge(home: Path) -> tuple[Path, dict[str, object]]:
    """The folder of a judge that has learned this world, and the report of its training."""
    config = JudgeOptions(str(long_encoder(home)), max_length=64, block_size=16, keep="1", language="zh")
    folder = home / "judge"
    report = train_part("judge", long_questions(120, 1), long_questions(40, 2), config, QUICK, folder, quiet=True)
    return folder, report
