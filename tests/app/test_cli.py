"""The command line as a contract: exit codes, words, JSON, and a light start."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from factpin.app.commands import COMMANDS

SAMPLES = Path(__file__).parents[1] / "formats" / "samples"
CLUENER = SAMPLES / "cluener.json"


def factpin(*words: object, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "factpin", *map(str, words)], capture_output=True, text=True,
                          input=stdin, env={**os.environ, "COLUMNS": "200", "PYTHONUTF8": "1"})  # fmt: skip


def test_a_group_of_commands_alone_shows_its_help() -> None:
    done = factpin("store")
    assert done.returncode == 0 and done.stdout.startswith("Usage: factpin store") and done.stderr == ""


@pytest.mark.parametrize("words", [["--help"], ["doctor", "--help"], ["train", "--help"], ["extract", "--help"]])
def test_help_loads_no_torch(words: list[str]) -> None:
    code = (
        "import sys\n"
        "from factpin.app.cli import main\n"
        f"try: main({words!r})\n"
        "except SystemExit as stop: code = stop.code\n"
        "heavy = {'torch', 'transformers', 'scipy', 'pandas'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Usage" in done.stdout


def test_doctor_and_convert_load_no_torch(tmp_path: Path) -> None:
    for words in (["doctor", str(CLUENER)], ["convert", str(CLUENER), str(tmp_path / "x.jsonl")]):
        code = (
            f"import sys; from factpin.app.cli import main\n"
            f"try: main({words!r})\nexcept SystemExit: pass\nsys.exit('torch' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_helps(command: str) -> None:
    done = factpin(command, "--help")
    assert done.returncode == 0 and "Usage: factpin" in done.stdout


@pytest.mark.parametrize(
    "words, said",
    [
        (["doktor", "x"], "Did you mean 'doctor'?"),
        (["convert", CLUENER, "out.jsonl", "--from", "cluner"], "Did you mean 'cluener'?"),
        (["convert", CLUENER, "out.xyz"], "--to"),
        (["doctor", "absent.json"], "no such file"),
        (["doctor"], "PATH"),
        (["convert", CLUENER, "o.jsonl", "--lossless"], "lossless"),
        (["extract", "nothing.txt", "--model", "nowhere"], "There is no model 'nowhere'"),
        (["train", "spams", "--output", "x"], "Did you mean 'spans'?"),
    ],
)
def test_a_refusal_is_one_line_and_exit_code_2(words: list[object], said: str, tmp_path: Path) -> None:
    done = factpin(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_options_take_hyphen_and_underscore(tmp_path: Path) -> None:
    done = factpin("convert", CLUENER, tmp_path / "a.jsonl", "--skip_bad", "--quiet")
    assert done.returncode == 0, done.stderr


def test_json_is_all_that_standard_output_holds(tmp_path: Path) -> None:
    report = json.loads(factpin("doctor", CLUENER, "--json").stdout)
    promised = (
        "documents sentences characters mentions entities facts events labels relations lengths nested overlapping "
        "discontinuous duplicates leaked problems ok"
    )
    assert set(promised.split()) <= report.keys()
    done = json.loads(factpin("convert", CLUENER, tmp_path / "a.jsonl", "--json").stdout)
    assert done["documents"] == 3 and done["from"] == "cluener" and done["to"] == "jsonl"


def test_a_pipe_reads_and_writes(tmp_path: Path) -> None:
    native = factpin("convert", CLUENER, "-", "--to", "jsonl").stdout
    assert len(native.splitlines()) == 3
    back = factpin("convert", "-", "-", "--from", "jsonl", "--to", "cluener", stdin=native)
    assert back.returncode == 0, back.stderr
    assert json.loads(back.stdout.splitlines()[0])["label"]["name"] == {"周博士": [[8, 10]]}


def test_doctor_exits_with_1_where_something_must_be_fixed(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"text": "在北京", "label": {"place": {"北京": [[1, 3]]}}}\n', encoding="utf-8")
    done = factpin("doctor", broken, "--from", "cluener")
    assert done.returncode == 1
    assert "something needs fixing" in done.stdout
    assert factpin("doctor", CLUENER).returncode == 0


def test_what_a_format_cannot_hold_stops_convert_and_writes_nothing(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = factpin("convert", SAMPLES / "jsonl.jsonl", target, "--to", "cluener")
    assert done.returncode == 2 and "1 fact" in done.stderr and "--lossy" in done.stderr
    assert list(tmp_path.iterdir()) == []
    done = factpin("convert", SAMPLES / "jsonl.jsonl", target, "--to", "cluener", "--lossy")
    assert done.returncode == 0 and "1 fact" in done.stderr and target.exists()


def test_bad_records_are_set_aside_and_counted(tmp_path: Path) -> None:
    source = tmp_path / "in.json"
    lines = CLUENER.read_text(encoding="utf-8").splitlines()
    source.write_text("\n".join([lines[0], "{broken", lines[1], '{"text": 3}']) + "\n", encoding="utf-8")
    done = factpin("convert", source, tmp_path / "out.jsonl", "--from", "cluener")
    assert done.returncode == 2 and "in.json:2" in done.stderr and "--skip-bad" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()
    done = factpin("convert", source, tmp_path / "out.jsonl", "--from", "cluener", "--skip-bad")
    assert done.returncode == 0 and "2 bad records" in done.stderr
    rejects = [json.loads(line) for line in (tmp_path / "out.jsonl.rejects.jsonl").read_text().splitlines()]
    assert [(r["line"], r["record"]) for r in rejects] == [(2, "{broken"), (4, '{"text": 3}')]
    assert rejects[1]["field"] == "text"
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 2


def test_a_file_that_is_not_utf8_is_refused_and_read_with_its_encoding(tmp_path: Path) -> None:
    source = tmp_path / "gb.json"
    source.write_bytes(CLUENER.read_text(encoding="utf-8").encode("gb18030"))
    done = factpin("convert", source, tmp_path / "a.jsonl", "--from", "cluener")
    assert done.returncode == 2 and "not UTF-8: byte" in done.stderr and "--encoding" in done.stderr
    done = factpin("convert", source, tmp_path / "a.jsonl", "--from", "cluener", "--encoding", "gb18030")
    assert done.returncode == 0
    assert "海港银行" in (tmp_path / "a.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("stop, code", [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_stopped_conversion_leaves_nothing_half_written(tmp_path: Path, stop: int, code: int) -> None:
    fifo = tmp_path / "in.jsonl"
    os.mkfifo(fifo)
    words = [sys.executable, "-m", "factpin", "convert", str(fifo), str(tmp_path / "out.jsonl"), "--from", "jsonl"]
    # where the tests run in the background, Ctrl-C is ignored and children inherit that
    child = subprocess.Popen(words, stderr=subprocess.PIPE,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))  # fmt: skip
    with open(fifo, "w") as stream:
        stream.write('{"id": "a", "text": "x"}\n' * 20_000)
        stream.flush()
        while not list(tmp_path.glob(".out.jsonl.*.part")):
            assert child.poll() is None
            time.sleep(0.05)
        child.send_signal(stop)
        child.communicate(timeout=120)
    assert child.returncode == code
    assert not (tmp_path / "out.jsonl").exists()
    if stop == signal.SIGINT:
        assert [p.name for p in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_schema_is_learned_and_checked(tmp_path: Path) -> None:
    schema = tmp_path / "schema.toml"
    assert factpin("doctor", SAMPLES / "jsonl.jsonl", "--learn-schema", schema).returncode == 0
    assert "出生地" in schema.read_text(encoding="utf-8")
    assert factpin("doctor", SAMPLES / "jsonl.jsonl", "--schema", schema).returncode == 0
    schema.write_text(schema.read_text(encoding="utf-8").replace("出生地", "死亡地"), encoding="utf-8")
    assert factpin("doctor", SAMPLES / "jsonl.jsonl", "--schema", schema).returncode == 1


def test_a_reader_that_goes_away_is_no_error() -> None:
    many = CLUENER.read_text(encoding="utf-8") * 3000
    convert = f"{sys.executable} -m factpin convert - - --from cluener --to jsonl --quiet"
    script = f"{convert} | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], input=many, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0" and done.stderr == ""


def test_a_docred_result_is_written_and_scored(tmp_path: Path) -> None:
    gold = SAMPLES / "docred.json"
    assert factpin("convert", gold, tmp_path / "result.json", "--to", "docred_result").returncode == 0
    records = json.loads((tmp_path / "result.json").read_text())
    assert records and {"title", "h_idx", "t_idx", "r"} <= records[0].keys()
    report = json.loads(factpin("evaluate", tmp_path / "result.json", gold, "--json").stdout)
    assert report["task"] == "document_relations" and report["strict"]["f1"] == 1.0


def test_an_empty_result_is_scored_and_other_names_are_made_those_of_gold(tmp_path: Path) -> None:
    gold, table = SAMPLES / "docred.json", tmp_path / "names.json"
    (tmp_path / "empty.json").write_text("[]\n")
    for words in ([], ["--pred-from", "docred_result"]):
        report = json.loads(factpin("evaluate", tmp_path / "empty.json", gold, "--json", *words).stdout)
        assert report["task"] == "document_relations" and report["strict"]["recall"] == 0 and report["gold"]
    (tmp_path / "odd.json").write_text("[1]")
    assert "--pred-from" in factpin("evaluate", tmp_path / "odd.json", gold).stderr
    table.write_text(json.dumps({"P177": "crosses"}))
    done = factpin("convert", gold, tmp_path / "named.jsonl", "--rename", table)
    assert "names: renamed: 1 relation\n" in done.stderr and "names: kept, as the table" in done.stderr
    report = json.loads(factpin("evaluate", tmp_path / "named.jsonl", gold, "--json", "--rename", table).stdout)
    assert report["strict"]["f1"] == 1 and "renamed: 1 relation" in report["notes"]
