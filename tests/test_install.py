"""What `make` shows while pip runs: a sign of life while pip says nothing, and all that it said if it fails."""

import sys
import time

import pytest

from tools.install import Status, main


def run(program: str) -> int:
    return main([sys.executable, "-c", program], terminal=False, every=60)


@pytest.mark.parametrize("terminal", [True, False])
def test_there_is_a_sign_of_life_while_pip_says_nothing(*, terminal: bool, capsys: pytest.CaptureFixture[str]) -> None:
    shown = ""
    with Status(terminal=terminal, every=0.01) as status:
        status.doing = "2 packages: torch"
        while shown.count("2 packages: torch (0:0") < 3:  # nothing is said, and yet it is shown again
            time.sleep(0.01)
            shown += capsys.readouterr().out
    assert ("\r" in shown) == terminal and shown.count("\n") == (0 if terminal else shown.count("torch"))


def test_the_end_is_a_count_and_a_failure_is_all_that_pip_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("print('Collecting torch==2'); print('Successfully installed a-1 torch-2')") == 0
    assert capsys.readouterr().out == "  installed 2 packages\n"
    assert run("print('Collecting torch==2'); print('No matching distribution'); exit(3)") == 3
    out, err = capsys.readouterr()
    assert out == "" and "Collecting torch==2\nNo matching distribution\n" in err
