"""Probes from public bug reports that the other tests of posenc.torch do not hold already."""

import math

import numpy as np
import pytest
import torch

import posenc
from posenc.torch import Alibi, Rotary, Sinusoidal, rotary


def test_angle_in_reduced_precision():
    """EleutherAI/gpt-neox#1003: dim 32, position 1857, pair 1 is 1044.2678 radians."""
    cos, sin = Rotary(dim=32).half().table(torch.tensor([1857]))
    angle = 1857 * 10_000 ** (-2 / 32)
    assert angle == pytest.approx(1044.2678, abs=1e-4)
    assert float(cos[0, 1]) == pytest.approx(math.cos(angle), abs=6e-8)
    assert float(sin[0, 1]) == pytest.approx(math.sin(angle), abs=6e-8)


def test_phase_at_4096_tokens():
    """Modalities/modalities#462: frequencies in bfloat16 are 5 radians off at position 4095."""
    cos, sin = (
        part.double() for part in Rotary(dim=128).to(torch.bfloat16).table(torch.arange(4096))
    )
    angle = np.arange(4096)[:, None] * 10_000.0 ** (-np.arange(64) / 64)
    off = np.angle(np.exp(1j * (np.arctan2(sin.numpy(), cos.numpy()) - angle)))
    assert np.abs(off).max() < 1e-6


@pytest.mark.parametrize("length", [4, 8, 14])
def test_lengths_in_any_order(length):
    """facebookresearch/xformers#728, karpathy/nanochat#520: longer, shorter, beyond what was."""
    module, x = Rotary(dim=16), torch.ones(1, 1, 20, 16)
    whole = module.rotate(x, torch.arange(20))
    part = module.rotate(x[:, :, :length], torch.arange(6, 6 + length))
    assert torch.equal(part, whole[:, :, 6 : 6 + length])


def test_few_lengths_in_turn_are_made_once(monkeypatch):
    made, original = [], Rotary._make
    rotary._TABLES.clear()
    monkeypatch.setattr(Rotary, "_make", lambda *rest: made.append(1) or original(*rest))
    for length in (8, 4, 8, 4):
        Rotary(dim=16).rotate(torch.ones(1, 1, length, 16), torch.arange(length))
    assert len(made) == 2


def test_text_after_an_image():
    """Blaizzy/mlx-vlm#1621: after 3 words and an image of 2 x 3 text goes on at 6, not at 9."""
    from posenc.mrope import positions_of

    module = posenc.torch.MRotary(rotary=posenc.Rotary(dim=16), sections=(2, 3, 3))
    ids = positions_of([3, (2, 3), 2], like=torch.ones(1))
    assert ids[-2:].tolist() == [[6, 6, 6], [7, 7, 7]]
    x = torch.ones(1, 2, len(ids), 16)
    whole = module.rotate(x, ids)
    step = module.rotate(x[:, :, -1:], torch.tensor([[7, 7, 7]]))
    assert torch.equal(step, whole[:, :, -1:])


def test_packed_samples():
    """huggingface/nanoVLM#201: samples of 101 and 201 tokens count from 0 each."""
    ids = posenc.positions.packed([101, 201], like=torch.ones(1))
    assert ids[[100, 101, -1]].tolist() == [100, 0, 200]
    module, x = Rotary(dim=16), torch.ones(1, 1, 302, 16)
    got = module.rotate(x, ids)
    assert torch.equal(got[:, :, 101:], module.rotate(x[:, :, 101:], torch.arange(201)))


def test_layers_that_share_a_cache():
    """ml-explore/mlx-lm#1702: every layer of a step has the same positions."""
    first, second, x = Rotary(dim=16), Rotary(dim=16), torch.ones(1, 1, 1, 16)
    positions = torch.tensor([12])
    assert torch.equal(first.rotate(x, positions), second.rotate(x, positions))
    assert positions.tolist() == [12]


def test_alibi_with_memory():
    """lucidrains/x-transformers#242: memory of 2 before 2 tokens, distance 2 + i - j."""
    got = Alibi(heads=8)(torch.arange(2, 4), torch.arange(4))[0]
    inf = math.inf
    assert got.tolist() == [[-1.0, -0.5, 0.0, -inf], [-1.5, -1.0, -0.5, 0.0]]


def test_neighbours_in_a_cast_model():
    """tatp22/multidim-positional-encoding and others: after .to(bfloat16) 256 equals 257."""
    code = Sinusoidal(dim=64).to(torch.bfloat16)
    one, other = code(torch.zeros(1, 2, 64, dtype=torch.bfloat16), torch.tensor([256, 257]))[0]
    assert not torch.equal(one, other)
