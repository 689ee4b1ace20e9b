"""How long the formulas take, beside copying the same bytes: `make bench`, run alone.

pytest-benchmark prints medians; the factor in brackets is against the fastest of the group.
"""

import numpy as np
import pytest
import torch

from posenc import Rotary, Sinusoidal

ROPE = Rotary(dim=128, base=500_000.0)
QUERIES = torch.randn(1, 8, 4096, 128)
POSITIONS = torch.arange(4096)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
class TestTurn:
    @pytest.fixture(autouse=True)
    def _grouped(self, benchmark, dtype):
        benchmark.group = f"turn 8 heads x 4096 x 128, {dtype}"
        self.queries = QUERIES.to(dtype)

    def test_copy(self, benchmark):
        benchmark(self.queries.clone)

    @pytest.mark.parametrize("layout", ["half", "interleaved"])
    def test_rotate(self, benchmark, layout):
        from posenc.rotary import rotate

        cos, sin = ROPE.table(POSITIONS)
        benchmark(rotate, self.queries, cos, sin, layout=layout)

    def test_transformers(self, benchmark):
        from transformers.models.llama.modeling_llama import rotate_half

        cos, sin = (
            torch.cat((part, part), -1).to(self.queries.dtype) for part in ROPE.table(POSITIONS)
        )
        benchmark(lambda: self.queries * cos + rotate_half(self.queries) * sin)


class TestTable:
    @pytest.fixture(autouse=True)
    def _grouped(self, benchmark):
        benchmark.group = "table 4096 x 64 cosines and sines"

    def test_exact(self, benchmark):
        benchmark(ROPE.table, POSITIONS.numpy())

    def test_exact_torch(self, benchmark):
        benchmark(ROPE.table, POSITIONS)

    def test_float32_as_transformers(self, benchmark):
        benchmark(ROPE.table, POSITIONS, precision="float32")

    def test_float64_by_hand(self, benchmark):
        frequencies = np.asarray(ROPE.frequencies)
        positions = POSITIONS.numpy().astype(np.float64)

        def by_hand():
            angle = positions[:, None] * frequencies
            return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)

        benchmark(by_hand)


def test_sinusoidal_512_by_1024(benchmark):
    benchmark(Sinusoidal(dim=1024).encode, np.arange(512))


def test_one_decoding_step(benchmark):
    benchmark(ROPE.table, POSITIONS[4095:])
