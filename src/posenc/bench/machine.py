"""What a benchmark ran on."""

from __future__ import annotations

import os
import platform
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from posenc.kernels.cores import cores

PACKAGES = (
    "posenc",
    "torch",
    "numba",
    "numpy",
    "transformers",
    "rotary-embedding-torch",
    "x-transformers",
    "torchtune",
    "timm",
)


def machine() -> dict[str, Any]:
    """Processor, cores of this process, threads of PyTorch, memory, load, system, and the day."""
    import torch

    return {
        "processor": _processor(),
        "cores": cores(),
        "threads": torch.get_num_threads(),
        "memory": _memory(),
        "load": _load(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
    }


def versions() -> dict[str, str | None]:
    """Of every package that could take part; None of those that are not installed."""
    return {package: _version(package) for package in PACKAGES}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def _memory() -> int | None:
    """Bytes; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def _load() -> float | None:
    """How many programs wanted to run, on average over the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
