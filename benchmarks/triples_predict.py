"""Triples from sentences: factpin against a public GPLinker on the same weights, in sentences per second.

    python benchmarks/triples_predict.py --gplinker PATH --model FOLDER --data FILE [--limit 500] [--json FILE]

PATH is a checkout of xhw205/GPLinker_torch, FOLDER a model of `factpin train triples` without types and without rotary
positions of relations (recipes/webnlg), FILE a corpus. Their three RawGlobalPointers get our weights: an Efficient
GlobalPointer without positions is a GlobalPointer whose vectors have two numbers more,

    q_r = (q, u_r, 1)   k_r = (k, 1, v_r)        q_r . k_r = q . k + u_r + v_r

so that both sides score the same. Both use the same encoder module. Theirs, as in predict.py of that checkout (a
script that runs when imported, so the loops are repeated here): one text at a time, tokenised twice, all scores of all
relations, pairs of spans in Python. Ours: `Extractor.annotate`. "find alone" leaves out texts and encoder: both begin
with the vectors of one text.

Both sides take the same texts in turns, in portions; one thread, CPU time.
"""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from transformers import PreTrainedTokenizerFast

import factpin
from factpin import formats
from factpin.documents import Document
from factpin.errors import BadInput
from factpin.heads.efficient_global_pointer import EfficientGlobalPointer
from factpin.heads.gplinker import GPLinker
from factpin.models.extractor import Extractor
from factpin.models.model import torch_model
from factpin.tasks.triples import find_triples
from heads import module

PORTION = 50  # texts of one turn
LONGEST = 256  # tokens, as published
Told = set[tuple[str, str, str]]


def links(raw: type[nn.Module], ours: EfficientGlobalPointer) -> nn.Module:
    """Their scorer of relations with our weights."""
    d, R = ours.config.head_size, len(ours.config.labels)
    if ours.config.rope:
        raise BadInput("This model rotates its relations, which theirs does not. Train one with rope = false.")
    D = ours.qk.in_features
    theirs = raw(D, R, d + 2, RoPE=False, tril_mask=False)
    W, b = ours.qk.weight.double(), ours.qk.bias.double()  # (2d, D), (2d,)
    V, c = ours.bias.weight.double(), ours.bias.bias.double()  # (2R, 2d or D), (2R,)
    if ours.config.bias == "qk":
        V, c = V @ W, V @ b + c  # (2R, D), (2R,)
    scale = (d + 2) ** 0.5  # by which theirs divides
    weight, bias = torch.zeros(R, 2, d + 2, D, dtype=torch.float64), torch.zeros(R, 2, d + 2, dtype=torch.float64)
    weight[:, 0, :d], bias[:, 0, :d] = W[:d] * scale / d**0.5, b[:d] * scale / d**0.5
    weight[:, 0, d], bias[:, 0, d] = V[:R] * scale, c[:R] * scale
    bias[:, 0, d + 1] = scale
    weight[:, 1, :d], bias[:, 1, :d] = W[d:], b[d:]
    bias[:, 1, d] = 1
    weight[:, 1, d + 1], bias[:, 1, d + 1] = V[R:], c[R:]
    theirs.dense.load_state_dict({"weight": weight.flatten(0, 2).float(), "bias": bias.flatten().float()})
    return theirs


class Theirs:
    def __init__(self, root: Path, ours: Extractor, folder: Path) -> None:
        raw = module(root, "nets/gpNet.py").RawGlobalPointer
        network = torch_model(ours.model)
        head: GPLinker = network.head
        if len(head.config.subjects) + len(head.config.objects) != 2:
            raise BadInput("This model has entity types, which theirs does not. Train one with typed = false.")
        self.mentions = raw(network.encoder.width, 2, head.config.head_size)
        self.mentions.dense.load_state_dict(head.spans.qk.state_dict())
        self.heads, self.tails = links(raw, head.heads), links(raw, head.tails)
        self.relations = head.config.relations
        self.encoder = network.encoder.model
        self.tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))

    @torch.no_grad()
    def annotate(self, texts: Iterable[str]) -> list[Told]:
        return [self.one(text) for text in texts]

    def one(self, text: str) -> Told:
        offsets = self.tokenizer(text, return_offsets_mapping=True, max_length=LONGEST, truncation=True)
        encoded = self.tokenizer(text, max_length=LONGEST, truncation=True, return_token_type_ids=True)
        ids, mask, types = (
            torch.tensor(encoded[name]).unsqueeze(0) for name in ("input_ids", "attention_mask", "token_type_ids")
        )
        hidden = self.encoder(ids, mask, types)[0]  # (1, N, D)
        chars = [[] if i == j else [i] if i + 1 == j else [i, j - 1] for i, j in offsets["offset_mapping"]]
        found = self.find(hidden, mask)
        return {
            (text[chars[a][0] : chars[b][-1] + 1], self.relations[r], text[chars[c][0] : chars[e][-1] + 1])
            for a, b, r, c, e in found
        }

    @torch.no_grad()
    def find(self, hidden: Tensor, mask: Tensor) -> set[tuple[int, int, int, int, int]]:
        """(subject's first and last token, relation, object's first and last token)."""
        scores = [scorer((hidden,), mask)[0].numpy() for scorer in (self.mentions, self.heads, self.tails)]
        scores[0][:, [0, -1]] -= np.inf
        scores[0][:, :, [0, -1]] -= np.inf
        spans: tuple[set[tuple[int, int]], set[tuple[int, int]]] = (set(), set())
        for role, i, j in zip(*np.where(scores[0] > 0), strict=True):
            spans[role].add((int(i), int(j)))
        found = set()
        for a, b in spans[0]:
            for c, e in spans[1]:
                both = set(np.where(scores[1][:, a, c] > 0)[0]) & set(np.where(scores[2][:, b, e] > 0)[0])
                found |= {(a, b, int(r), c, e) for r in both}
        return found


class Ours:
    def __init__(self, extractor: Extractor) -> None:
        self.extractor = extractor
        self.head: GPLinker = torch_model(extractor.model).head

    def annotate(self, documents: list[Document]) -> list[Told]:
        return [told(doc) for doc in self.extractor.annotate(documents)]

    @torch.no_grad()
    def find(self, hidden: Tensor, mask: Tensor) -> set[tuple[int, int, int, int, int]]:
        real = mask.bool()
        real[:, [0, -1]] = False
        cells = find_triples(self.head.to_arrays(self.head(hidden, real)), 0.0)
        return {(s[1], s[2], r, o[1], o[2]) for _, r, s, o in cells.rows()}


def told(doc: Document) -> Told:
    text = {mention.id: mention.text for mention in doc.mentions}
    return {(text[fact.head_mention], fact.relation, text[fact.tail_mention]) for fact in doc.facts}


def clocked(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def compare(name: str, theirs: list[Callable[[], Any]], ours: list[Callable[[], Any]], texts: int) -> dict[str, Any]:
    """Portions in turns; sentences per second and whether what was found is equal."""
    seconds, same, total = np.zeros(2), 0, 0
    for one, other in zip(theirs, ours, strict=True):
        (a, x), (b, y) = clocked(one), clocked(other)
        seconds += (a, b)
        same += sum(p == q for p, q in zip(x, y, strict=True))
        total += len(x)
    rates = texts / seconds
    return {"what": name, "theirs": round(rates[0], 1), "ours": round(rates[1], 1),
            "ratio": round(rates[1] / rates[0], 2), "texts": total, "texts with the same results": same}  # fmt: skip


@click.command()
@click.option("--gplinker", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--model", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--from", "source_format", default="triples", show_default=True)
@click.option("--limit", default=500, show_default=True)
@click.option("--json", "json_file", type=click.Path(path_type=Path))
def main(gplinker: Path, model: Path, data: Path, source_format: str, limit: int, json_file: Path | None) -> None:
    torch.set_num_threads(1)
    extractor = factpin.load(model, runtime="torch")
    theirs, ours = Theirs(gplinker, extractor, model), Ours(extractor)
    docs = [replace(doc, mentions=(), entities=(), facts=()) for doc in formats.read(data, format=source_format)][
        :limit
    ]
    portions = [docs[at : at + PORTION] for at in range(0, len(docs), PORTION)]
    theirs.annotate([doc.text for doc in portions[0]]), ours.annotate(portions[0])  # warm
    rows = [compare("text to triples", [lambda p=p: theirs.annotate([doc.text for doc in p]) for p in portions],
                    [lambda p=p: ours.annotate(p) for p in portions], len(docs))]  # fmt: skip
    vectors = []
    with torch.no_grad():
        for doc in docs:
            ids = torch.tensor(theirs.tokenizer(doc.text, max_length=LONGEST, truncation=True)["input_ids"])[None]
            vectors.append((theirs.encoder(ids)[0], torch.ones_like(ids)))
    rows.append(compare("find alone, one text at a time", [lambda v=v: [theirs.find(*v)] for v in vectors],
                        [lambda v=v: [ours.find(*v)] for v in vectors], len(docs)))  # fmt: skip
    table = Table(*rows[0])
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console().print(table)
    if json_file:
        json_file.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
