"""One file per command. A command parses its options, calls one function below app, and shows the result."""

import click

from factpin.app.commands.ask import ask
from factpin.app.commands.convert import convert
from factpin.app.commands.doctor import doctor
from factpin.app.commands.evaluate import evaluate
from factpin.app.commands.export import export
from factpin.app.commands.extract import extract
from factpin.app.commands.generate import generate
from factpin.app.commands.index import index
from factpin.app.commands.link import link
from factpin.app.commands.models import models
from factpin.app.commands.onnx import onnx
from factpin.app.commands.predict import predict
from factpin.app.commands.pretrain import pretrain
from factpin.app.commands.serve import serve
from factpin.app.commands.store import store
from factpin.app.commands.train import train
from factpin.app.commands.verify import verify

COMMANDS: dict[str, click.Command] = {
    "ask": ask,
    "convert": convert,
    "doctor": doctor,
    "evaluate": evaluate,
    "export": export,
    "extract": extract,
    "generate": generate,
    "index": index,
    "link": link,
    "models": models,
    "onnx": onnx,
    "predict": predict,
    "pretrain": pretrain,
    "serve": serve,
    "store": store,
    "train": train,
    "verify": verify,
}
