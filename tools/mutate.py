"""Change one thing in a module at a time and run its tests: what survives is not tested.

    python tools/mutate.py src/factpin/files/limits.py tests/test_files.py tests/hostile/test_files.py --most 40

Changes: a comparison or its bound (< to <=, == to !=), and to or, + to -, a number by one, True to False, a condition
negated, a returned value replaced by None. The module is restored after each change, also if the program is stopped.
A change that makes the tests hang counts as found. Some survivors change nothing that a user can see: look at each.
"""

import argparse
import ast
import copy
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult}
TIMEOUT = 300  # seconds


@dataclass(frozen=True)
class Mutant:
    """A changed module."""

    line: int
    what: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Every change of a module."""
    tree = ast.parse(source)
    for number, node in enumerate(ast.walk(tree)):
        for way in range(2):
            changed = copy.deepcopy(tree)
            target = next(other for i, other in enumerate(ast.walk(changed)) if i == number)
            if what := change(target, way):
                yield Mutant(getattr(node, "lineno", 0), what, ast.unparse(ast.fix_missing_locations(changed)))


def change(node: ast.AST, way: int) -> str:
    """Change a node in place; gives what was done, or "" if there is nothing to change in this way."""
    if isinstance(node, ast.Compare) and way == 0 and type(node.ops[0]) in COMPARED:
        before = type(node.ops[0])
        node.ops[0] = COMPARED[before]()
        return f"{before.__name__} became {COMPARED[before].__name__}"
    if isinstance(node, ast.BoolOp) and way == 0:
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return "and, or exchanged"
    if isinstance(node, ast.BinOp) and way == 0 and type(node.op) in COMPUTED:
        before_op = type(node.op)
        node.op = COMPUTED[before_op]()
        return f"{before_op.__name__} became {COMPUTED[before_op].__name__}"
    if isinstance(node, ast.Constant) and way == 0 and isinstance(node.value, int):
        old = node.value
        node.value = not old if isinstance(old, bool) else old + 1
        return f"{old} became {node.value}"
    if isinstance(node, ast.If | ast.IfExp | ast.While) and way == 1:
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return "the condition was negated"
    if isinstance(node, ast.Return) and way == 0 and node.value is not None:
        node.value = ast.Constant(None)
        return "the returned value became None"
    return ""


def is_found(tests: list[str]) -> bool:
    """Whether the tests fail."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:randomly", *tests]
    try:
        done = subprocess.run(words, capture_output=True, timeout=TIMEOUT, check=False,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})  # fmt: skip
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", type=Path)
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--most", type=int, default=30, help="changes to try, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no further change after this time")
    chosen = parser.parse_args()
    source = chosen.module.read_text(encoding="utf-8")
    if is_found(chosen.tests):
        sys.exit("The tests fail before anything is changed.")
    every = list(mutants(source))
    some = random.Random(chosen.seed).sample(every, min(chosen.most, len(every)))
    survivors, tried, began = [], 0, time.monotonic()
    try:
        for mutant in some:
            if time.monotonic() - began > chosen.seconds:
                break
            tried += 1
            chosen.module.write_text(mutant.source, encoding="utf-8")
            if not is_found(chosen.tests):
                survivors.append(mutant)
                print(f"survived: {chosen.module}:{mutant.line}: {mutant.what}", flush=True)
    finally:
        chosen.module.write_text(source, encoding="utf-8")
    print(f"{chosen.module}: {tried - len(survivors)} of {tried} found ({len(every)} are possible)")


if __name__ == "__main__":
    main()
