"""Half precision where the processor has none."""

import platform

import pytest
import torch

from factpin.training.half import emulates_bf16


def test_a_processor_is_asked_for_its_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for has, emulates in (
        ({"architecture": "x86_64", "avx512_bf16": False, "amx_bf16": False}, True),
        ({"architecture": "x86_64", "avx512_bf16": True, "amx_bf16": False}, False),
        ({"architecture": "aarch64"}, False),
    ):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda has=has: has)
        assert emulates_bf16() == emulates


def test_this_machine_answers() -> None:
    assert isinstance(emulates_bf16(), bool)
    assert torch.cpu.get_capabilities()["architecture"] == platform.machine()
