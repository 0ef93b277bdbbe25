"""Pretraining: a corpus in, an encoder folder out, by the one loop.

    recipe.toml, metrics.jsonl, checkpoints/        as of every run
    start/                                          the encoder that it began with
    config.json, model.safetensors, tokenizer.json  the encoder
    heads.json, heads.safetensors                   its heads and decoder: with them it speaks (learner.load_pretrained)
    network.json in place of config.json            of a network of our own, heads and all

What is judged is the loss on held-out documents, hidden in the same way at every evaluation.
"""

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from factpin.encoders import Encoder
from factpin.errors import BadInput
from factpin.objectives import OBJECTIVES, Objective, Vocabulary, audit
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.corpus import Corpus, Cut
from factpin.pretraining.inherited import inherit, kept_heads, names_pieces
from factpin.pretraining.job import METRIC, PretrainJob, stages_of
from factpin.pretraining.known import Known
from factpin.pretraining.learner import NETWORK, Beside, Learners, build_learner, build_network
from factpin.pretraining.needs import Needs, needs_of
from factpin.pretraining.prepare import Beginning, prepare
from factpin.pretraining.shapes import OWN, architecture, config_of, network_of, shape_of
from factpin.pretraining.source import Source
from factpin.pretraining.stream import Stream
from factpin.pretraining.vocabulary import vocabulary_of
from factpin.tokens import Tokenizer
from factpin.training.checkpoint import last_path
from factpin.training.config import TrainConfig, to_dict, write_recipe
from factpin.training.job import digest
from factpin.training.loop import check_folder, train
from factpin.training.parallel import World, join_world

LOOKED_AT = 1000  # portions that are looked at for mentions
AUDITED = 8  # texts of which every row shows its view to the audit before a run begins
UNKNOWN = 0.05  # share of pieces that a vocabulary does not know, from which on it is said
LAST = ("config.json", NETWORK)
SAVES, LOOKS = 20, 10  # checkpoints and evaluations of a run, unless told otherwise


def pretrain(
    paths: Sequence[Path],
    config: PretrainConfig,
    how: TrainConfig,
    folder: Path,
    *,
    dev: Sequence[Path] = (),
    resume: bool = False,
    quiet: bool = False,
    world: World | None = None,
    at: Callable[[Learners, Tokenizer, int, int], None] | None = None,
) -> dict[str, Any]:
    """Pretrain on the files, and write an encoder folder that `factpin train --encoder` takes; gives what was measured.

    Held out are the files of `dev`, or else a share of the documents. `at` gets the model at every evaluation, with
    the steps done and the pieces seen.
    """
    _refuse(folder, how, resume=resume)
    world = world or join_world()
    stages, plan = stages_of(config.objective), plan_of(config)
    corpus, held_out = _corpus(paths, config), _corpus(dev, config) if dev else None
    if held_out:
        _refuse_shared(corpus, held_out)
    known, notes = _known(config, plan.need, corpus)
    beginning, begun = beginning_of(config, plan, how.seed), last_path(folder).exists()
    told = world.from_leader(prepare(beginning, corpus, folder / "start", begun=begun) if world.leads else {})
    tokenizer = Tokenizer.load(folder / "start")
    vocabulary, model = vocabulary_of(tokenizer), _model(config, plan, folder / "start", how.seed)
    notes += _of_vocabulary(config, told)
    if not inherit(model, kept_heads(folder / "start")) and config.encoder and names_pieces(plan.learned):
        notes.append(f"{config.encoder} brings no head that names hidden pieces: one is drawn anew, and learns first.")

    every = 0 if held_out or not config.heldout else max(2, round(1 / config.heldout))
    source = Source(corpus, tokenizer, _cut(config, plan), known, plan.rows, every, plan.need.foreign)
    other = replace(source, corpus=held_out) if held_out else source
    marks = (corpus.digest(), other.corpus.digest(), tokenizer.to_json().encode())
    fingerprint = digest((config, how, world.size), [np.frombuffer(mark, np.uint8) for mark in marks])
    check_folder(folder, fingerprint, resume=resume)
    if world.leads:
        _audited(source, vocabulary)
    judged = other.judged() if held_out or every else []
    steps = how.max_steps or world.from_leader(source.steps(how, world) if world.leads else 0)
    if world.leads:
        named = {"paths": [str(path) for path in paths], "dev": [str(path) for path in dev]}
        write_recipe(folder / "recipe.toml", {"pretrain": to_dict(config), "corpus": named, "train": to_dict(how)})
    stream = Stream(
        partial(source.texts, world=world), size=how.batch_size, buffer=config.buffer, seed=how.seed,
        fits=source.fits, needs_foreign=plan.need.foreign, reserve=partial(source.reserve, how.seed),
        fingerprint=fingerprint, kept=folder / "checkpoints" / f"corpus-{world.rank}.jsonl",
    )  # fmt: skip
    job = PretrainJob(
        model, stages, stream, vocabulary, judged, how, world, steps, at and partial(at, model, tokenizer)
    )
    outcome = train(
        job, _inner(how, steps), folder, world, fingerprint=fingerprint, resume=resume, quiet=quiet, order=job.order
    )
    if world.leads:
        save_into(folder, partial(model.save, tokenizer=tokenizer))
    seen = {name: int(world.sum(count)) for name, count in asdict(job.seen(outcome.steps)).items()}
    world.close()
    return {"steps": outcome.steps, "best_step": outcome.best_step, "scores": outcome.scores,
            "texts": seen["texts"], "pieces": seen["pieces"],
            "passed_over": {"too_short": seen["unfit"], "no_other_document": seen["alone"]},
            "heldout": len(judged), "vocabulary": told, "notes": notes}  # fmt: skip


def told_of(report: dict[str, Any]) -> list[str]:
    """What somebody who started the run should know, in sentences."""
    passed, told = report["passed_over"], list(report["notes"])
    if not report["heldout"]:
        told.append("nothing was held out, so the last weights are kept: no document that is held out (--dev, "
                    "--heldout) has a text that fits the objective.")  # fmt: skip
    if passed["too_short"]:
        told.append(f"{passed['too_short']:,} texts were passed over: they have fewer pieces or sentences than the "
                    f"objective asks for; {report['texts']:,} were learned from.")  # fmt: skip
    if passed["no_other_document"]:
        told.append(f"{passed['no_other_document']:,} texts were passed over: no other document was there to set "
                    f"against them; {report['texts']:,} were learned from.")  # fmt: skip
    return told


def _refuse(folder: Path, how: TrainConfig, *, resume: bool) -> None:
    """What is wrong before anything is read."""
    if any((folder / name).exists() for name in LAST) and not resume:
        raise BadInput(f"{folder} holds an encoder already. Name another folder, or go on with it (--resume).")
    if not resume:
        check_folder(folder, "", resume=False)
    if how.rdrop:
        raise BadInput("R-Drop compares two passes of an extractor; it means nothing here. Leave --rdrop out.")


@dataclass(frozen=True)
class Plan:
    """What follows from the rows that a run learns, and from those that it is compared with."""

    learned: tuple[str, ...]
    rows: tuple[str, ...]  # with those beside
    need: Needs
    own: bool  # a network of our own

    @property
    def objectives(self) -> list[Objective]:
        return [OBJECTIVES[row] for row in self.rows]


def plan_of(config: PretrainConfig) -> Plan:
    learned, beside = (
        [row for stage in stages_of(names) for row in stage] if names else []
        for names in (config.objective, config.beside)
    )
    rows = tuple(dict.fromkeys((*learned, *beside)))
    objectives = [OBJECTIVES[row] for row in rows]
    own = bool(config.shape) and architecture(objectives) == OWN
    need = needs_of(objectives)
    if config.memory and not need.memory:
        raise BadInput(f"{config.objective} remembers nothing. Leave --memory out.")
    if config.memory and not own:
        raise BadInput("An encoder of transformers remembers nothing. Leave --memory out, or give --shape for a network"
                       " of our own.")  # fmt: skip
    return Plan(tuple(dict.fromkeys(learned)), rows, need, own)


def beginning_of(config: PretrainConfig, plan: Plan, seed: int) -> Beginning:
    shape = ""
    if config.shape:
        kind = architecture(plan.objectives)
        made = OWN if plan.own else config_of(shape_of(config.shape), kind, config.length, config.decoder_layers)
        shape = made if isinstance(made, str) else json.dumps(made)
    return Beginning(config.encoder, config.config, shape, config.tokenizer, config.vocab_size, config.vocabulary,
                     config.lowercase, config.extend, tuple(sorted(plan.need.marks)), seed)  # fmt: skip


def _model(config: PretrainConfig, plan: Plan, start: Path, seed: int) -> Learners:
    rows = {row: OBJECTIVES[row] for row in plan.learned}
    if plan.own:
        size = Tokenizer.load(start).vocab_size
        return build_network(rows, network_of(shape_of(config.shape), plan.objectives, size, config.length), seed)
    encoder = Encoder.load(start)
    if encoder.max_length is not None and config.length > encoder.max_length:
        raise BadInput(f"length is {config.length}; this encoder reads at most {encoder.max_length} tokens.")
    return build_learner(rows, encoder, seed, Beside(config.length, config.decoder_layers))


def _corpus(paths: Sequence[Path], config: PretrainConfig) -> Corpus:
    return Corpus(paths, divide=config.divide, encoding=config.encoding or None, format=config.source_format or None)


def _refuse_shared(corpus: Corpus, held_out: Corpus) -> None:
    """What is learned from cannot judge."""
    learned = {source.path.resolve() for source in corpus.inputs}
    shared = [source.path for source in held_out.inputs if source.path.resolve() in learned]
    if shared:
        raise BadInput(f"{shared[0]} is learned from (--corpus) and held out (--dev) at once. Leave it out of one; "
                       f"without --dev a share of the documents is held out.")  # fmt: skip


def _known(config: PretrainConfig, need: Needs, corpus: Corpus) -> tuple[Known | None, list[str]]:
    """The lexicon, and what is to be said of it; refused where nothing says what the phrases or entities are."""
    known = Known.load(Path(config.lexicon)) if config.lexicon else None
    if known and not any(any(known.find(portion.text)) for portion in corpus.portions()):  # the first hit ends it
        raise BadInput(f"{config.lexicon}: none of its entries stands in the corpus. Name a lexicon of this corpus, "
                       f"one entry a line.")  # fmt: skip
    if need.phrases and (known is None or known.phrases is None):
        raise BadInput(f"{config.objective} hides phrases. Name a file with one a line: --lexicon FILE.")
    if not need.entities or any(portion.mentions for portion in islice(corpus.portions(), LOOKED_AT)):
        return known, []
    if known is None or known.entities is None:
        raise BadInput(
            f"{config.objective} hides entities, and the corpus has no mentions. Annotate it first (factpin extract "
            "corpus.txt --to jsonl), or name a file with one entity a line: --lexicon FILE."
        )
    if need.phrases and known.same:
        return known, [f"{config.lexicon}: phrases and entities are the same spans, so rows that hide the ones or the "
                       "others ask the same. Write phrase or entity behind a tab."]  # fmt: skip
    return known, []


def _of_vocabulary(config: PretrainConfig, told: dict[str, Any]) -> list[str]:
    """What is to be said of the vocabulary: words that were not found, pieces that it does not know."""
    said, after = [], told["after"]
    if told.get("added", 0) < config.extend:
        said.append(f"--extend {config.extend}: {told['added']} words were found. Words in letters count that "
                    f"are cut into three pieces or more, and unknown characters; five times at least.")  # fmt: skip
    if after["unknown_pieces"] > UNKNOWN * after["pieces"]:
        said.append(f"{after['unknown_pieces']:,} of {after['pieces']:,} pieces are unknown to the vocabulary, "
                    f"made for other text. Take another encoder (factpin models --encoders), or --shape.")  # fmt: skip
    return said


def _audited(source: Source, vocabulary: Vocabulary) -> None:
    """A row that shows what it asks for is refused before it has learned to read it off."""
    for k, text in enumerate(source.first(AUDITED)):
        for row in source.rows:
            found = audit(OBJECTIVES[row].view(text, vocabulary, seed=0, epoch=0, index=k), vocabulary)
            if not found.clean:
                raise BadInput(f"{row} shows what it asks for: {str(found).splitlines()[0]}. Mend its declaration; "
                               f"audit(view) tells all of it.")  # fmt: skip


def _cut(config: PretrainConfig, plan: Plan) -> Cut:
    packing = config.packing or ("document" if plan.need.pair else "full")
    memory = config.memory if config.memory is not None else config.length if plan.own and plan.need.memory else 0
    return Cut(config.length, packing, config.words if plan.need.words else None, memory)


def _inner(how: TrainConfig, steps: int) -> TrainConfig:
    """The settings as the loop is to see them: one epoch of places, one place a forward pass."""
    return replace(
        how,
        epochs=1,
        max_steps=None,
        batch_size=1,
        head_learning_rate=how.head_learning_rate or how.learning_rate,
        metric=METRIC,
        save_every=how.save_every or max(1, steps // SAVES),
        evaluate_every=how.evaluate_every or max(1, steps // LOOKS),
    )


def save_into(folder: Path, save: Callable[[Path], None]) -> None:
    """Files that replace those of the folder one by one; the config, by which it is an encoder's, comes last."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=".encoder.") as temporary:
        save(Path(temporary))
        for file in sorted(Path(temporary).iterdir(), key=lambda file: file.name in LAST):
            with open(file, "rb") as stream:
                os.fsync(stream.fileno())
            os.replace(file, folder / file.name)
