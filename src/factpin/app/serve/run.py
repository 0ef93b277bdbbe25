"""Run a server until it is stopped."""

import time
from types import FrameType

import uvicorn
from fastapi import FastAPI

from factpin.app.serve.guard import Guard

LAST_ONES = 0.3  # seconds in which requests that are already on the wire still arrive


class GracefulServer(uvicorn.Server):
    """A server that answers what is under way before it stops. A second signal ends it at once."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self.application = app
        self.stop_at = float("inf")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002  (the signature of signal)
        """Say that the server stops, and stop a moment later."""
        if self.application.state.stopping:
            self.force_exit = self.should_exit = True
        self.application.state.stopping = True
        self.stop_at = time.monotonic() + LAST_ONES

    async def on_tick(self, counter: int) -> bool:
        """Whether to stop now; asked ten times a second."""
        return await super().on_tick(counter) or time.monotonic() > self.stop_at


def serve(app: FastAPI, guard: Guard, host: str, port: int) -> None:
    """Answer requests until SIGTERM or SIGINT."""
    config = uvicorn.Config(
        guard,
        host=host,
        port=port,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=int(guard.limits.grace),
        timeout_keep_alive=30,
    )
    GracefulServer(config, app).run()
