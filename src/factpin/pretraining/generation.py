"""Text from a pretrained model: a prompt comes in as text, answers go out as text.

    [MASK]     something is missing here: GLM, T5 and BART fill it in, MASS one piece for each, PEGASUS a sentence
    [GAP]      GLM, PEGASUS: a sentence is missing        [TAIL]    GLM: the rest is missing

    gpt, transformer_xl, xlnet           continue the prompt, up to a length
    unilm, palm, transformer             write what follows, until the model ends it
    glm, t5, mass                        fill in what is missing; without a mark, GLM continues the prompt
    bart, pegasus                        restore a text; write the sentences that are missing
    …_pairs                              write the target of a source

A prompt that the model cannot answer is refused before the model reads it.
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import torch

from factpin.encoders.own.network import Network
from factpin.errors import BadFile, BadInput, BadModel, pick
from factpin.files import lines
from factpin.layers.masks import Ints
from factpin.objectives import prompts
from factpin.objectives.generate import Generation, GenerationSearch, fill_blanks, generate, positions_of
from factpin.objectives.prompts import Prompt
from factpin.objectives.spoil import split
from factpin.objectives.text import nothing
from factpin.pretraining.folder import PretrainedModel, load_pretrained
from factpin.words import count

MARK = re.compile(r"\[(MASK|GAP|TAIL)\]")
INSIDE = "##"  # before a WordPiece piece that continues a word
FILES = (".json", ".jsonl", ".md", ".tsv", ".txt")  # endings that make an argument a missing file, not a prompt
KINDS = ("gpt", "transformer_xl", "xlnet", "unilm", "glm", "mass", "t5", "bart", "pegasus", "palm", "transformer")
PAIRS = "_pairs"
WITHOUT_MARKS = ("gpt", "transformer_xl", "xlnet", "unilm", "palm", "transformer")  # they fill in nothing
OTHER_MARKS = {"glm": ("mask", "gap", "tail"), "pegasus": ("mask", "gap")}  # of the others, [MASK] alone


@dataclass(frozen=True)
class GeneratedText:
    """An answer to a prompt."""

    text: str  # with blanks: the prompt, filled in
    blanks: tuple[str, ...]  # what was filled in, from left to right
    score: float  # Σ log p
    pieces: int
    finished: bool  # the model ended it, or its length was known


class Generator:
    """A pretrained model that continues or completes texts."""

    def __init__(self, model: PretrainedModel, kind: str = "") -> None:
        """`kind`: a method of KINDS, for a model that learned several; by default the first of them."""
        self.model = model
        known = kinds_of(model.learner.rows)
        if not known:
            raise BadModel(
                f"This model learned {', '.join(sorted(model.learner.rows))}, which does not generate. Expected a "
                f"folder that was pretrained with one of: {', '.join(KINDS)}."
            )
        self.kind = pick({name: name for name in known}, kind, kind="method of this model") if kind else known[0]
        unknown = model.tokenizer.unknown_id
        others = model.vocabulary.others if unknown is None else (*model.vocabulary.others, unknown)
        self.vocabulary = replace(model.vocabulary, others=others)  # an unknown piece is read, and never said
        reader = model.learner.encoder
        self.network = reader if isinstance(reader, Network) else None
        self.limit = positions_of(reader, "content")

    @classmethod
    def load(cls, folder: Path, kind: str = "") -> "Generator":
        return cls(load_pretrained(folder), kind)

    def answers(
        self, text: str, search: GenerationSearch, *, seed: int = 0, tell: Callable[[str], None] | None = None
    ) -> list[GeneratedText]:
        """At most `search.count` answers. `tell` gets the text so far after every piece, except with beams."""
        ids, marks = self._read(text)
        chance = torch.Generator().manual_seed(seed)
        if self.kind == "glm":
            return [self._filled(text, ids, search, chance, tell) for _ in range(self._rounds(search))]
        prompt, v = self.prompt(ids, marks), self.vocabulary
        listen = None if tell is None else lambda said: tell(self._so_far(text, said))
        found = generate(self.model.learner, prompt, v, search, chance=chance, tell=listen)
        return [self._answer(text, said) for said in found]

    def prompt(self, ids: Ints, marks: Sequence[str]) -> Prompt:
        """The prompt of this model's kind; ids hold the numbers of the marks."""
        v, kind = self.vocabulary, self.kind
        match kind:
            case "gpt":
                return prompts.gpt(ids, v, window=self.limit)
            case "transformer_xl":
                size = 0 if self.network is None else self.network.config.memory
                return prompts.transformer_xl(ids, nothing(), v, segment=size or None)
            case "xlnet":
                return prompts.xlnet(ids, v)
            case "unilm":
                return prompts.unilm(ids, v)
            case "mass":
                hidden = np.flatnonzero(ids == v.mask)
                if not len(hidden) or hidden[-1] - hidden[0] + 1 != len(hidden):
                    raise BadInput("MASS fills in one run of pieces. Write [MASK] once for each of them, in a row.")
                return prompts.mass(ids, int(hidden[0]), int(hidden[-1]) + 1, v)
            case "t5":
                return prompts.t5(self._sentinels(ids, marks), v)
            case "bart" | "bart_pairs":
                return prompts.bart(ids, v)
            case "mass_pairs":
                return prompts.mass_target(ids, v)
            case "pegasus":
                return prompts.pegasus(np.where(ids == v.mask, v.gap, ids), v)
            case "t5_pairs" | "pegasus_pairs":
                return prompts.target(ids, v, rows=(kind,))
            case _:
                return prompts.palm(ids, v)

    def unread(self, text: str) -> int:
        """How many pieces of a prompt lie before the window of a GPT, and are not read."""
        if self.kind != "gpt" or self.limit is None:
            return 0
        return max(0, len(self.model.tokenizer.encode(text).ids) - self.limit)

    def _read(self, text: str) -> tuple[Ints, list[str]]:
        """The pieces of a prompt with the numbers of its marks, and the marks."""
        if not text.strip():
            raise BadInput("The prompt is empty. Write some text.")
        marks = [match[1].lower() for match in MARK.finditer(text)]
        self._refuse_marks(marks)
        v, parts = self.vocabulary, [nothing()]
        for k, part in enumerate(MARK.split(text)):
            found = [getattr(v, part.lower())] if k % 2 else self.model.tokenizer.encode(part).ids
            parts.append(np.asarray(found, np.int64))
        ids = np.concatenate(parts)
        if not len(ids):
            raise BadInput("The tokenizer of this model keeps nothing of the prompt. Write some text.")
        if self.kind == "glm" and not marks:
            ids, marks = np.append(ids, v.tail), ["tail"]
        self._refuse_long(len(ids))
        return ids, marks

    def _refuse_marks(self, marks: Sequence[str]) -> None:
        """Marks that this model was not trained with, or too many of them, or none."""
        kind, known = self.kind, OTHER_MARKS.get(self.kind, ("mask",))
        if marks and (kind in WITHOUT_MARKS or kind.endswith(PAIRS)):
            does = "writes the target of a source" if kind.endswith(PAIRS) else "continues the prompt"
            raise BadInput(f"{kind} does not fill in blanks: it {does}. Leave out [{marks[0].upper()}], or use a model "
                           f"trained with glm, t5 or bart.")  # fmt: skip
        if kind in ("mass", "t5") and not marks:
            raise BadInput(f"{kind} fills in what is missing from a text. Mark it with [MASK].")
        unknown = [mark.upper() for mark in marks if mark not in known]
        if unknown:
            marked = " or ".join(f"[{mark.upper()}]" for mark in known)
            raise BadInput(f"{kind} does not know [{unknown[0]}]. Write {marked}.")
        blanks = len(self.vocabulary.sentinels)
        if kind == "t5" and not blanks:
            raise BadInput("The tokenizer of this model has no sentinels (<extra_id_0>, …), so it cannot fill in "
                           "blanks. Use the tokenizer that the model was pretrained with.")  # fmt: skip
        if kind == "t5" and len(marks) > blanks:
            raise BadInput(
                f"The prompt has {count(len(marks), 'blank')}; this model fills in at most {blanks}. Split the prompt."
            )

    def _refuse_long(self, pieces: int) -> None:
        room = None if self.limit is None or self.kind == "gpt" else self.limit - prompts.FRAME
        if room is not None and pieces > room:
            raise BadInput(f"The prompt has {count(pieces, 'piece')}; this model reads {room}. Shorten it, or pretrain "
                           f"with a larger --length.")  # fmt: skip

    def _sentinels(self, ids: Ints, marks: Sequence[str]) -> Ints:
        """The ids with one sentinel for each mark, in order."""
        v = self.vocabulary
        at = np.flatnonzero(np.isin(ids, [v.mask, v.gap, v.tail]))[: len(v.sentinels)]
        ids = ids.copy()
        ids[at] = v.sentinels[: len(at)]
        return ids

    def _rounds(self, search: GenerationSearch) -> int:
        if search.how == "beam" and search.count > 1:
            raise BadInput("GLM fills in blanks one after the other, each with its best answer. Ask for one answer, or "
                           "draw several (--top-k, --top-p).")  # fmt: skip
        return search.count

    def _filled(
        self,
        text: str,
        ids: Ints,
        search: GenerationSearch,
        chance: torch.Generator,
        tell: Callable[[str], None] | None,
    ) -> GeneratedText:
        """GLM: the prompt with its blanks filled in."""
        shown = text if MARK.search(text) else f"{text}[TAIL]"
        listen = None if tell is None else lambda runs: tell(_filled_so_far(shown, [self._decode(run) for run in runs]))
        found = fill_blanks(self.model.learner, ids, self.vocabulary, search, chance=chance, tell=listen)
        blanks = tuple(self._decode(said.ids) for said in found)
        score, pieces = sum(said.score for said in found), sum(len(said.ids) for said in found)
        return GeneratedText(_fill(shown, blanks), blanks, score, pieces, all(said.finished for said in found))

    def _answer(self, text: str, said: Generation) -> GeneratedText:
        blanks = self._blanks(said.ids)
        whole = self._decode(said.ids) if blanks is None else _fill(self._shown(text), blanks)
        return GeneratedText(whole, blanks or (), said.score, len(said.ids), said.finished)

    def _so_far(self, text: str, said: Ints) -> str:
        blanks = self._blanks(said)
        return self._decode(said) if blanks is None else _filled_so_far(self._shown(text), blanks)

    def _blanks(self, said: Ints) -> tuple[str, ...] | None:
        """What was said for each blank; None: the method fills in nothing."""
        if self.kind == "t5":
            return tuple(self._decode(run) for run in split(said, self.vocabulary.sentinels))
        return (self._decode(said),) if self.kind == "mass" else None

    def _shown(self, text: str) -> str:
        """The prompt with one mark for each blank."""
        return re.sub(r"(\[MASK\]\s*)+", "[MASK]", text) if self.kind == "mass" else text

    def _decode(self, ids: Ints) -> str:
        return self.model.tokenizer.decode(ids.astype(np.int32)).removeprefix(INSIDE)


def kinds_of(rows: frozenset[str]) -> list[str]:
    """The methods of KINDS that a model learned, those with pairs first."""
    pairs = sorted(row for row in rows if row.endswith(PAIRS))
    spoken = {"unilm": "unilm_sequence", "palm": "palm_continue"}
    return pairs + [kind for kind in KINDS if any(_begins(row, spoken.get(kind, kind)) for row in rows - set(pairs))]


def _begins(row: str, kind: str) -> bool:
    return row == kind or (row.startswith(f"{kind}_") and row != "transformer_xl")


def _fill(text: str, blanks: Sequence[str]) -> str:
    """The text with its marks filled in from left to right; marks without an answer stay."""
    waiting: Iterator[str] = iter(blanks)
    return MARK.sub(lambda mark: next(waiting, mark[0]), text)


def _filled_so_far(text: str, blanks: Sequence[str]) -> str:
    """The text up to the end of the last of these blanks, which may not be the last of the text."""
    parts = MARK.split(text)[::2]
    return "".join(a + b for a, b in zip(parts, blanks, strict=False))


@dataclass(frozen=True)
class GenerateRequest:
    """The options of `factpin generate`."""

    model: str
    source: str  # a prompt, a file of prompts, or - for standard input
    search: GenerationSearch
    kind: str = ""
    seed: int = 0
    jsonl: bool | None = None  # whether prompts are JSONL; None: by the ending of the file
    encoding: str = "utf-8"  # of the file


def generated(
    request: GenerateRequest, tell: Callable[[str], None] | None = None, note: Callable[[str], None] | None = None
) -> Iterator[tuple[dict[str, Any], list[GeneratedText]]]:
    """Every prompt as a record, with its answers. With one prompt and one answer, `tell` gets the text so far."""
    asked = list(_asked(request))
    if not asked:
        raise BadInput(f"{_name(request.source)}: there is no prompt. Write one per line.")
    generator = Generator.load(_folder(request.model), request.kind)
    for where, record in asked:
        heard = tell if len(asked) == 1 and request.search.count == 1 else None
        unread = generator.unread(record["prompt"])
        if unread and note is not None:
            note(f"{where}the first {unread} pieces of the prompt are not read: this model reads {generator.limit}")
        try:
            answers = generator.answers(record["prompt"], request.search, seed=request.seed, tell=heard)
        except BadInput as error:
            raise BadInput(f"{where}{error}") from None
        yield record, answers


def _folder(name: str) -> Path:
    if not Path(name).is_dir():
        raise BadModel(f"{name}: there is no such folder. Name a folder that `factpin pretrain` wrote.")
    return Path(name)


def _asked(request: GenerateRequest) -> Iterator[tuple[str, dict[str, Any]]]:
    """A record with a prompt, with the other fields of JSONL, and where it is; a prompt that is given is nowhere."""
    source, path = request.source, Path(request.source)
    if source != "-" and not _is_file(path):
        _refuse_missing(source)
        yield "", {"prompt": source}
        return
    jsonl = path.suffix == ".jsonl" if request.jsonl is None else request.jsonl
    given = enumerate(sys.stdin, 1) if source == "-" else lines(path, request.encoding)
    for number, line in given:
        if line.strip():
            where = f"{_name(source)}, line {number}: "
            yield where, _record(line, where) if jsonl else {"prompt": line.rstrip("\n")}


def _name(source: str) -> str:
    return "standard input" if source == "-" else source


def _refuse_missing(source: str) -> None:
    """A word that looks like the name of a file is probably no prompt."""
    if len(source.split()) == 1 and Path(source).suffix.lower() in FILES:
        raise BadFile(f"{source}: there is no such file. If it is a prompt, pass it on standard input (-).")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a prompt is often too long for the name of a file
        return False


def _record(line: str, where: str) -> dict[str, Any]:
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("prompt"), str):
        raise BadFile(f'{where}expected {{"prompt": "…"}}, got {line[:60]!r}.')
    return record
