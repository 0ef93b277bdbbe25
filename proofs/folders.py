"""Folders: what `factpin pretrain --shape` writes, loaded by transformers: every weight, and the same numbers.

    plan, begin, begun    the command's own beginning of a run
    stirred               weights that make every part matter
    save_pretrained       the command's own folder
    AutoModel…            missing and unexpected weights: none; logits as ours

XLNet's two streams and T5's norm are in single precision in transformers.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from factpin.encoders import Encoder
from factpin.encoders.quiet import quiet
from factpin.layers.masks import Ints, MaskSpec, causal, full, prefix
from factpin.objectives import OBJECTIVES, collate
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.corpus import Corpus
from factpin.pretraining.folder import GENERATOR, save_pretrained
from factpin.pretraining.learner import Learners
from factpin.pretraining.plan import plan_of
from factpin.pretraining.pretrain import begin, begun
from factpin.pretraining.vocabulary import vocabulary_of
from factpin.tokens import Tokenizer
from proofs.compare import Compared
from proofs.parity import EXACT, SINGLE, alike, batch, block, stirred
from proofs.parity_more import reading
from proofs.world import text

SHAPE, LENGTH, N = "2x16x2", 40, 23
TEXT = "\n\n".join(f"Factpin reads text number {n} and finds facts. 北京是中国的首都，{n} 年。" for n in range(8))
Torch = Any


@dataclass(frozen=True, eq=False)
class Written:
    """A folder, and the model that it was written from, in double precision."""

    folder: Path
    model: Learners

    def ids(self, n: int = N, seed: int = 1) -> Ints:
        """(2, n) pieces that are no marks."""
        ordinary = vocabulary_of(Tokenizer.load(self.folder)).ordinary
        return np.random.default_rng(seed).choice(ordinary, (2, n))

    def words(self, h: torch.Tensor) -> torch.Tensor:
        learner = self.model.learner
        return learner.head.words(h, learner.encoder.words.weight)


@contextmanager
def written(objective: str) -> Iterator[Written]:
    """What the command would write at the first step, with weights that tell all parts apart."""
    with tempfile.TemporaryDirectory() as place:
        here = Path(place)
        (here / "corpus.txt").write_text(TEXT, encoding="utf-8")
        config = PretrainConfig(objective, shape=SHAPE, length=LENGTH, vocab_size=120, words="characters")
        plan, corpus = plan_of(config), Corpus([here / "corpus.txt"])
        begin(config, plan, corpus, here, 0)
        model = begun(config, plan, here, 0)
        stirred(model)
        save_pretrained(model.float(), here / "written", Tokenizer.load(here / "start"))
        yield Written(here / "written", model.double().eval())


def loaded(auto: str, folder: Path, *, half: bool = False) -> tuple[Torch, list[Compared]]:
    """The model of an Auto class, and that it took every weight; `half`: a part of the folder is for another class."""
    with quiet():
        model, told = getattr(transformers, auto).from_pretrained(
            folder, output_loading_info=True, dtype=torch.float64, local_files_only=True
        )
    names = f"{auto} ({type(model).__name__})"
    found = [Compared(f"{names}: missing weights", sorted(told["missing_keys"]), [])]
    if not half:
        found.append(Compared(f"{names}: unexpected weights", sorted(told["unexpected_keys"]), []))
    return model.eval(), found


def as_encoder(one: Written, hidden: torch.Tensor, ids: Ints, within: float = EXACT) -> Iterator[Compared]:
    """`factpin train` and `AutoModel` read the folder as the network that was pretrained.

    `AutoModel` adds a pooler where the method has none, and leaves out the heads.
    """
    with quiet():
        _, told = transformers.AutoModel.from_pretrained(one.folder, output_loading_info=True, local_files_only=True)
    lacking = sorted(name for name in told["missing_keys"] if not name.startswith("pooler."))
    yield Compared("AutoModel: missing weights, but for a pooler", lacking, [])
    encoder = Encoder.load(one.folder).double().eval()
    tokens = torch.as_tensor(ids)
    yield from alike("as an encoder", encoder(tokens, torch.ones_like(tokens, dtype=torch.bool)).hidden, hidden, within)


@torch.no_grad()
def masked(objective: str, auto: str, *, segments: int = 2, mask: MaskSpec | None = None, task: int = 0,
           pair: str = "") -> Iterator[Compared]:  # fmt: skip
    """Encoders of transformers' own: words, and whether two parts belong together."""
    with written(objective) as one:
        ids, mask_or_full = one.ids(), mask or full(N)
        kinds = np.repeat([[max(0, segments - 2)] * 9 + [segments - 1] * (N - 9)], 2, axis=0)
        read = batch({"content": block(ids, {"content": mask_or_full}, kinds)}, task)
        h = one.model.learner.encoder(read).hidden["content"]
        theirs, found = loaded(auto, one.folder)
        yield from found
        more = {"task_type_ids": torch.full_like(torch.as_tensor(ids), task)} if task else {}
        if segments > 1:
            more["token_type_ids"] = torch.as_tensor(kinds)
        if mask is not None:
            more["attention_mask"] = mask.additive(torch.float64).expand(2, -1, -1, -1)
        right = theirs(input_ids=torch.as_tensor(ids), **more)
        logits = right.prediction_logits if pair else right.logits
        yield from alike("words", one.words(h), logits)
        if pair:
            yield from alike("pair", one.model.learner.head.pairs["2"](h[:, 0]), getattr(right, pair), least=0.1)
            _, fewer = loaded("AutoModelForMaskedLM", one.folder, half=True)
            yield from fewer
        plain = batch({"content": block(ids, {"content": full(N)})})
        yield from as_encoder(one, one.model.learner.encoder(plain).hidden["content"], ids)


@torch.no_grad()
def electra() -> Iterator[Compared]:
    with written("electra") as one:
        ids = one.ids()
        read, tokens = batch({"content": block(ids, {"content": full(N)})}), torch.as_tensor(ids)
        h = one.model.learner.encoder(read).hidden["content"]
        theirs, found = loaded("AutoModelForPreTraining", one.folder)
        yield from found
        judge: Torch = one.model.learner.head.replaced
        yield from alike("judgement", judge(h), theirs(input_ids=tokens).logits)
        generator: Torch = one.model.generator
        named, found = loaded("AutoModelForMaskedLM", one.folder / GENERATOR)
        yield from found
        g = generator.encoder(read).hidden["content"]
        words = generator.head.words(g, generator.encoder.words.weight)
        yield from alike("the generator's words", words, named(input_ids=tokens).logits)
        yield from as_encoder(one, h, ids)


@torch.no_grad()
def gpt() -> Iterator[Compared]:
    with written("gpt") as one:
        ids = one.ids()
        h = one.model.learner.encoder(batch({"content": block(ids, {"content": causal(N)})})).hidden["content"]
        theirs, found = loaded("AutoModelForCausalLM", one.folder)
        yield from found
        yield from alike("words", one.words(h), theirs(input_ids=torch.as_tensor(ids)).logits)
        yield from as_encoder(one, h, ids)


@torch.no_grad()
def said(objective: str, within: float = EXACT) -> Iterator[Compared]:
    """Encoders with decoders."""
    with written(objective) as one:
        read, told = one.ids(), one.ids(11, seed=2)
        states = one.model.learner.encoder(reading(read, told))
        theirs, found = loaded("AutoModelForSeq2SeqLM", one.folder)
        yield from found
        right = theirs(input_ids=torch.as_tensor(read), decoder_input_ids=torch.as_tensor(told)).logits
        yield from alike("words", one.words(states.hidden["decoder"]), right, within)
        yield from as_encoder(one, states.hidden["encoder"], read, within)


@torch.no_grad()
def xlnet() -> Iterator[Compared]:
    """Two streams without a memory; with one, parity is proved of the network itself."""
    with written("xlnet") as one:
        v = vocabulary_of(Tokenizer.load(one.folder))
        view = OBJECTIVES["xlnet"].view(text(24, 1, ids=one.ids(24)[0]), v, seed=0, epoch=0, index=0)
        made = collate([view], v.pad)
        content, query = made.streams["content"], made.streams["query"]
        model = one.model.float()
        ours = one.words(model.learner.encoder(made).hidden["query"])
        theirs, found = loaded("AutoModelForCausalLM", one.folder)
        yield from found
        n, b = content.ids.shape[1], query.ids.shape[1]
        blocked = ~content.sees["content"] | np.eye(n, dtype=np.bool_)  # the query of a cell does not see it
        mapping = np.zeros((1, b, n))
        mapping[0, np.arange(b), query.positions[0, :, 0]] = 1
        right = theirs.float()(
            input_ids=torch.as_tensor(content.ids),
            token_type_ids=torch.as_tensor(content.segments),
            perm_mask=torch.as_tensor(blocked, dtype=torch.float32),
            target_mapping=torch.as_tensor(mapping, dtype=torch.float32),
        ).logits
        within = SINGLE * max(1.0, float(right.abs().max()) / 10)
        yield from alike("words", ours, right, within)
        ids = one.ids()
        h = model.double().learner.encoder(batch({"content": block(ids, {"content": full(N)})})).hidden["content"]
        yield from as_encoder(one, h, ids, SINGLE)


def _pretraining(objective: str, **more: Any) -> Callable[[], Iterator[Compared]]:
    return lambda: masked(objective, "AutoModelForPreTraining", **{"pair": "seq_relationship_logits", **more})


def _masked(objective: str, **more: Any) -> Callable[[], Iterator[Compared]]:
    return lambda: masked(objective, "AutoModelForMaskedLM", **more)


FOLDERS: dict[str, tuple[str, Callable[[], Iterator[Compared]]]] = {
    "albert": ("AlbertForPreTraining", _pretraining("albert", pair="sop_logits")),
    "bart": ("BartForConditionalGeneration", lambda: said("bart")),
    "bert": ("BertForPreTraining", _pretraining("bert")),
    "electra": ("ElectraForPreTraining, ElectraForMaskedLM", electra),
    "ernie": ("ErnieForPreTraining", _pretraining("ernie2", task=3)),
    "gpt": ("OpenAIGPTLMHeadModel", gpt),
    "mass": ("BartForConditionalGeneration", lambda: said("mass")),
    "mpnet": ("MPNetForMaskedLM", _masked("mpnet", segments=1)),
    "pegasus": ("PegasusForConditionalGeneration", lambda: said("pegasus", SINGLE)),
    "roberta": ("RobertaForMaskedLM", _masked("roberta", segments=1)),
    "spanbert": ("BertForMaskedLM", _masked("spanbert")),
    "t5": ("T5ForConditionalGeneration", lambda: said("t5", SINGLE)),
    "transformer": ("MarianMTModel", lambda: said("transformer", SINGLE)),
    "unilm": ("BertForPreTraining", _pretraining("unilm", segments=6, mask=prefix(N, 9))),
    "wwm": ("BertForPreTraining", _pretraining("wwm")),
    "xlnet": ("XLNetLMHeadModel", xlnet),
}
