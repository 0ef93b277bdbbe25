"""Read a TensorFlow V2 checkpoint without TensorFlow: from the bytes of its index and data to named float32 arrays.

The index is a table of sorted blocks (LevelDB's format, not compressed). The second handle in the footer points to a
block whose values are handles of the other blocks. In a block, each key is stored as (length shared with the previous
key, length of the rest, length of the value). A value is a protobuf: 1 type, 2 shape {2 dimension {1 size}}, 4 offset,
5 size in the data.
"""

import struct
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

FOOTER = 48  # bytes
TYPES = {1: "<f4", 2: "<f8"}  # TensorFlow's numbers of float and double; other tensors are counters, not weights


def read_checkpoint(index: bytes, data: bytes) -> dict[str, NDArray[np.float32]]:
    """The float tensors of a checkpoint by name."""
    footer = index[-FOOTER:]
    _, at = _handle(footer, 0)
    table, _ = _handle(footer, at)
    tensors: dict[str, NDArray[np.float32]] = {}
    for _, value in _block(index, *table):
        for name, entry in _block(index, *_handle(value, 0)[0]):
            fields = dict(_fields(entry))
            kind = TYPES.get(int(fields.get(1, 1)))
            if not name or kind is None:  # the entry without a name is the header
                continue
            start, size = int(fields.get(4, 0)), int(fields[5])
            tensor = np.frombuffer(data[start : start + size], kind).reshape(_shape(bytes(fields.get(2, b""))))
            tensors[name.decode()] = tensor.astype(np.float32)
    return tensors


def _shape(raw: bytes) -> list[int]:
    return [int(dict(_fields(bytes(value))).get(1, 0)) for number, value in _fields(raw) if number == 2]


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """(value, where it ends): seven bits per byte, lowest first; the top bit says that more follow."""
    value = shift = 0
    while True:
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _handle(raw: bytes, at: int) -> tuple[tuple[int, int], int]:
    """((offset, size) of a block, where the handle ends)."""
    offset, at = _varint(raw, at)
    size, at = _varint(raw, at)
    return (offset, size), at


def _block(index: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    block = index[offset : offset + size]
    restarts = struct.unpack("<I", block[-4:])[0]
    end = len(block) - 4 - 4 * restarts
    at, key = 0, b""
    while at < end:
        shared, at = _varint(block, at)
        fresh, at = _varint(block, at)
        length, at = _varint(block, at)
        key = key[:shared] + block[at : at + fresh]
        at += fresh
        yield key, block[at : at + length]
        at += length


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(number, value) of every field of a protobuf message."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        match tag & 7:
            case 0:
                value, at = _varint(message, at)
                yield tag >> 3, value
                continue
            case 2:
                length, at = _varint(message, at)
            case 5:
                length = 4
            case 1:
                length = 8
            case kind:
                raise ValueError(f"unknown kind {kind} of protobuf field")
        yield tag >> 3, message[at : at + length]
        at += length
