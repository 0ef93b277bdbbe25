"""A small encoder and a small world of sentences that it can learn: real training in seconds."""

import os
import random
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import pytest
from hypothesis import settings

from factpin.documents import Document, Mention, Span
from factpin.layers.half import ISA, has_broken_amx

settings.register_profile("steady", derandomize=True, deadline=None)  # the same examples in every run
settings.register_profile("wide", max_examples=500, deadline=None)  # make verify
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

if has_broken_amx():  # tests that compute in bfloat16 themselves would be killed
    os.environ[ISA] = "AVX512_CORE_BF16"
    has_broken_amx.cache_clear()

PEOPLE = ["王小明", "李雷", "韩梅", "赵云飞", "Anna Weber", "Tom Hill", "Maria Rossi"]
PLACES = ["北京", "上海市", "旧金山", "广州", "Berlin", "New York", "Rome"]
FRAMES = ["{p}出生于{l}。", "昨天{p}到了{l}，今天{q}也来了。", "{l}的{p}没有说话。", "{p} was born in {l}.",
          "In {l} lives {p} with {q}.", "{l}下雪了。", "Nobody spoke."]  # fmt: skip


def sentence(chance: random.Random, id: str) -> Document:
    """One sentence with its people and places annotated."""
    text, mentions = "", []
    for part in chance.choice(FRAMES).replace("{", "\x00{").replace("}", "}\x00").split("\x00"):
        if part in ("{p}", "{q}", "{l}"):
            word = chance.choice(PLACES if part == "{l}" else PEOPLE)
            kind = "place" if part == "{l}" else "person"
            mentions.append(Mention(f"m{len(mentions)}", len(text), len(text) + len(word), word, kind))
            part = word
        text += part
    return Document(id, text, sentences=(Span(0, len(text)),), mentions=tuple(mentions))


def corpus(size: int, seed: int) -> list[Document]:
    """Some sentences of that world."""
    chance = random.Random(seed)
    return [sentence(chance, f"s{seed}-{i}") for i in range(size)]


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small encoder with random weights, saved as a folder."""
    import torch

    from factpin.encoders import small_encoder
    from factpin.tokens.small import build_tokenizer

    torch.manual_seed(0)
    tokenizer = build_tokenizer([doc.text for doc in corpus(300, 0)], vocab_size=400)
    folder = tmp_path_factory.mktemp("encoder") / "small"
    small_encoder(tokenizer.vocab_size, width=32, layers=2, max_length=64, tokenizer=tokenizer).save(folder)
    return folder
