"""Every task finds and decodes where torch cannot be imported."""

import subprocess
import sys

PROGRAM = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = None

import numpy as np
from importlib import import_module
from factpin.documents import Document, Entity, Mention
from factpin.tasks import TASKS

for name in TASKS:
    for part in ("targets", "find", "decode", "task", "finder"):
        import_module(f"factpin.tasks.{name}.{part}")

from factpin.tasks.coreference import CandidateScores, find_links
from factpin.tasks.document_relations import RelationScores, decode, find_relations
from factpin.tasks.events import EventScores, find_events
from factpin.tasks.spans import find_spans
from factpin.tasks.spans.scores import FactoredScores, PointerScores, TagScores
from factpin.tasks.spans.tags import Tags
from factpin.tasks.triples import TripleScores, find_triples

def factored(labels):
    q, k = np.zeros((1, 4, 2), np.float32), np.zeros((1, 4, 2), np.float32)
    u = np.full((1, labels, 4), -5, np.float32)
    v = u.copy()
    u[0, 0, 1] = v[0, 0, 2] = 4
    return FactoredScores(q, k, u, v, real)

real = np.array([[False, True, True, False]])
assert find_spans(factored(2), 0.0).rows() == [(0, 0, 1, 2)]

q, k = np.zeros((1, 4, 2, 2), np.float32), np.zeros((1, 4, 2, 2), np.float32)
q[0, 1, 0, 0] = k[0, 1, 0, 0] = q[0, 2, 1, 0] = k[0, 2, 1, 0] = 2
pairs = PointerScores(q, k, real)
assert find_spans(pairs, 0.0).rows() == [(0, 0, 1, 1), (0, 1, 2, 2)]

tags = Tags(1, "bioes")
steps, start, end = (np.where(legal, 0, -np.inf).astype(np.float32) for legal in tags.legal())
e = np.zeros((1, 4, 5), np.float32)
e[0, 1, 1] = e[0, 2, 3] = 9  # B, E
assert find_spans(TagScores(e, steps, start, end, real, tags), -np.inf).rows() == [(0, 0, 1, 2)]

triples = find_triples(TripleScores(pairs, factored(1), factored(1), 1), 0.0)
assert triples.rows() == [(0, 0, (0, 1, 1), (1, 2, 2))]

events = find_events(EventScores(factored(1), factored(1), factored(1), np.array([0]), np.array([False])), 0.0)
assert events.spans.rows() == [(0, 0, 1, 2)] and len(events) == 0

s, zero, one = np.array([[0, 2, -1]], np.float32), np.array([0]), np.array([1])
found = find_relations(RelationScores(s, zero, one, None, None, True, 4, 0.2), 0.0)
mentions = (Mention("m0", 0, 1, "a"), Mention("m1", 2, 3, "b"))
doc = Document("d", "a b", mentions=mentions, entities=(Entity("e0", ("m0",)), Entity("e1", ("m1",))))
assert [(f.head, f.relation, f.tail) for f in decode(found, doc, ("r", "t")).facts] == [("e0", "r", "e1")]

assert CandidateScores(np.zeros((2, 1), np.float32)).probability().tolist() == [[0.5], [0.5]]
assert find_links(CandidateScores(np.zeros((0, 0), np.float32)), []) == []
print("found")
"""


def test_finding_needs_no_torch() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout == "found\n", done.stderr
