"""Pretraining: a corpus in, an encoder folder out, by the one loop.

    recipe.toml, metrics.jsonl, checkpoints/        as of every run
    start/                                          what it began with
    config.json, model.safetensors, tokenizer.json  the network, as transformers loads it
    heads.json, heads.safetensors                   what it learned, and the rest of it (`folder.load_pretrained`)

What is judged is the loss on held-out documents, hidden in the same way at every evaluation.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from factpin.encoders import Encoder
from factpin.encoders.own.network import Network
from factpin.errors import BadInput
from factpin.files.leftovers import part_name
from factpin.objectives import ROWS, Vocabulary, audit
from factpin.pretraining.carried import CarriedMemory
from factpin.pretraining.chunks import Chunks
from factpin.pretraining.config import PretrainConfig
from factpin.pretraining.corpus import FRAME, Corpus
from factpin.pretraining.folder import CONFIG, names_pieces, network_weights, read_json, save_pretrained
from factpin.pretraining.frequencies import COUNTED, comparable, frequency_loss, note_on
from factpin.pretraining.inherited import inherit, kept_heads
from factpin.pretraining.job import METRIC, PretrainJob, stages_of
from factpin.pretraining.known import KnownPhrases
from factpin.pretraining.layouts import LAYOUTS
from factpin.pretraining.learner import LAYERS, Beside, Learners, build_learner, build_network
from factpin.pretraining.needs import Needs
from factpin.pretraining.pairs import Pairs
from factpin.pretraining.plan import PretrainingPlan, beginning_of, pieces_remembered, plan_of, text_cut
from factpin.pretraining.prepare import prepare
from factpin.pretraining.source import CorpusSource
from factpin.pretraining.stream import BatchStream
from factpin.pretraining.vocabulary import vocabulary_of
from factpin.tokens import Tokenizer
from factpin.training.checkpoint import last_path
from factpin.training.config import TrainConfig, to_dict, write_recipe
from factpin.training.job import digest
from factpin.training.loop import check_folder, train
from factpin.training.parallel import World, join_world
from factpin.words import count

LOOKED_AT = 1000  # portions that are looked at for mentions
AUDITED = 8  # texts of which every row shows its view to the audit before a run begins
UNKNOWN = 0.05  # share of pieces that a vocabulary does not know, from which on it is said
LAST = (CONFIG,)
SAVES, LOOKS = 20, 10  # checkpoints and evaluations of a run, by default


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
    stages, plan = stages_of(config.objective, pairs=bool(config.pairs)), plan_of(config)
    paths, cut = _paths(paths, config, plan), text_cut(config, plan)
    corpus, held_out = _corpora(paths, dev, config)
    known, notes = _known(config, plan.need, corpus)
    learned = world.from_leader(begin(config, plan, corpus, folder, how.seed) if world.leads else {})
    tokenizer = Tokenizer.load(folder / "start")
    vocabulary, model = vocabulary_of(tokenizer), begun(config, plan, folder, how.seed)
    model.carried = _carried(config, plan, model, how.texts)
    notes += _of_vocabulary(config, learned) + _of_pairs(corpus, tokenizer, config)
    notes += _inherited(model, config, plan, folder)

    every = 0 if held_out or not config.heldout else max(2, round(1 / config.heldout))
    source = CorpusSource(corpus, tokenizer, cut, known, plan.rows, every, plan.need.foreign)
    other = replace(source, corpus=held_out) if held_out else source
    marks = (corpus.digest(), other.corpus.digest(), tokenizer.to_json().encode())
    fingerprint = digest((config, how, world.size), [np.frombuffer(mark, np.uint8) for mark in marks])
    check_folder(folder, fingerprint, resume=resume)
    if world.leads:
        _audited(source, vocabulary)
    judged = other.judged() if held_out or every else []
    steps = how.max_steps or world.from_leader(source.steps(how, world) if world.leads else 0)
    if world.leads:
        _write_recipe(folder, [] if config.pairs else paths, dev, config, how)
    kept = folder / "checkpoints" / f"corpus-{world.rank}.jsonl"
    stream = _stream(source, config, how, world, kept, fingerprint, lanes=model.carried is not None)
    job = PretrainJob(
        model, stages, stream, vocabulary, judged, how, world, steps, at and partial(at, model, tokenizer),
        apart=cut.apart,
    )  # fmt: skip
    outcome = train(
        job, _inner(how, steps), folder, world, fingerprint=fingerprint, resume=resume, quiet=quiet, order=job.order
    )
    if world.leads:
        save_into(folder, partial(save_pretrained, model, tokenizer=tokenizer))
    frequencies = _frequencies(job, source) if world.leads else None
    seen = {name: int(world.sum(count)) for name, count in asdict(job.seen(outcome.steps)).items()}
    world.close()
    return {"steps": outcome.steps, "best_step": outcome.best_step, "scores": outcome.scores,
            "texts": seen["texts"], "pieces": seen["pieces"],
            "passed_over": {"too_short": seen["unfit"], "no_other_document": seen["alone"]},
            "heldout": len(judged), "frequency_loss": frequencies, "vocabulary": learned, "notes": notes}  # fmt: skip


def _stream(
    source: CorpusSource,
    config: PretrainConfig,
    how: TrainConfig,
    world: World,
    kept: Path,
    fingerprint: str,
    *,
    lanes: bool,
) -> BatchStream:
    """The batches of a process; `kept` says where to read on after an interruption."""
    return BatchStream(
        partial(source.texts, world=world), size=how.texts, buffer=config.buffer, seed=how.seed, fits=source.fits,
        needs_foreign=source.needs_foreign, reserve=partial(source.reserve, how.seed), fingerprint=fingerprint,
        kept=kept, lanes=lanes,
    )  # fmt: skip


def _paths(paths: Sequence[Path], config: PretrainConfig, plan: PretrainingPlan) -> Sequence[Path]:
    """The files to learn from: those of the corpus, or the pairs."""
    if config.pairs and paths:
        raise BadInput("--pairs is the corpus. Leave --corpus out, or join the files of pairs.")
    if plan.need.target and not config.pairs:
        raise BadInput(f"{config.objective} learns from sources and targets. Name a file of them: --pairs FILE.")
    return [Path(config.pairs)] if config.pairs else paths


def _inherited(model: Learners, config: PretrainConfig, plan: PretrainingPlan, folder: Path) -> list[str]:
    """Give the model the heads of its encoder, and say if it has none to predict pieces with."""
    learned = inherit(model, kept_heads(folder / "start"))
    if learned or not config.encoder or not names_pieces({row: ROWS[row] for row in plan.learned}):
        return []
    return [f"{config.encoder} has no head that predicts hidden pieces: training starts with a new one."]


def _write_recipe(
    folder: Path, paths: Sequence[Path], dev: Sequence[Path], config: PretrainConfig, how: TrainConfig
) -> None:
    named = {"paths": [str(path) for path in paths], "dev": [str(path) for path in dev]}
    write_recipe(folder / "recipe.toml", {"pretrain": to_dict(config), "corpus": named, "train": to_dict(how)})


def _frequencies(job: PretrainJob, source: CorpusSource) -> float | None:
    """The loss on the held-out texts of the frequencies of pieces; None where it cannot be compared."""
    if not job.heldout or not comparable([ROWS[row] for row in job.stages[-1]]):
        return None
    return frequency_loss(source.first(COUNTED), job.asked())


def notes_of(report: dict[str, Any]) -> list[str]:
    """What somebody who started the run should know, in sentences."""
    passed, notes = report["passed_over"], list(report["notes"])
    if report["frequency_loss"] is not None:
        notes += note_on(report["scores"]["heldout_loss"], report["frequency_loss"])
    if not report["heldout"]:
        notes.append("nothing was held out, so the last weights are kept: none of the held-out documents (--dev, "
                    "--heldout) is long enough for the objective.")  # fmt: skip
    if passed["too_short"]:
        notes.append(f"{_skipped(passed['too_short'])} as too short for the objective; "
                    f"{report['texts']:,} were used.")  # fmt: skip
    if passed["no_other_document"]:
        notes.append(f"{_skipped(passed['no_other_document'])} for want of a second document; "
                    f"{report['texts']:,} were used.")  # fmt: skip
    return notes


def _refuse(folder: Path, how: TrainConfig, *, resume: bool) -> None:
    """What is wrong before anything is read."""
    if any((folder / name).exists() for name in LAST) and not resume:
        raise BadInput(f"{folder} contains an encoder already. Name another folder, or continue the run (--resume).")
    if not resume:
        check_folder(folder, "", resume=False)
    if how.rdrop:
        raise BadInput("R-Drop compares two passes of an extractor; it means nothing here. Leave --rdrop out.")


def begin(config: PretrainConfig, plan: PretrainingPlan, corpus: Corpus, folder: Path, seed: int) -> dict[str, Any]:
    """Write what a run begins with into folder/start; gives what was measured of the vocabulary."""
    running = last_path(folder).exists()
    return prepare(beginning_of(config, plan, seed), corpus, folder / "start", begun=running)


def begun(config: PretrainConfig, plan: PretrainingPlan, folder: Path, seed: int) -> Learners:
    """The model of a run, as it begins."""
    rows, start = {row: ROWS[row] for row in plan.learned}, folder / "start"
    given = read_json(start / CONFIG)
    if given["model_type"] in LAYOUTS:
        model = build_network(rows, given, seed, memory=pieces_remembered(config, plan))
        inherit(model, network_weights(start, given))
    else:
        encoder = Encoder.load(start)
        beside = Beside(config.length, config.decoder_layers or LAYERS)
        model = build_learner(rows, encoder, seed, beside, apart=text_cut(config, plan).apart)
    model.learner.smoothing = config.label_smoothing
    if model.longest is not None and config.length > model.longest:
        raise BadInput(f"length is {config.length}; this encoder reads at most {model.longest} tokens.")
    return model


def _corpus(paths: Sequence[Path], config: PretrainConfig) -> Corpus:
    if config.pairs:
        return Pairs(paths, encoding=config.encoding or None)
    return Corpus(paths, divide=config.divide, encoding=config.encoding or None, format=config.source_format or None)


def _corpora(paths: Sequence[Path], dev: Sequence[Path], config: PretrainConfig) -> tuple[Corpus, Corpus | None]:
    """What is learned from, and what is held out; a file cannot be both."""
    corpus = _corpus(paths, config)
    if not dev:
        return corpus, None
    held_out = _corpus(dev, config)
    learned = {source.path.resolve() for source in corpus.inputs}
    shared = [source.path for source in held_out.inputs if source.path.resolve() in learned]
    if shared:
        raise BadInput(f"{shared[0]} is in both --corpus and --dev. Leave it out of one of them; without --dev, a "
                       f"share of the documents is held out.")  # fmt: skip
    return corpus, held_out


def _known(config: PretrainConfig, need: Needs, corpus: Corpus) -> tuple[KnownPhrases | Chunks | None, list[str]]:
    """What says where phrases and entities are, and what is to be said of it."""
    if not config.lexicon:
        if not (need.phrases or need.entities):
            return None, []
        return Chunks(), ["phrases and entities are found by rules. Name those of the corpus for better ones "
                          "(--lexicon FILE), or annotate it (factpin extract corpus.txt --to jsonl)."]  # fmt: skip
    known = KnownPhrases.load(Path(config.lexicon))
    if not any(any(known.find(portion.text)) for portion in corpus.portions()):  # the first hit ends it
        raise BadInput(f"{config.lexicon}: none of its entries occurs in the corpus. Give a lexicon of this corpus, "
                       f"with one entry per line.")  # fmt: skip
    if need.phrases and known.phrases is None:
        raise BadInput(f"{config.objective} hides phrases, and {config.lexicon} has only entities. Add phrases, one "
                       f"per line, or leave --lexicon out: then both are found by rules.")  # fmt: skip
    if not need.entities or any(portion.mentions for portion in islice(corpus.portions(), LOOKED_AT)):
        return known, []
    if known.entities is None:
        raise BadInput(f"{config.objective} hides entities, and {config.lexicon} has only phrases. Add entities, one "
                       f"per line, or leave --lexicon out: then both are found by rules.")  # fmt: skip
    if need.phrases and known.same:
        return known, [f"{config.lexicon}: phrases and entities are the same spans, so rows that hide phrases and rows "
                       "that hide entities learn the same. Write `phrase` or `entity` after a tab."]  # fmt: skip
    return known, []


def _of_vocabulary(config: PretrainConfig, learned: dict[str, Any]) -> list[str]:
    """What is to be said of the vocabulary: words that were not found, pieces that it does not know."""
    notes, after = [], learned["after"]
    if learned.get("added", 0) < config.extend:
        notes.append(f"--extend {config.extend}: only {count(learned['added'], 'word was', 'words were')} added: words "
                    f"in letters that are split into three pieces or more, and unknown characters, that occur at "
                    f"least five times.")  # fmt: skip
    if after["unknown_pieces"] > UNKNOWN * after["pieces"]:
        new = not (config.encoder or config.tokenizer)
        why = "which is too small. Make it larger (--vocab-size)." if new else (
            "made for other text. Take another encoder (factpin models --encoders), or --shape.")  # fmt: skip
        notes.append(f"{after['unknown_pieces']:,} of {after['pieces']:,} pieces are unknown to the vocabulary, {why}")
    return notes


def _of_pairs(corpus: Corpus, tokenizer: Tokenizer, config: PretrainConfig) -> list[str]:
    """What is to be said of pairs that are too long."""
    cut = corpus.cut_off(tokenizer, config.length) if isinstance(corpus, Pairs) else 0
    return [f"{count(cut, 'pair')} longer than --length {config.length} lost the end."] if cut else []


def _skipped(number: int) -> str:
    return count(number, "text was skipped", "texts were skipped")


def _audited(source: CorpusSource, vocabulary: Vocabulary) -> None:
    """A row that shows what it asks for is refused before it has learned to read it off."""
    for k, text in enumerate(source.first(AUDITED)):
        for row in source.rows:
            view = ROWS[row].view(text, vocabulary, seed=0, epoch=0, index=k, apart=source.cut.apart)
            found = audit(view, vocabulary)
            if not found.clean:
                raise BadInput(f"{row} shows what it asks for: {str(found).splitlines()[0]}. Fix its declaration; "
                               f"audit(view) lists all leaks.")  # fmt: skip


def _carried(config: PretrainConfig, plan: PretrainingPlan, model: Learners, lanes: int) -> CarriedMemory | None:
    """The memory of a run that carries one."""
    if not pieces_remembered(config, plan) or not isinstance(model.encoder, Network):
        return None
    keep = (config.length - FRAME) // 2 if any(row.again for row in plan.objectives) else None
    return CarriedMemory(model.encoder.config, lanes, keep)


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
    temporary = part_name(folder / "encoder")  # the next run removes it if this one is killed
    temporary.mkdir()
    try:
        save(temporary)
        for file in sorted(temporary.iterdir(), key=lambda file: file.name in LAST):
            for part in file.rglob("*") if file.is_dir() else (file,):
                with open(part, "rb") as stream:
                    os.fsync(stream.fileno())
            if file.is_dir():
                shutil.rmtree(folder / file.name, ignore_errors=True)
            os.replace(file, folder / file.name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
