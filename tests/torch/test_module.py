"""Every encoding has a module of its own name."""

import pytest
import torch

import posenc
import posenc.torch
from posenc.spec import ENCODINGS

EXAMPLES = {
    "alibi": posenc.Alibi(heads=3),
    "axial_rotary": posenc.AxialRotary(dim=8),
    "bipe": posenc.Bipe(
        intra=posenc.Learned(length=8, dim=4), inter=posenc.Rotary(dim=8), intra_length=8
    ),
    "cope": posenc.Cope(dim=4, length=8),
    "deberta": posenc.Deberta(heads=2, dim=4),
    "decomposed": posenc.Decomposed(dim=4, grid=(2, 3)),
    "fire": posenc.Fire(heads=3),
    "fourier_features": posenc.FourierFeatures(dim=8, axes=2),
    "kerple": posenc.Kerple(heads=3),
    "learned": posenc.Learned(length=8, dim=4),
    "learned_axes": posenc.LearnedAxes(lengths=(2, 3), widths=(4, 4)),
    "m_rotary": posenc.MRotary(rotary=posenc.Rotary(dim=8), sections=(1, 1, 2)),
    "mixed_rotary": posenc.MixedRotary(dim=8, heads=2),
    "nerf": posenc.Nerf(octaves=2),
    "rotary": posenc.Rotary(dim=8, scaling=posenc.Linear(factor=2.0)),
    "sandwich": posenc.Sandwich(heads=3),
    "shaw": posenc.Shaw(dim=4, max_distance=3),
    "sinusoidal": posenc.Sinusoidal(dim=8),
    "sinusoidal_axes": posenc.SinusoidalAxes(dim=8),
    "swin": posenc.Swin(heads=2, window=(2, 3)),
    "swin_v2": posenc.SwinV2(heads=2, window=(2, 3)),
    "t5": posenc.T5(heads=3),
    "transformer_xl": posenc.TransformerXL(heads=2, dim=4, model_dim=8, max_distance=6),
    "xpos": posenc.XPos(dim=8),
}


@pytest.mark.parametrize("name", sorted(ENCODINGS))
def test_module_of_any_spec(name):
    spec = EXAMPLES[name]
    module = posenc.torch.module(spec)
    assert type(module) is getattr(posenc.torch, type(spec).__name__)
    assert module.spec == spec
    assert sorted(module.state_dict()) == sorted(getattr(spec, "weights", {}))
    again = posenc.torch.module(spec, device="meta", dtype=torch.bfloat16)
    assert all(p.is_meta and p.dtype == torch.bfloat16 for p in again.parameters())


def test_other_things_are_refused():
    with pytest.raises(TypeError, match="`spec` must be an encoding of posenc"):
        posenc.torch.module(posenc.Linear(factor=2.0))
    with pytest.raises(TypeError, match="theta"):
        posenc.torch.module(posenc.Rotary(dim=8), theta=1.0)
