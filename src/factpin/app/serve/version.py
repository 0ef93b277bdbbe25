"""The version of this server."""

from importlib.metadata import version

VERSION = version("factpin")
