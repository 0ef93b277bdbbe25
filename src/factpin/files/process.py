"""Processes by name: who wrote a lock or a temporary file, and whether it still runs."""

import hashlib
import os
import re
import socket
from functools import lru_cache
from pathlib import Path

MARK = re.compile(r"[0-9a-f]{8}-\d{1,19}-[0-9a-f]{1,40}", re.ASCII)  # machine-pid-start


@lru_cache(maxsize=1)
def machine() -> str:
    """A mark of the machine and of its numbering of processes, which containers have of their own."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return hashlib.sha256(f"{socket.gethostname()} {space}".encode()).hexdigest()[:8]


def start_of(pid: int) -> str:
    """When a process started: "" where the system does not say, or where there is none of that number."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return f"{_boot()}{int(fields[19]):x}"
    except (OSError, IndexError, ValueError):
        return ""


@lru_cache(maxsize=1)
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    except OSError:
        return ""


def own_mark() -> str:
    """machine-pid-start of this process."""
    return f"{machine()}-{os.getpid()}-{start_of(os.getpid()) or '0'}"


def is_dead(mark: str) -> bool:
    """Whether the process of a mark has certainly ended. One on another machine may be running."""
    host, pid, start = mark.split("-")
    if host != machine():
        return False
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):  # no process has so large a number
        return True
    except PermissionError:
        pass  # it runs, as another user
    return start not in ("0", start_of(int(pid)) or start)  # the number was given to another process
