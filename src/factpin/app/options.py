"""Command-line options made from config dataclasses, so that each setting is declared in one place.

A field becomes an option of the same name: its type and default are those of the field, and its help is the comment in
the field's line. An option has no value unless it is given, so that a recipe or the dataclass decides.

    rate: float = 0.1  # learning rate of the head        -> --rate FLOAT   Learning rate of the head.  [default: 0.1]
    tied: bool = True  # share the embeddings             -> --tied / --no-tied
    kind: Literal["a", "b"] = "a"  # which one            -> --kind [a|b]
"""

import ast
import inspect
import io
import textwrap
import tokenize
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import click

F = TypeVar("F", bound=Callable[..., Any])
TOPIC = "factpin.topic"  # in click's meta: the config that --help is about


class Comments:
    """The comments in the lines of each field of a dataclass."""

    def __init__(self, config: type[Any]) -> None:
        self.config = config

    @cached_property
    def by_field(self) -> dict[str, str]:
        """Read from the source."""
        source = textwrap.dedent(inspect.getsource(self.config))
        comments = {
            token.start[0]: token.string.lstrip("# ")
            for token in tokenize.generate_tokens(io.StringIO(source).readline)
            if token.type == tokenize.COMMENT
        }
        found = {f.name: "" for f in fields(self.config)}
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                found[node.target.id] = " ".join(comments[line] for line in lines if line in comments)
        return found


@dataclass(frozen=True)
class Setting:
    """A field of a config."""

    name: str
    hint: Any  # its type, without None
    default: Any
    comments: Comments

    @property
    def help(self) -> str:
        """The comment in the lines of the field."""
        return self.comments.by_field[self.name]


class SettingOption(click.Option):
    """An option that is listed in a section of --help, and reads its help from the source only when it is shown.

    owners: the configs that have it, of all the configs in `among`. Where the help is about one of these, it is shown
    with what it means there, or left out.
    """

    def __init__(
        self,
        *names: Any,
        section: str,
        explain: Callable[[Mapping[str, Setting]], str],
        owners: Mapping[str, Setting],
        among: Collection[str],
        **attributes: Any,
    ) -> None:
        super().__init__(*names, **attributes)
        self.section = section
        self.explain = explain
        self.owners = owners
        self.among = among

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        topic: str = ctx.meta.get(TOPIC, "")
        if topic not in self.among:
            self.help = self.explain(self.owners)
        elif topic in self.owners:
            self.help = self.explain({topic: self.owners[topic]})
        else:
            return None
        return super().get_help_record(ctx)

    def section_in(self, ctx: click.Context) -> str:
        """The section in which it is listed: in help about one config, its own name instead of those of all owners."""
        topic: str = ctx.meta.get(TOPIC, "")
        return topic if topic in self.owners and len(self.owners) < len(self.among) else self.section


class SectionedCommand(click.Command):
    """A command whose help lists options in sections.

    topic: finds in the words behind the command the config that the help is about: in `train spans --help`, spans.
    """

    def __init__(
        self, *values: Any, topic: Callable[[Sequence[str]], str | None] | None = None, **attributes: Any
    ) -> None:
        super().__init__(*values, **attributes)
        self.topic = topic

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if self.topic is not None:
            ctx.meta[TOPIC] = self.topic(args)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)) is not None:
                section = param.section_in(ctx) if isinstance(param, SettingOption) else ""
                sections.setdefault(section or "Options", []).append(record)
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)


def settings_of(config: type[Any]) -> list[Setting]:
    """The fields of a config dataclass."""
    hints, comments = get_type_hints(config), Comments(config)
    return [
        Setting(f.name, _without_none(hints[f.name]), None if f.default is MISSING else f.default, comments)
        for f in fields(config)
    ]


def options_of(
    configs: Mapping[str, type[Any]],
    *,
    shared: str = "",
    spellings: Mapping[str, Sequence[str]] | None = None,
    helps: Mapping[str, str] | None = None,
    exclude: Collection[str] = (),
) -> Callable[[F], F]:
    """A decorator that gives a command the options of several configs.

    configs: by name. Options of one config are listed in a section of that name; those of several in a section with
    the names of all, or `shared` where every config has them.
    spellings: names for a field on the command line, instead of its own.
    helps: help for a field that means something else here than its comment says.
    """
    declared: dict[str, dict[str, Setting]] = {}
    for owner, config in configs.items():
        for setting in settings_of(config):
            if setting.name not in exclude:
                declared.setdefault(setting.name, {})[owner] = setting
    order = sorted(declared, key=lambda name: len(declared[name]), reverse=True)  # shared ones first

    def decorate(command: F) -> F:
        for name in reversed(order):
            flags, help = (spellings or {}).get(name, (name,)), (helps or {}).get(name)
            command = _option(declared[name], flags, configs, shared, help)(command)
        return command

    return decorate


def _section(owners: Sequence[str], all: int, shared: str) -> str:
    return shared if shared and len(owners) == all else ", ".join(owners)


def _option(
    owners: Mapping[str, Setting], spellings: Sequence[str], among: Collection[str], shared: str, help: str | None
) -> Callable[[F], F]:
    settings = list(owners.values())
    kind = _kind([setting.hint for setting in settings])
    flags = [f"--{spelling.replace('_', '-')}" for spelling in spellings]
    if kind is bool:
        flags = [f"{flag}/--no-{flag[2:]}" for flag in flags]

    def explain(shown: Mapping[str, Setting]) -> str:
        return f"{_capitalise(help) if help else _help(shown)}{_default(shown, flags[0])}"

    return click.option(
        *flags,
        settings[0].name,
        cls=SettingOption,
        type=kind,
        default=None,
        section=_section(list(owners), len(among), shared),
        explain=explain,
        owners=owners,
        among=frozenset(among),
    )


def _help(owners: Mapping[str, Setting]) -> str:
    """The help of a setting; where owners explain it differently, each explanation with its owners."""
    texts: dict[str, list[str]] = {}
    for owner, setting in owners.items():
        texts.setdefault(setting.help, []).append(owner)
    if len(texts) > 1:
        return " ".join(_sentence(f"{', '.join(names)}: {text}") for text, names in texts.items())
    (text,) = texts
    return _capitalise(text)


def _capitalise(text: str) -> str:
    return _sentence(text[:1].upper() + text[1:])


def _sentence(text: str) -> str:
    return text if text.endswith((".", "…")) else f"{text}."


def _default(owners: Mapping[str, Setting], flag: str) -> str:
    """The default in brackets, as click shows it; the help explains what an empty one means."""
    defaults: dict[str, list[str]] = {}
    for owner, setting in owners.items():
        if setting.default in (None, ""):
            continue
        shown = str(setting.default)
        if isinstance(setting.default, bool):
            shown = flag.split("/")[0 if setting.default else 1].lstrip("-")
        defaults.setdefault(shown, []).append(owner)
    if not defaults:
        return ""
    if len(defaults) == 1 and len(*defaults.values()) == len(owners):
        return f"  [default: {next(iter(defaults))}]"
    return "  [default: " + "; ".join(f"{shown} ({', '.join(names)})" for shown, names in defaults.items()) + "]"


def _kind(hints: Sequence[Any]) -> Any:
    """The type of an option: of owners with different choices, the choices of all."""
    if get_origin(hints[0]) is Literal:
        return click.Choice(list(dict.fromkeys(choice for hint in hints for choice in get_args(hint))))
    return hints[0]


def _without_none(hint: Any) -> Any:
    parts = [part for part in get_args(hint) if part is not NoneType]
    return parts[0] if NoneType in get_args(hint) and len(parts) == 1 else hint
