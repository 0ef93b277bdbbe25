"""What users install: the wheel works with its declared dependencies alone, and the Dockerfile's steps fit together."""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from factpin.app.cli import cli
from tools.pin import closure

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
LARGEST = 80e6  # bytes of the wheel

# Refuses every installed package that is not among the allowed ones, as if it were not installed.
ALONE = """
import sys
from importlib.abc import MetaPathFinder
from importlib.metadata import packages_distributions

ALLOWED = {allowed!r}
OTHERS = {{name for name, owners in packages_distributions().items()
          if not {{owner.lower().replace("_", "-").replace(".", "-") for owner in owners}} & ALLOWED}}


class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in OTHERS:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None


sys.meta_path.insert(0, Missing())
"""


def dockerfile() -> list[tuple[str, str]]:
    """(instruction, its words) of the Dockerfile, with continued lines joined."""
    lines = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text()).splitlines()
    return [tuple(line.split(" ", 1)) for line in lines if line and not line.startswith("#")]  # type: ignore[misc]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from what the Dockerfile copies and with its command."""
    place = tmp_path_factory.mktemp("build")
    steps = dockerfile()
    for instruction, words in steps:
        if instruction == "COPY" and not words.startswith("--from"):
            *sources, _ = words.split()
            for source in sources:
                (place / source).symlink_to(ROOT / source)
    build = next(words for instruction, words in steps if instruction == "RUN" and "pip wheel" in words)
    command = [*shlex.split(build.replace("/wheels", str(place / "wheels"))), "--no-build-isolation", "--quiet"]
    subprocess.run([sys.executable, "-m", *command], cwd=place, check=True)
    (found,) = (place / "wheels").glob("factpin-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The wheel, unpacked."""
    site = wheel.parent / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def environment(site: Path, place: Path, *extras: str) -> dict[str, str]:
    """Variables with which Python sees the unpacked wheel and the packages that it asks for."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    allowed = {canonicalize_name(name) for name in closure(lines)} | {"factpin"}
    (place / "sitecustomize.py").write_text(ALONE.format(allowed=allowed))
    return {**os.environ, "PYTHONPATH": f"{place}{os.pathsep}{site}", "PYTHONUTF8": "1", "COLUMNS": "100"}


def run(site: Path, place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=place, env=environment(site, place), capture_output=True, text=True, timeout=300
    )


def test_the_wheel_is_small_and_holds_what_runs(wheel: Path) -> None:
    assert wheel.stat().st_size < LARGEST
    names = set(zipfile.ZipFile(wheel).namelist())
    inside = {name for name in names if not name.partition("/")[0].endswith(".dist-info")}
    assert {name.partition("/")[0] for name in inside} == {"factpin"}, "nothing but the package"
    tracked = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode == 0 and tracked.stdout:
        missing = {name.removeprefix("src/") for name in tracked.stdout.splitlines()} - inside
        assert not {name for name in missing if (ROOT / "src" / name).exists()}
    for model in (ROOT / "src/factpin/shipped").glob("*/factpin.json"):
        assert f"factpin/shipped/{model.parent.name}/graph.onnx" in inside


def test_the_wheel_extracts_with_its_dependencies_alone(installed: Path, tmp_path: Path) -> None:
    absent = run(installed, tmp_path, "-c", "import factpin, sys; print(factpin.__file__); import torch")
    assert absent.returncode == 1 and absent.stdout.startswith(str(installed)), "the test itself must hide torch"
    assert "No module named 'torch'" in absent.stderr
    done = run(installed, tmp_path, "-m", "factpin", "extract", str(ROOT / "examples/works.txt"), "--quiet")
    assert done.returncode == 0, done.stderr
    (record,) = map(json.loads, done.stdout.splitlines())
    assert len(record["facts"]) > 5
    train = run(installed, tmp_path, "-m", "factpin", "train", "spans", "--train", str(ROOT / "examples/corpus.json"),
                "--encoder", "minilm-en", "--output", "runs/x")  # fmt: skip
    assert train.returncode == 2 and "pip install 'factpin[train]'" in train.stderr
    serve = run(installed, tmp_path, "-m", "factpin", "serve")
    assert serve.returncode == 2 and "pip install 'factpin[serve]'" in serve.stderr


def test_the_wheel_serves_the_page_and_is_healthy_as_the_dockerfile_asks(installed: Path, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "token").write_text("a-token-for-tests-0123456789")
    steps = dict(dockerfile())
    words = json.loads(steps["CMD"])
    assert words[:2] == ["factpin", "serve"]
    with cli.make_context("factpin", words[1:]) as context:
        command = cli.get_command(context, "serve")
        assert command is not None
        asked = command.make_context("serve", words[2:]).params
    assert asked["port"] == int(steps["EXPOSE"]) and asked["host"] == "0.0.0.0"
    words = [word.replace("/run/secrets/factpin", str(tmp_path / "token")) for word in words]
    words[words.index("0.0.0.0")] = "127.0.0.1"
    health = json.loads(steps["HEALTHCHECK"].partition("CMD ")[2])
    check = [sys.executable, *(word.replace(steps["EXPOSE"], str(port)) for word in health[1:])]
    variables = environment(installed, tmp_path, "serve")
    log = open(tmp_path / "log", "wb")  # noqa: SIM115
    server = subprocess.Popen(
        [sys.executable, "-m", *words, "--port", str(port), "--model", "zh-facts"],
        cwd=tmp_path,
        env=variables,
        stderr=log,
    )
    try:
        for _ in range(300):
            if server.poll() is not None or subprocess.run(check, capture_output=True).returncode == 0:
                break
            time.sleep(0.2)
        assert server.poll() is None, (tmp_path / "log").read_text()
        assert subprocess.run(check, capture_output=True).returncode == 0
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=30) as answer:
            assert b"<html" in answer.read()
    finally:
        server.terminate()
        server.wait(30)
        log.close()
    assert server.returncode == 0


def test_the_dockerfile_copies_what_exists_and_is_not_ignored() -> None:
    steps = dockerfile()
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {name for step, words in steps if step == "COPY" and "--from" not in words for name in words.split()[:-1]}
    assert copied == kept and all((ROOT / name).exists() for name in copied)
    install = next(words for step, words in steps if step == "RUN" and "pip install" in words)
    (extras,) = re.findall(r"\.whl\)\[([\w,]+)\]", install)
    assert set(extras.split(",")) <= EXTRAS.keys()
    assert ("USER", "factpin") in steps and "useradd" in install


def test_extras_are_there_and_all_names_them() -> None:
    (all_of_them,) = map(Requirement, EXTRAS["all"])
    assert {"train", "serve", "pdf", "html", "docx", "ray", "postgres", "spacy"} <= all_of_them.extras
    assert all_of_them.extras == EXTRAS.keys() - {"all", "dev"}
    assert not {"torch", "transformers"} & {Requirement(line).name for line in PROJECT["dependencies"]}
    documented = (ROOT / "docs/install.md").read_text()
    assert all(f"`{name}`" in documented for name in EXTRAS.keys() - {"dev"})


def test_pins_satisfy_what_the_project_asks_for() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    direct = [Requirement(line) for group in (PROJECT["dependencies"], *EXTRAS.values()) for line in group]
    wrong = [
        str(need) for need in direct if (pin := pins.get(canonicalize_name(need.name))) and pin not in need.specifier
    ]
    assert not wrong, "run python tools/pin.py"
    used = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    assert used <= pins.keys(), "run python tools/pin.py"
    makefile = (ROOT / "Makefile").read_text()
    assert f"torch=={pins['torch']}" in makefile and "CONSTRAINTS ?= constraints.txt" in makefile


def test_the_demo_answers_two_questions_and_abstains_from_the_third() -> None:
    before = {*(ROOT / "examples").iterdir()}  # with the stores of somebody who followed the README
    done = subprocess.run(
        [sys.executable, ROOT / "examples/demo.py"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    _, *steps = re.split(r"^\d/7  ", done.stdout, flags=re.MULTILINE)
    assert len(steps) == 7
    assert re.search(r"红豆 +│ 歌手 +│ 周杰伦 +│ +[\d.]+ │ negated", steps[0])
    assert re.search(r"Marie Curie +│ born in +│ Warsaw", steps[1])
    assert "刘慈欣" in steps[4] and "works.txt:" in steps[4]
    assert "\nno " in steps[5] and "never studied" in steps[5]
    assert "no answer" in steps[6]
    assert {*(ROOT / "examples").iterdir()} == before
