"""Read files as bytes and lines, compressed or not, and write them atomically.

Lines are numbered and decoded strictly: a byte that is not UTF-8 is an error with its position. Files are written to a
temporary file next to the target, synced and renamed, so that a crash leaves either the old file or the new one.
"""

from factpin.files.encodings import incremental_decoder
from factpin.files.leftovers import remove_leftovers
from factpin.files.limits import LIMIT, record_limit
from factpin.files.lock import one_writer
from factpin.files.names import PACKED, plain_name, plain_stem, readable, refuse_same, shortened
from factpin.files.reading import LineRange, byte_lines, line_text, lines, open_bytes, read_bytes, read_text
from factpin.files.writing import write_bytes, write_folder

__all__ = [
    "LIMIT",
    "LineRange",
    "PACKED",
    "byte_lines",
    "incremental_decoder",
    "line_text",
    "lines",
    "one_writer",
    "open_bytes",
    "plain_name",
    "plain_stem",
    "read_bytes",
    "read_text",
    "readable",
    "record_limit",
    "refuse_same",
    "remove_leftovers",
    "shortened",
    "write_bytes",
    "write_folder",
]
