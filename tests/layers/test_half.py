"""Half precision where the processor has none."""

import platform
from pathlib import Path

import pytest
import torch

from factpin.layers import half
from factpin.layers.half import emulates_bf16

CPU = Path("/proc/cpuinfo")


def test_a_processor_is_asked_for_its_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for has, emulates in (
        ({"architecture": "x86_64", "avx512_bf16": False, "amx_bf16": False}, True),
        ({"architecture": "x86_64", "avx512_bf16": True, "amx_bf16": False}, False),
        ({"architecture": "aarch64"}, False),
    ):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda has=has: has)
        assert emulates_bf16() == emulates


@pytest.mark.skipif(platform.machine() != "x86_64" or not CPU.exists(), reason="asks Linux what an x86-64 core has")
def test_this_machine_is_told_as_its_system_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    flags = CPU.read_text().split()
    assert emulates_bf16() == ("avx512_bf16" not in flags and "amx_bf16" not in flags)


@pytest.mark.parametrize(
    ("ending", "broken"), [("import os; os.kill(os.getpid(), 4)", True), ("raise SystemExit(1)", False)]
)
def test_bf16_that_would_kill_the_process_is_computed_in_float32(
    monkeypatch: pytest.MonkeyPatch, ending: str, broken: bool
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"architecture": "x86_64", "amx_bf16": True})
    monkeypatch.setattr(half, "PROBE", ending)
    monkeypatch.delenv(half.ISA, raising=False)
    half.has_broken_amx.cache_clear()
    try:
        assert half.has_broken_amx() == broken
        if broken:
            with half.half_precision("cpu", enabled=True):
                assert not torch.is_autocast_enabled("cpu")
            assert "float32 is used" in half.bf16_warning()
    finally:
        half.has_broken_amx.cache_clear()
