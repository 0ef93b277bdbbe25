"""Half precision (bfloat16) on this machine: whether it pays, and a context that computes in it.

A processor without bfloat16 instructions emulates it and is slower for it. Some virtual machines report AMX, the
fastest kind, and kill a program that uses it: there float32 is used, unless the variable ONEDNN_MAX_CPU_ISA tells
oneDNN, torch's library, to do without (AVX512_CORE_BF16).
"""

import os
import subprocess
import sys
from functools import cache

import torch

SLOWER = (
    "bf16: this processor has no instructions for it and emulates it. Float32 is faster here: leave --bf16 out, or "
    "give --no-bf16 where a recipe asks for it."
)
BROKEN = (
    "bf16: this machine reports AMX instructions but stops programs that use them, so float32 is used. To compute in "
    "bf16 without them, set ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16."
)
ISA = "ONEDNN_MAX_CPU_ISA"
PROBE = "import torch; x = torch.ones(64, 64, dtype=torch.bfloat16); x @ x"


def bf16_warning() -> str:
    """What a user who asks for bfloat16 should know about this machine; empty: nothing."""
    if not torch.cuda.is_available() and has_broken_amx():
        return BROKEN
    return SLOWER if emulates_bf16() else ""


def emulates_bf16() -> bool:
    """A run in bfloat16 on this machine would take longer than one in float32."""
    if torch.cuda.is_available():
        return False
    has = torch.cpu.get_capabilities()
    return has["architecture"] == "x86_64" and not (has["avx512_bf16"] or has["amx_bf16"])


def half_precision(device: str, *, enabled: bool) -> torch.autocast:
    """A context in which matrices are multiplied in bfloat16, if enabled and possible; otherwise in float32."""
    possible = enabled and not (device == "cpu" and has_broken_amx())
    return torch.autocast(device, torch.bfloat16, enabled=possible)


@cache
def has_broken_amx() -> bool:
    """Whether bfloat16 would kill this process: tried in another one, where AMX is reported."""
    if ISA in os.environ or not torch.cpu.get_capabilities().get("amx_bf16"):
        return False
    return subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=False).returncode < 0
