"""The notebooks run from their first cell to their last, and what they claim holds."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parent.parent / "examples"
SECONDS = 300  # for one cell; a guard against hangs


def run(name: str, monkeypatch: pytest.MonkeyPatch, **settings: int) -> list[str]:
    """The printed output of every code cell. settings: numbers to replace, by the name that they are assigned to."""
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent / "src"))
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        for setting, value in settings.items():
            cell.source = re.sub(rf"^{setting} = \d+$", f"{setting} = {value}", cell.source, flags=re.MULTILINE)
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    return ["".join(out.get("text", "") for out in cell.outputs) for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.filterwarnings("ignore")  # of the client, about sockets
def test_the_notebook_of_the_store_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = "".join(run("store", monkeypatch))
    assert "When was Ada Lovelace born? -> 10 December 1815\n    computing.txt:35-51" in printed
    assert "Who invented the telephone? -> no answer" in printed


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_of_training_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = (line for line in run("train", monkeypatch, EPOCHS=1) if line.startswith("all labels"))
    assert before.endswith("product: F1 0.00\n")
    assert re.fullmatch(r"all labels: F1 [\d.]+; product: F1 [\d.]+\n", after)


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore")
def test_thirty_sentences_teach_a_new_label(monkeypatch: pytest.MonkeyPatch) -> None:
    _, after = (line for line in run("train", monkeypatch) if line.startswith("all labels"))
    assert float(after.split()[-1]) > 0.7, after


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_what_is_stored_in_a_notebook_says_nothing_of_the_machine(path: Path) -> None:
    assert not re.search(r"/(tmp|home|root|work)/", path.read_text())
