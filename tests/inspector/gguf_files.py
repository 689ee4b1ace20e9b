"""GGUF files written with gguf's own writer, and what ggml does with a pair."""

from __future__ import annotations

import math

import gguf
import numpy as np
from hypothesis import HealthCheck, settings

LLAMA = {
    "block_count": 4, "context_length": 4096, "embedding_length": 512,
    "attention.head_count": 4, "rope.freq_base": 10_000.0, "rope.dimension_count": 128,
}  # fmt: skip
"""Four layers with heads of 128 features."""
YARN = {
    "rope__scaling__type": "yarn", "rope__scaling__factor": 4.0,
    "rope__scaling__original_context_length": 4096, "context_length": 16384,
}  # fmt: skip
"""Four times as long as in training."""

LIGHT = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def written(path, architecture="llama", tensors=None, *, big_endian=False, general=None, **changes):
    """Write a GGUF file of these keys and tensors; None takes a key away."""
    order = gguf.GGUFEndian.BIG if big_endian else gguf.GGUFEndian.LITTLE
    writer = gguf.GGUFWriter(path, architecture, endianess=order)
    given = {key.replace("__", "."): value for key, value in changes.items()}
    for key, value in (general or {}).items():
        add(writer, key, value)
    for key, value in (LLAMA | given).items():
        if value is not None:
            add(writer, f"{architecture}.{key}", value)
    for name, numbers in (tensors or {}).items():
        writer.add_tensor(name, np.asarray(numbers, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def add(writer, key, value):
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)


def only(reading):
    """The one use of a reading without findings of weight."""
    assert reading.sound, reading.findings
    (use,) = reading.uses
    return use


def codes(reading):
    return {(finding.severity, finding.code, finding.key) for finding in reading.findings}


# What ggml does with a pair, written anew from ggml/src/ggml-cpu/ops.cpp, rope_yarn.


def ggml(dim, base, *, factor=1.0, weight=0.0, original=4096, fast=32.0, slow=1.0, divisors=None):
    """Radians per position, one a pair."""
    scale, speeds = 1 / factor, []
    start = math.floor(correction(dim, original, fast, base))
    end = math.ceil(correction(dim, original, slow, base))
    start, end = max(0, start), min(dim - 1, end)
    for pair in range(dim // 2):
        extrapolated = base ** (-2 * pair / dim) / (divisors[pair] if divisors else 1.0)
        interpolated = scale * extrapolated
        mix = 0.0
        if weight:
            y = (pair - start) / max(0.001, end - start)
            mix = (1 - min(1, max(0, y))) * weight
        speeds.append(interpolated * (1 - mix) + extrapolated * mix)
    return speeds


def correction(dim, original, turns, base):
    return dim * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))


def speeds(encoding, length=None):
    return np.asarray(encoding.frequencies_at(length), np.float64)


def llama3_divisors(dim=128, base=500_000.0, factor=8.0, original=8192, low=1.0, high=4.0):
    """As the converter writes them, in float32."""
    speeds = 1 / np.float32(base) ** (np.arange(0, dim, 2, dtype=np.float32) / np.float32(dim))
    wavelength = np.float32(2 * np.pi) / speeds.astype(np.float32)
    smooth = (original / wavelength - low) / ((high - low) or np.inf)
    blended = 1 / ((1 - smooth) / factor + smooth)
    divisors = np.where(wavelength > original / low, factor, blended)
    return np.where(wavelength < original / high, 1.0, divisors).astype(np.float32).tolist()
