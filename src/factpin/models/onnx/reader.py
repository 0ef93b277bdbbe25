"""A reader behind onnxruntime."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from factpin.answers.pair_reader import PairBatch
from factpin.answers.reader import Reader
from factpin.arrays import Bools, Floats32
from factpin.models.onnx.folder import open_session, tuned
from factpin.models.onnx.graph import FLOAT32
from factpin.models.onnx.scores import Config, Outputs, efficient_global_pointer
from factpin.models.onnx.session import Session
from factpin.models.reader_settings import read_reader_settings, reader_settings
from factpin.tasks.spans.scores import band
from factpin.tokens import Tokenizer


@dataclass(frozen=True)
class PairNetwork:
    """Batches of pairs in, the scores of answers out."""

    session: Session
    head: str
    config: Config

    def table(self, batch: PairBatch) -> Floats32:
        """The scores (B, N, N) of answers that begin and end at tokens of a pair, -inf where none can be."""
        inputs = {"ids": batch.ids, "mask": batch.mask, "real": batch.real, "segments": batch.segments}
        s = TABLES[self.head](self.session.run(inputs), batch.real, self.config)
        there = batch.real[:, :, None] & batch.real[:, None] & band(s.shape[-1], self.config.get("max_span"))
        return np.where(there, s, np.float32(-np.inf))


def answer_pointer(out: Outputs, _real: Bools, _config: Config) -> Floats32:
    """Beginning and ending at two tokens, against the first token."""
    a, z = out["a"][:, 0], out["z"][:, 0]  # (B, N)
    found: Floats32 = a[:, :, None] + z[:, None] - (a[:, 0] + z[:, 0])[:, None, None]
    return found


def spans(out: Outputs, real: Bools, config: Config) -> Floats32:
    """An efficient global pointer of one label."""
    scores = efficient_global_pointer(out, real, config, {})
    found: Floats32 = scores.pairs() + scores.v[:, 0, None] + scores.u[:, 0, :, None]
    return found


TABLES = {"answer_pointer": answer_pointer, "efficient_global_pointer": spans}


def load_onnx_reader(folder: Path, precision: str = FLOAT32) -> Reader[PairNetwork]:
    """A reader from its folder, ready to read, without torch."""
    settings, _ = read_reader_settings(folder)
    session, _ = open_session(folder, settings, precision)
    own = tuned(settings, session.graph, folder)
    network = PairNetwork(session, own.head, own.head_config)
    return Reader(network, Tokenizer.shared(folder), reader_settings(own, folder))
