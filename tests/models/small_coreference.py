"""A small world of drugs that have several names, and a scorer that learns which: for tests of coreference."""

import random
from pathlib import Path

from factpin.documents import Document, Entity, Mention
from factpin.language.sentences import split_sentences
from factpin.training.config import TrainConfig

NAMES = {"paracetamol": 0, "acetaminophen": 0, "tylenol": 0, "aspirin": 1, "salicylate": 1, "ibuprofen": 2, "advil": 2}
QUICK = TrainConfig(epochs=12, batch_size=4, learning_rate=3e-3, head_learning_rate=3e-3, seed=7)


def document(chance: random.Random, id: str, filling: str = "") -> Document:
    """Six drugs by names that no rule knows to be one."""
    text, mentions, groups = "", [], {}
    for i in range(6):
        word = chance.choice(list(NAMES))
        text += chance.choice(("Then came ", "Nobody took ", "They gave "))
        mentions.append(Mention(f"m{i}", len(text), len(text) + len(word), word, "drug"))
        groups.setdefault(NAMES[word], []).append(f"m{i}")
        text += word + ". " + (filling if i == 2 else "")
    entities = tuple(Entity(f"g{k}", tuple(ids), "drug") for k, ids in groups.items())
    return Document(id, text, sentences=tuple(split_sentences(text)), mentions=tuple(mentions), entities=entities)


def corpus(size: int, seed: int, filling: str = "") -> list[Document]:
    chance = random.Random(seed)
    return [document(chance, f"c{seed}-{i}", filling) for i in range(size)]


def partition(doc: Document) -> set[frozenset[str]]:
    return {frozenset(entity.mentions) for entity in doc.entities}


def small_encoder_folder(root: Path) -> Path:
    """A small encoder whose vocabulary has that world."""
    import torch

    from factpin.encoders import small_encoder
    from factpin.tokens.small import build_tokenizer

    torch.manual_seed(0)
    tokenizer = build_tokenizer([*(doc.text for doc in corpus(60, 0)), "Nobody spoke."], vocab_size=300)
    small_encoder(tokenizer.vocab_size, width=32, layers=2, max_length=64, tokenizer=tokenizer).save(root / "small")
    return root / "small"
