"""Options made from dataclasses; and every option of every command explains itself."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import click
import pytest
from click.testing import CliRunner

from factpin.app.commands import COMMANDS
from factpin.app.commands.pretrain import pretrain
from factpin.app.commands.train import train
from factpin.app.options import SectionedCommand, options_of, settings_of


@dataclass(frozen=True)
class Tree:
    name: str  # what it is called
    height: float = 2.5  # height in metres
    evergreen: bool = True  # keep the leaves in winter
    bark: Literal["smooth", "rough"] = "rough"  # kind of bark
    age: int | None = None  # years; default: unknown
    crown: Literal["round", "flat"] = (
        "round"  # a comment that
        # goes on
    )


@dataclass(frozen=True)
class Bush:
    height: float = 0.5  # height in metres
    bark: Literal["rough", "none"] = "none"  # bark of the branches
    berries: bool = False  # has berries


@pytest.fixture
def plant() -> click.Command:
    @click.command(cls=SectionedCommand)
    @click.option("--quiet", is_flag=True, help="Say nothing.")
    @options_of({"tree": Tree, "bush": Bush}, shared="all plants", spellings={"height": ("tallness", "height")})
    def command(**given: Any) -> None:
        click.echo({key: value for key, value in given.items() if value is not None})

    return command


def ask(command: click.Command, *words: str) -> str:
    done = CliRunner().invoke(command, words, terminal_width=200)
    assert done.exit_code == 0, done.output
    return done.output


def test_types_defaults_and_comments_come_from_the_fields() -> None:
    settings = {setting.name: setting for setting in settings_of(Tree)}
    assert [(s.hint, s.default) for s in settings.values()] == [
        (str, None),
        (float, 2.5),
        (bool, True),
        (Literal["smooth", "rough"], "rough"),
        (int, None),
        (Literal["round", "flat"], "round"),
    ]
    assert settings["height"].help == "height in metres" and settings["crown"].help == "a comment that goes on"


def test_what_is_not_given_is_none_so_that_a_recipe_can_decide(plant: click.Command) -> None:
    assert ask(plant) == "{'quiet': False}\n"
    given = ast.literal_eval(
        ask(plant, "--tallness", "3", "--no-evergreen", "--bark", "none", "--age", "4", "--berries")
    )
    assert given == {"quiet": False, "height": 3, "bark": "none", "evergreen": False, "age": 4, "berries": True}
    assert ast.literal_eval(ask(plant, "--height", "1")) == {"quiet": False, "height": 1}


def test_help_has_a_section_for_each_config_and_one_for_what_all_share(plant: click.Command) -> None:
    lines = [line.strip() for line in ask(plant, "--help").splitlines()]
    at = {name: lines.index(name) for name in ("Options:", "all plants:", "tree:", "bush:")}
    assert list(at.values()) == sorted(at.values())
    shared, tree, bush = (
        " ".join(" ".join(lines[at[start] + 1 : end]).split())
        for start, end in (("all plants:", at["tree:"]), ("tree:", at["bush:"]), ("bush:", len(lines)))
    )
    assert "--tallness, --height FLOAT Height in metres. [default: 2.5 (tree); 0.5 (bush)]" in shared
    assert "--bark [smooth|rough|none] tree: kind of bark. bush: bark of the branches." in shared
    assert "--evergreen / --no-evergreen Keep the leaves in winter. [default: evergreen]" in tree
    assert "--age INTEGER Years; default: unknown." in tree and "--name TEXT What it is called." in tree
    assert "--berries / --no-berries Has berries. [default: no-berries]" in bush


def test_help_about_one_config_shows_its_options_alone_and_what_they_mean_there() -> None:
    @click.command(cls=SectionedCommand, topic=lambda words: "tree" if "oak" in words else None)
    @click.argument("kind")
    @click.option("--quiet", is_flag=True, help="Say nothing.")
    @options_of({"tree": Tree, "bush": Bush}, shared="all plants")
    def command(**given: Any) -> None:
        click.echo("planted")

    shown = " ".join(ask(command, "oak", "--help").split())
    assert "--quiet" in shown and "--berries" not in shown and "bush" not in shown
    assert "--height FLOAT Height in metres. [default: 2.5]" in shown and "--bark [smooth|rough|none] Kind" in shown
    assert "--berries" in ask(command, "box", "--help") and ask(command, "oak", "--no-berries") == "planted\n"


def test_help_of_train_is_about_the_task_that_is_named() -> None:
    for words in (("ner",), ("spans", "--train", "x.json"), ("--output", "runs/x", "spans")):
        shown = ask(train, *words, "--help")
        assert "--scheme" in shown and "--hidden-pieces" not in shown and "\ntriples:\n" not in shown
    assert "\ntriples:\n" in ask(train, "--help") and "events, spans" not in ask(train, "events", "--help")


def walk(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for part, inner in command.commands.items():
            yield from walk(inner, f"{name} {part}")


@pytest.mark.parametrize("name, command", [pair for name, top in COMMANDS.items() for pair in walk(top, name)])
def test_every_command_and_every_option_has_help(name: str, command: click.Command) -> None:
    context = click.Context(command, info_name=name)
    assert command.help
    for param in command.get_params(context):
        if isinstance(param, click.Option):
            record = param.get_help_record(context)
            assert record is not None and param.help, f"{name} {param.opts}"


TRAIN_0_1 = """--recipe --train --dev --hold-out --from --limit --encoder --initial --head --output --rope --no-rope
--bias --scheme --overlaps --typed --no-typed --occurrences --triggers --no-triggers --localized --no-localized
--context-start --threshold --top-k --evidence --negatives --size --group --schema --types --no-types --functional
--no-functional --complete --no-complete --mentions --head-size --max-span --max-length --max-seq-length --overlap
--context --dropout --tune-thresholds --language --name --finds --learning-rate --head-learning-rate --layer-decay
--freeze-layers --num-train-epochs --epochs --max-steps --per-device-train-batch-size --batch-size
--gradient-accumulation-steps --accumulation --warmup-ratio --warmup --schedule --weight-decay --clip --max-grad-norm
--bf16 --no-bf16 --ema --fgm --rdrop --early-stopping --metric --evaluate-every --save-every --seed --tensorboard
--threads --resume --json --quiet"""
PRETRAIN_0_1 = """--recipe --objective --compare --task --points --seeds --corpus --dev --encoder --config --shape
--decoder-layers --tokenizer --vocab-size --vocabulary --lowercase --no-lowercase --extend --output --length --packing
--memory --words --lexicon --divide --from --encoding --heldout --buffer --learning-rate --head-learning-rate
--layer-decay --num-train-epochs --epochs --max-steps --per-device-train-batch-size --batch-size
--gradient-accumulation-steps --accumulation --warmup-ratio --warmup --schedule --weight-decay --clip --max-grad-norm
--bf16 --no-bf16 --ema --early-stopping --evaluate-every --save-every --seed --tensorboard --threads --resume --json
--quiet"""


@pytest.mark.parametrize("command, spellings", [(train, TRAIN_0_1), (pretrain, PRETRAIN_0_1)])
def test_options_of_version_0_1_keep_their_spellings(command: click.Command, spellings: str) -> None:
    known = {
        flag
        for param in command.params
        if isinstance(param, click.Option)
        for flag in (*param.opts, *param.secondary_opts)
    }
    assert set(spellings.split()) <= known
