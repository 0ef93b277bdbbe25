"""`python -m factpin` is the same program as `factpin`."""

from factpin.app.cli import main

main()
