"""factpin with one more line in TASKS: `python -m tests.names_task train names …`."""

from factpin.tasks import TASKS
from tests.names_task.task import NAMES

TASKS["names"] = NAMES

from factpin.app.cli import main  # noqa: E402  (the line comes first, as it would in the source)

main()
