"""What Prometheus can read. No label has a value that a client can choose."""

from collections.abc import Callable, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, generate_latest
from starlette.types import Scope

from factpin.app.serve.logs import route_of
from factpin.documents import Document

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Counts of one server."""

    def __init__(self, version: str, models: Sequence[str]) -> None:
        self.registry = CollectorRegistry()
        registry = self.registry
        self.requests = Counter("factpin_requests", "Requests answered.", ["route", "status"], registry=registry)
        self.seconds = Histogram(
            "factpin_request_seconds", "Time to answer.", ["route"], buckets=SECONDS, registry=registry
        )
        self.wait = Histogram("factpin_wait_seconds", "Longest wait in a batch.", buckets=SECONDS, registry=registry)
        self.batch = Histogram("factpin_batch_documents", "Documents read together.", buckets=SIZES, registry=registry)
        self.read = Histogram("factpin_batch_seconds", "Time to read a batch.", buckets=SECONDS, registry=registry)
        self.characters = Counter("factpin_characters", "Characters read.", registry=registry)
        self.waiting = Gauge("factpin_queue_requests", "Requests that wait.", registry=registry)
        self.waiting_characters = Gauge("factpin_queue_characters", "Characters that wait.", registry=registry)
        Info("factpin", "This server.", registry=registry).info({"version": version, "models": ",".join(models)})

    def watch(self, state: Callable[[], tuple[int, int]]) -> None:
        """Take the gauges from a queue."""
        self.waiting.set_function(lambda: state()[0])
        self.waiting_characters.set_function(lambda: state()[1])

    def request(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(route_of(scope), str(status)).inc()
        self.seconds.labels(route_of(scope)).observe(seconds)

    def on_batch(self, documents: Sequence[Document], wait: float, seconds: float) -> None:
        """Count a batch."""
        self.batch.observe(len(documents))
        self.wait.observe(wait)
        self.read.observe(seconds)
        self.characters.inc(sum(len(doc.text) for doc in documents))

    def text(self) -> bytes:
        """All counts, as Prometheus reads them."""
        return generate_latest(self.registry)
