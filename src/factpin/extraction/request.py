"""What to extract, as plain values that can be checked, stored and sent to another process."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from factpin.documents.likely import LIKELY
from factpin.errors import BadInput
from factpin.extraction.inputs import is_folder, rejects_of
from factpin.extraction.write import WRITERS
from factpin.models.settings import read_settings
from factpin.models.shipped import choose_models, find_model

STANDARD = Path("-")  # standard input or output
RULES = "rules"


@dataclass(frozen=True)
class Request:
    """What to read, which models to run, and where the results go."""

    inputs: tuple[Path, ...] = (STANDARD,)  # files and folders
    models: tuple[str, ...] = ()  # names or folders; none: all shipped models, each for its language
    output: Path = STANDARD  # a file; or a folder, which gets one file per input and can be resumed
    format: Literal["brat", "csv", "html", "jsonl", "triples"] = "jsonl"
    only: tuple[str, ...] = ()  # the parts to keep, of select.PARTS; none: all
    kind: str | None = None  # of the inputs, one of inputs.KINDS; None: by their endings
    column: str = ""  # of CSV and TSV files: the one with the text; "": `text`
    encoding: str | None = None  # of text files; None: UTF-8, or what an HTML page declares
    min_score: float = LIKELY  # facts and events that score less are left out and counted
    coreference: str = ""  # "rules", or a coreference model: group mentions into entities
    on_overflow: Literal["window", "error"] = "window"  # for texts longer than a model reads at once
    precision: str = "auto"  # of the computation, one of models.runtimes.PRECISIONS; auto: float32
    device: str = "cpu"
    runtime: str = "auto"  # what computes the models, one of models.runtimes
    skip_bad: bool = False  # set bad files and records aside and continue
    db: str = ""  # a store; mentions are linked to its entities
    linker: str = ""  # the folder of a trained linker
    rejects: Path | None = None  # the file for these; None: next to the output. One per shard can be concatenated

    def __post_init__(self) -> None:
        if not 0 <= self.min_score <= 1:
            raise BadInput(f"The minimum score is {self.min_score}; expected a number from 0 to 1, such as 0.6.")
        if self.format == "brat" and str(self.output) == "-":
            raise BadInput("brat is a folder of files: name it with --output.")
        if self.format in WRITERS and is_folder(self.output):
            raise BadInput(f"{self.format} is one file, but {self.output} is a folder: give a name with an ending.")
        if self.format == "csv" and len(self.only) > 1:
            raise BadInput(f"CSV is one table; --only names {len(self.only)}. Run the command once for each.")
        if self.format == "triples" and self.only not in ((), ("facts",)):
            raise BadInput(f"triples are facts, but --only asks for {', '.join(self.only)}. Use --to csv.")

    @property
    def into_folder(self) -> bool:
        """Whether each input gets a file of its own, in a folder that can be resumed."""
        return self.format == "jsonl" and is_folder(self.output)

    @property
    def rejects_file(self) -> Path:
        """Where bad files and records are set aside."""
        return self.rejects or rejects_of(self.output)

    @property
    def options(self) -> dict[str, str | None]:
        """The options that results depend on, as they are typed; a resumed folder must have the same."""
        return {
            "from": self.kind,
            "column": self.column or None,
            "only": ",".join(self.only) or None,
            "encoding": self.encoding,
            "on-overflow": self.on_overflow,
            "bf16": "yes" if self.precision == "bf16" else None,  # as version 0.1 recorded it
            "precision": "int8" if self.precision == "int8" else None,
            "min-score": f"{self.min_score:g}" if self.min_score else None,  # as version 0.1 recorded it
            "coreference": RULES if self.coreference == RULES else None,
            "link": self.db or None,
            "linker": self.linker or None,
        }

    def model_folders(self) -> list[Path]:
        """The folders of all models, the one for coreference last."""
        folders = choose_models(self.models)
        if self.coreference in ("", RULES):
            return folders
        folder = find_model(self.coreference)
        if (task := read_settings(folder).task) != "coreference":
            raise BadInput(
                f"--coreference {self.coreference} is a {task} model; expected a coreference model or `rules`. "
                f"Pass other models with --model."
            )
        return [*folders, folder]
