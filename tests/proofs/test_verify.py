"""`factpin verify`: planned, run, shown, resumed; one failure is exit code 1."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from factpin.app.commands.verify import verify as command
from factpin.errors import BadFile, BadInput, MissingExtra, UnknownName
from proofs import ANSWERS, EXPERIMENTS, SYSTEMS, school
from proofs import verify as proofs
from proofs.compare import Compared, summary
from proofs.results import Learned, read_results, write_results
from proofs.verify import Brief, Row, brief, learned_row, planned, verify, worst


def run(*words: str | Path) -> int:
    code: int = command.main([str(word) for word in words], standalone_mode=False)
    return code


def test_the_fast_half_of_two_methods_holds_and_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run("gpt", "transformer-xl", "--fast", "--all", "--quiet") == 0
    shown = capsys.readouterr().out
    assert "OpenAIGPTLMHeadModel" in shown and "FAILS" not in shown
    assert "13 of 13 hold" in shown


def row(system: str, checked: str, *found: Compared) -> Row:
    holds = all(one.holds for one in found)
    return Row(system, checked, "PegasusForConditionalGeneration", summary(found), holds, 0.1, *worst(found))


def test_the_rows_of_a_kind_are_one_line_with_the_figure_nearest_to_its_bound() -> None:
    near, far, exact = Compared("a", 0.5, 0.0, 1.0), Compared("chi squared", 1.5, 0, 13.8), Compared("leaks", 0, 0)
    rows = [row("x", "parity", near, far, exact), row("x", "no leak: b", exact), row("x", "no leak: c", exact),
            row("y", "parity: d", far), row("y", "parity: e", near), row("y", "parity: f", Compared("g", 1, 2)),
            row("z", "parity: d", far), row("z", "parity: e", near),
    ]  # fmt: skip
    assert brief(rows) == [
        Brief("x", "parity", 1, 1, "a: 0.5 of 1"),
        Brief("x", "no leak", 2, 2, "exact"),
        Brief("y", "parity", 2, 3, "g: got 1, wanted 2"),
        Brief("z", "parity", 2, 2, "a: 0.5 of 1"),
    ]
    assert worst([far]) == ("chi squared: 1.5 of 14", 1.5 / 13.8)


def test_no_word_is_broken_at_80_columns_and_failures_are_shown_in_full(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = [row("ernie", f"no leak: ernie_{name}", Compared("leaks", 0, 0)) for name in ("distance", "entity")]
    rows += [row("transformer_xl", "parity", Compared("words", 0.0, 0.0, 1e-10)), row("xlnet", "golden example",
             Compared("the cells that are asked for", 1, 2))]  # fmt: skip
    monkeypatch.setattr(proofs, "verify", lambda *_, **__: rows)
    assert run("--fast") == 1
    short = capsys.readouterr().out
    assert max(map(len, short.splitlines())) <= 80
    assert "ernie           no leak         2 of 2  exact" in short and "0 of 1" in short and "3 of 4 hold" in short
    assert "FAILS: the cells" in short and "ernie_distance" not in short
    assert run("--fast", "--all") == 1
    words = capsys.readouterr().out.split()
    assert {"ernie_distance,", "transformer_xl", "PegasusForConditionalGeneration", "FAILS:"} <= set(words)
    monkeypatch.setenv("COLUMNS", "40")
    assert run("--fast", "--all") == 1 and "PegasusForConditionalGeneration" in capsys.readouterr().out.split()


def test_json_has_a_row_for_each_step_of_the_plan(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run("mass", "--fast", "--json") == 0
    report = json.loads(capsysbinary.readouterr().out)
    assert report["ok"] and len(report["rows"]) == planned(["mass"], fast=True).steps
    assert report["rows"][0].keys() == {"system", "checked", "against", "found", "holds", "seconds"}


def test_learning_is_kept_seed_by_seed_and_failure_is_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(school, "SHARE", 0.001)  # two steps teach nothing
    kept = tmp_path / "learned.json"
    assert run("bert", "--seeds", "1", "--output", kept, "--json") == 1
    first = read_results(kept, EXPERIMENTS)
    assert set(first) == {"bert_both_sides", "bert_next_sentence"} and list(first["bert_both_sides"]) == [1]
    report = json.loads(capsysbinary.readouterr().out)
    failed = [row for row in report["rows"] if not row["holds"]]
    assert not report["ok"] and any("not reached: on at least 0.95" in row["found"] for row in failed)

    known = Learned({"on": 1.0, "off": 0.5}, 1.0)
    write_results(kept, {name: {1: known, 2: known} for name in first}, EXPERIMENTS)
    before = kept.read_bytes()
    assert run("bert", "--seeds", "1", "2", "--output", kept, "--json") == 1  # the off arm of both sides is too good
    assert kept.read_bytes() == before
    rows = json.loads(capsysbinary.readouterr().out)["rows"]
    assert [row["holds"] for row in rows if "on 1.00 1.00" in row["found"]] == [False, True]


def test_figures_of_another_design_do_not_count_and_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "learned.json"
    assert read_results(path, EXPERIMENTS) == {}
    results = {"gpt_context": {1: Learned({"on": 0.25}, 2.0), 3: Learned({"on": 0.5}, 2.5)}}
    write_results(path, results, EXPERIMENTS)
    assert read_results(path, EXPERIMENTS) == results
    told = json.loads(path.read_text())
    told["gpt_context"]["design"] += 1
    told["an_experiment_that_is_gone"] = {"design": 1, "seeds": {}}
    path.write_text(json.dumps(told))
    assert read_results(path, EXPERIMENTS) == {}
    for wrong in ("{", "[]", '{"gpt_context": {"design": 1, "seeds": {"x": 1}}}'):
        path.write_text(wrong)
        with pytest.raises(BadFile, match="no results of `factpin verify`"):
            read_results(path, EXPERIMENTS)


def test_a_row_shows_every_arm_and_every_bar_that_was_missed() -> None:
    experiment = EXPERIMENTS["transformer_xl_memory"]
    good, bad = Learned({"on": 0.01, "off": 2.5}, 3.0), Learned({"on": 0.2, "off": 2.4}, 4.0)
    reached = learned_row(experiment, {1: good, 2: good}, (1, 2))
    assert reached.holds and reached.found == "on 0.01 0.01; off 2.50 2.50" == reached.figure and reached.seconds == 6.0
    missed = learned_row(experiment, {1: good, 2: bad}, (1, 2))
    assert not missed.holds and missed.found.endswith("not reached: on at most 0.05")


def test_a_plan_has_the_methods_in_order_and_no_learning_when_fast() -> None:
    plan = planned(["xlnet", "gpt"], seeds=(1, 2, 2))
    assert plan.systems == ("gpt", "xlnet") and plan.seeds == (1, 2)
    assert plan.experiments.keys() == {"gpt_context", "xlnet_order"}
    assert plan.steps == len(plan.proofs) + 4
    assert planned(fast=True).steps == len(planned().proofs) and planned().systems == (*SYSTEMS, *ANSWERS)


def test_steps_are_counted_as_they_are_done() -> None:
    done: list[int] = []
    plan = planned(["wwm"], fast=True)
    rows = verify(plan, step=lambda: done.append(1))
    assert len(done) == plan.steps == len(rows) and all(row.holds for row in rows)


def test_what_makes_no_sense_is_said() -> None:
    with pytest.raises(UnknownName, match="no method 'xlnt'. Did you mean 'xlnet'"):
        run("xlnt", "--fast")
    with pytest.raises(BadInput, match="--seeds is 'one'; expected numbers"):
        run("gpt", "--fast", "--seeds", "one")


def test_without_a_source_checkout_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["factpin.app.commands.verify"], "CHECKOUT", tmp_path)
    with pytest.raises(MissingExtra, match="pip install -e"):
        run("--fast")


def test_it_runs_from_any_folder(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "factpin", "verify", "wwm", "--fast", "--quiet"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and " hold, " in done.stdout, done.stderr
