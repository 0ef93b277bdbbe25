"""Make a model of the last checkpoint of a run that did not end: its averaged weights (`ema`), tuned on dev.

python recipes/end_run.py recipes/zh-facts/recipe.toml runs/zh-facts --output runs/zh-facts-ended
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import torch

from factpin.formats import Options
from factpin.models.model import torch_model
from factpin.tasks import TASKS
from factpin.training.checkpoint import last_path
from factpin.training.config import from_dict, read_recipe
from factpin.training.data import read_training
from factpin.training.run import finish, start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    tables = read_recipe(options.recipe)
    task = TASKS[tables["task"]["name"]]
    config = from_dict(task.options, tables[task.name], str(options.recipe))
    training, dev = read_training(tables["task"], Options(occurrences=config.occurrences))
    extractor = start(task, config, training, tables["train"]["seed"])
    state = torch.load(last_path(options.run), map_location="cpu", weights_only=True)
    model = torch_model(extractor.model)
    model.load_state_dict({**state["model"], **state["ema"]})
    model.eval()
    options.output.mkdir(parents=True, exist_ok=True)
    scores = finish(task, extractor, dev, options.output, config, tables["task"], tables["train"]["seed"])
    print(f"step {state['progress']['step']}: " + ", ".join(f"{name} {value:.4f}" for name, value in scores.items()))


if __name__ == "__main__":
    main()
