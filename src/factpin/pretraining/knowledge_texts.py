"""KnowBERT and Entities as Experts: masked language modelling with a layer over a store between two layers.

    knowbert   pieces + linking                               the linker is trained first; entity vectors stay fixed
    eae        pieces + linking + detection + entity          names are B, I or O below the memory; the entity of a
                                                              mention is read off the last layer, hidden or not

The texts are those of the store's documents, and the mentions the names in them whose entity is known. Before a run
begins, the audit of all objectives looks at what its first texts show, and at the candidates of hidden mentions.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from factpin.encoders import Encoder, resolve
from factpin.errors import BadInput
from factpin.files import write_bytes
from factpin.knowledge.entity_memory import EntityMemory, ends_of, linking_loss, spans_of_tags, tags_of
from factpin.knowledge.hidden import HiddenText, candidate_leaks, hide, hide_these
from factpin.knowledge.kar import Kar, decide
from factpin.knowledge.layer_folder import save_layer
from factpin.knowledge.link_scores import Scored
from factpin.knowledge.linked import LinkedText
from factpin.knowledge.mentions import FIRST, UNKNOWN, NameBatch, collate_mentions
from factpin.knowledge.store_layer import StoreLayer
from factpin.memory import Store
from factpin.models.part_folder import part_settings
from factpin.models.settings import write_settings
from factpin.objectives import Vocabulary, audit
from factpin.objectives.heads import HeadsConfig, Words
from factpin.objectives.text import chance_of
from factpin.pretraining.folder import HEAD_WEIGHTS
from factpin.pretraining.inherited import WORDS, heads_in
from factpin.pretraining.vocabulary import vocabulary_of
from factpin.tokens import Tokenizer
from factpin.tokens.pieces import Ints
from factpin.training.config import TrainConfig
from factpin.training.knowledge_layer import is_held, layer_over, set_decision, train_linker
from factpin.training.knowledge_options import KnowledgeOptions
from factpin.training.part_run import PartRun, SavedPart, mean

METRICS = ("pieces", "names", "linking", "detection", "entities")  # shares of dev that are right, F1 of detection
KINDS = {"eae": "entities", "knowbert": "kar"}
AUDITED = 64  # texts that are shown to the audit before a run begins
MOST_JUDGED = 200  # dev texts


@dataclass(frozen=True, eq=False)
class HiddenBatch:
    """Texts with hidden pieces side by side."""

    ids: Tensor  # (B, N)
    mask: Tensor  # (B, N)
    labels: Tensor  # (B, N) the piece that is asked for, or UNKNOWN
    mentions: NameBatch


class LookingModel(nn.Module):
    """An encoder with its layer over a store, and what is read off its last layer."""

    def __init__(self, encoder: Encoder, layer: StoreLayer) -> None:
        super().__init__()
        self.encoder = encoder
        words: nn.Embedding = encoder.model.get_input_embeddings()
        heads: dict[str, nn.Module] = {"words": Words(HeadsConfig(), encoder.width, words)}
        if isinstance(layer.layer, EntityMemory):
            heads["entity"] = nn.Linear(2 * encoder.width, layer.config.size)
        self.head = nn.ModuleDict(heads)

    @property
    def layer(self) -> StoreLayer:
        """The layer that was put into the encoder."""
        layer = self.encoder.insert
        if not isinstance(layer, StoreLayer):
            raise BadInput("This encoder has no layer over a store. Put one into it first.")
        return layer

    def hidden(self, batch: HiddenBatch) -> Tensor:
        """Token vectors (B, N, D), with these mentions looked up."""
        with self.layer.given(batch.mentions):
            return self.encoder(batch.ids, batch.mask).hidden

    def pieces(self, hidden: Tensor) -> Tensor:
        """Scores of the vocabulary (…, V)."""
        scores: Tensor = self.head["words"](hidden, self.encoder.word_vectors)
        return scores

    def entities(self, hidden: Tensor, mentions: NameBatch, memory: EntityMemory) -> Tensor:
        """Scores of the entities of every mention, from the last layer (m, rows - FIRST)."""
        scores: Tensor = self.head["entity"](ends_of(hidden, mentions)) @ memory.entities.weight[FIRST:].T
        return scores

    def loss(self, batch: HiddenBatch) -> Tensor:
        """The sum of all losses."""
        hidden = self.hidden(batch)
        asked = batch.labels != UNKNOWN
        total = hidden.sum() * 0.0  # a batch of names that are all shown asks for no piece
        if asked.any():
            total = cross_entropy(self.pieces(hidden[asked]), batch.labels[asked])
        own, scores, below = self.layer.layer, self.layer.scores, self.layer.below
        if scores is None or below is None:
            return total
        if isinstance(own, Kar):
            return total + own.loss(scores, batch.mentions)
        entity = batch.mentions.entity[batch.mentions.real] - FIRST  # (m,)
        named = cross_entropy(self.entities(hidden, batch.mentions, own), entity)
        detection = own.detection_loss(below, batch.mentions, batch.mask)
        return total + linking_loss(scores, batch.mentions) + detection + named


class LookingJob:
    """The texts of a store, and those of its documents that judge."""

    def __init__(
        self, model: LookingModel, tokenizer: Tokenizer, texts: Sequence[LinkedText], options: KnowledgeOptions
    ) -> None:
        self.model, self.tokenizer, self.options = model, tokenizer, options
        self.vocabulary = vocabulary_of(tokenizer)
        held = [is_held(text.source, options.heldout) for text in texts]
        self.taught = [text for text, out in zip(texts, held, strict=True) if not out]
        self.dev = [text for text, out in zip(texts, held, strict=True) if out][:MOST_JUDGED]
        if not self.taught:
            raise BadInput("No text of the store names an entity that it knows. Fill it with `factpin index`.")
        self.lengths = [len(text.ids) for text in self.taught]
        self.terms = None

    def batch(self, examples: Sequence[int]) -> HiddenBatch:
        """Texts with names and pieces hidden anew."""
        chance = np.random.default_rng(int(torch.randint(2**31, ())))  # the loop seeds torch at every step
        return self.collate([
            hide(self.taught[i], self.vocabulary, chance, names=self.options.names, pieces=self.options.pieces)
            for i in examples
        ])  # fmt: skip

    def collate(self, texts: Sequence[HiddenText]) -> HiddenBatch:
        """Texts side by side."""
        streams = [text.view.streams["content"] for text in texts]
        ids, mask = self.model.encoder.batch([stream.tape.ids.astype(np.int32) for stream in streams])
        labels = torch.full(ids.shape, UNKNOWN)
        for row, text in enumerate(texts):
            found = text.view.labels("content")
            labels[row, : len(found)] = torch.from_numpy(found)
        return HiddenBatch(ids, mask, labels, collate_mentions([text.mentions for text in texts]))

    @torch.no_grad()
    def evaluate(self) -> dict[str, float]:
        """One name of each dev text is hidden: is it found, and are the others linked?"""
        found: dict[str, list[float]] = {name: [] for name in METRICS}
        spans = Counter[str]()  # that are right, found and wanted
        self.model.eval()
        for at in range(0, len(self.dev), 32):
            some = [_one_hidden(text, self.vocabulary, at + k) for k, text in enumerate(self.dev[at : at + 32])]
            batch = self.collate(some)
            hidden = self.model.hidden(batch)
            for row, wanted in enumerate(batch.labels):
                asked = wanted != UNKNOWN
                right = (self.model.pieces(hidden[row, asked]).argmax(-1) == wanted[asked]).tolist()
                found["pieces"] += map(float, right)
                found["names"].append(float(all(right)))
            linked, entities = self._looked_up(hidden, batch, [gone for text in some for gone in text.hidden])
            found["linking"] += linked
            found["entities"] += entities
            spans += self._detected(batch)
        if both := spans["found"] + spans["wanted"]:
            found["detection"] = [2 * spans["right"] / both]
        return {name: mean(values) for name, values in found.items() if values}

    def _detected(self, batch: HiddenBatch) -> Counter[str]:
        """How many mentions the tags below an entity memory say."""
        layer = self.model.layer
        if not isinstance(layer.layer, EntityMemory) or layer.below is None:
            return Counter()
        counts = Counter[str]()
        tags, wanted = layer.layer.tags(layer.below).argmax(-1), tags_of(batch.mentions, batch.mask.shape[1])
        for a, b in zip(spans_of_tags(tags, batch.mask), spans_of_tags(wanted, batch.mask), strict=True):
            counts += Counter(right=len({*a} & {*b}), found=len(a), wanted=len(b))
        return counts

    def _looked_up(self, hidden: Tensor, batch: HiddenBatch, gone: Sequence[bool]) -> tuple[list[float], list[float]]:
        """Which of the names that are shown are linked right, and of eae which hidden ones are known at the top."""
        layer, real = self.model.layer, batch.mentions.real
        if layer.scores is None:
            return [], []
        shown = ~torch.tensor(gone)
        if isinstance(layer.layer, Kar):
            right = (decide(layer.scores, batch.mentions, layer.config.nil) == batch.mentions.gold)[real]
            return right[shown].float().tolist(), []
        entity = batch.mentions.entity[real]
        linked = layer.scores.argmax(-1) == entity
        named = self.model.entities(hidden, batch.mentions, layer.layer).argmax(-1) + FIRST == entity
        return linked[shown].float().tolist(), named[~shown].float().tolist()

    @torch.no_grad()
    def scored(self) -> list[Scored]:
        """The scores of the candidates of dev's mentions, none hidden, and which one is right."""
        found, layer = list[Scored](), self.model.layer
        self.model.eval()
        for text in self.dev:
            ids, mask = self.model.encoder.batch([text.ids])
            with layer.given(collate_mentions([text.mentions])):
                self.model.encoder(ids, mask)
            if layer.scores is not None:
                rows = zip(layer.scores[0].double().cpu().numpy(), text.mentions, strict=True)
                found += [(row[: len(m.candidates)], m.gold) for row, m in rows if m.candidates]
        return found

    def columns(self) -> list[Ints]:
        """All that it learns from."""
        rows = ((one.ids, [x for m in one.mentions for x in (m.first, m.last, m.entity)]) for one in self.taught)
        return [np.array([*ids, *places], np.int32) for ids, places in rows]


def _one_hidden(text: LinkedText, vocabulary: Vocabulary, number: int) -> HiddenText:
    """A text with one of its names hidden, the same at every evaluation."""
    chance = chance_of(0, 0, number)
    chosen = int(chance.integers(len(text.mentions)))
    return hide_these(text, [i == chosen for i in range(len(text.mentions))], vocabulary, chance)


def audit_texts(texts: Sequence[LinkedText], vocabulary: Vocabulary, options: KnowledgeOptions) -> None:
    """Refuse a run whose texts show what they ask for, all names hidden."""
    for number, text in enumerate(texts):
        every, chance = [True] * len(text.mentions), chance_of(0, 0, number)
        shown = hide_these(text, every, vocabulary, chance, options.pieces)  # a share of the names may hide none
        found = audit(shown.view, vocabulary)
        leaks = [*([] if found.clean else str(found).splitlines()), *candidate_leaks(shown)]
        if leaks:
            raise BadInput(f"{options.objective} shows what it asks for in {text.source}: {leaks[0]}.")


def prepare_texts(store: Store, options: KnowledgeOptions, how: TrainConfig) -> PartRun:
    """An encoder with a layer over a store, its linker trained, ready to learn."""
    torch.manual_seed(how.seed)
    source = resolve(options.encoder)
    encoder, tokenizer = Encoder.load(source), Tokenizer.load(source)
    longest = min(options.length, encoder.max_length or options.length) - tokenizer.frame_size
    layer, reading = layer_over(store, KINDS[options.objective], encoder, tokenizer, size=options.size,
                                vectors=options.vectors, longest=longest, bf16=how.bf16)  # fmt: skip
    model = LookingModel(encoder, layer)
    job = LookingJob(model, tokenizer, [one.text for one in reading.texts], options)
    audit_texts(job.taught[:AUDITED], job.vocabulary, options)
    heads = {name.removeprefix(WORDS): value for name, value in heads_in(source, encoder).items()
             if name.startswith(WORDS)}  # fmt: skip
    inherited = _fits(model.head["words"], heads)
    train_linker(layer, [one for one in reading.texts if not is_held(one.text.source, options.heldout)])
    del reading  # the vectors of all texts

    def save(folder: Path) -> SavedPart:
        if job.dev and isinstance(layer.layer, Kar):
            set_decision(layer, job.scored())
        encoder.save(folder)
        save_layer(folder, layer)
        words = {WORDS + name: w.detach().cpu().contiguous() for name, w in model.head["words"].state_dict().items()}
        with write_bytes(folder / HEAD_WEIGHTS) as stream:
            stream.write(safetensors.torch.save(words))
        own = {"store": layer.config.store, "vectors": options.vectors}
        settings = part_settings(options.objective, ("entity",), layer.config.kind, options, own,
                                 max_length=encoder.max_length or options.length)  # fmt: skip
        settings = replace(settings, knowledge=layer.config.to_json())
        write_settings(settings, folder)
        return SavedPart(settings)

    counts = {"train": len(job.taught), "dev": len(job.dev), "entities": layer.config.rows - FIRST,
              "noted": {} if inherited else {"head_of_pieces_drawn_anew": 1}}  # fmt: skip
    return PartRun(options.objective, job, options, how, METRICS, counts, save, job.columns)


def _fits(words: nn.Module, heads: dict[str, Tensor]) -> bool:
    """Go on with a head that the encoder brings; whether it fits."""
    own = words.state_dict()
    if own.keys() != heads.keys() or any(heads[name].shape != w.shape for name, w in own.items()):
        return False
    words.load_state_dict(heads)
    return True
