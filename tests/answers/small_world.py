"""A small world of questions: who, where, and whether it snows; a passage may not say. A small encoder can learn it."""

import random
from functools import cache
from pathlib import Path

import torch

from factpin.documents import Document, Question, Span
from factpin.encoders import small_encoder
from factpin.tokens.small import build_tokenizer
from factpin.training.config import TrainConfig
from factpin.training.part_table import train_part
from factpin.training.reader_options import ReaderOptions
from tests.conftest import PEOPLE, PLACES

WHO, WHERE, SNOW = "谁来了？", "去了哪里？", "下雪了吗？"
QUICK = TrainConfig(epochs=16, batch_size=8, learning_rate=3e-3, head_learning_rate=3e-3, seed=7)


def passage(chance: random.Random, id: str, *, place: bool = True) -> tuple[Document, dict[str, Span]]:
    """A sentence with a person, maybe a place, maybe snow, and where they are."""
    person, town = chance.choice(PEOPLE), chance.choice(PLACES)
    text = f"昨天{person}到了{town}，" if place else f"昨天{person}没有说话，"
    spans = {WHO: Span(2, 2 + len(person))}
    if place:
        start = 2 + len(person) + 2
        spans[WHERE] = Span(start, start + len(town))
    text += chance.choice(["下雪了。", "天晴了。"])
    return Document(id, text), spans


def questions(size: int, seed: int) -> list[Question]:
    """Some questions of that world."""
    chance = random.Random(seed)
    return [_question(chance, f"q{seed}-{i}") for i in range(size)]


def _question(chance: random.Random, id: str) -> Question:
    doc, spans = passage(chance, id, place=chance.random() < 0.7)
    asked = chance.choice([WHO, WHERE, SNOW])
    if asked == SNOW:
        answer = "yes" if "下雪" in doc.text else "no"
        return Question(id, asked, "zh", (answer,), kind="yes_no", context=(doc,))
    if asked not in spans:
        return Question(id, asked, "zh", answerable=False, context=(doc,))
    start, end = spans[asked]
    return Question(id, asked, "zh", (doc.text[start:end],), context=(doc,), spans=((0, spans[asked]),))


@cache
def encoder_folder(home: Path) -> Path:
    """A small encoder with random weights that knows the words of this world."""
    torch.manual_seed(0)
    texts = [text for q in questions(300, 0) for text in (q.text, q.context[0].text)]
    tokenizer = build_tokenizer([*texts, "是", "否"], vocab_size=400)
    folder = home / "small"
    small_encoder(tokenizer.vocab_size, width=32, layers=2, max_length=64, tokenizer=tokenizer).save(folder)
    return folder


@cache
def trained(home: Path, head: str) -> tuple[Path, dict[str, object]]:
    """The folder of a reader that has learned this world, and the report of its training."""
    config = ReaderOptions(str(encoder_folder(home)), head=head, max_length=64, overlap=8, language="zh")
    folder = home / head
    report = train_part("reader", questions(240, 1), questions(80, 2), config, QUICK, folder, quiet=True)
    return folder, report
