"""precision="float32" against transformers' own rotary modules, bit for bit on PyTorch."""

import importlib
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from frameworks import numpy
from posenc import Rotary, frequencies
from posenc.by_parts import Llama3, Yarn
from posenc.longrope import LongRope
from posenc.scaling import NTK, DynamicNTK, Linear, Proportional

LONGEST = 131_072

CLASSES = {
    "llama": "LlamaRotaryEmbedding",
    "phi": "PhiRotaryEmbedding",
    "phi3": "Phi3RotaryEmbedding",
    "hunyuan_v1_dense": "HunYuanDenseV1RotaryEmbedding",
    "gemma4": "Gemma4TextRotaryEmbedding",
    "gpt_neox": "GPTNeoXRotaryEmbedding",
}


class Case(NamedTuple):
    """What transformers is told, and what posenc is told."""

    model: str
    told: dict[str, Any]
    fields: dict[str, Any] = {}
    head: int = 128
    base: float = 1e4
    longest: int = LONGEST

    def module(self):
        """A new module of transformers: a used one remembers the longest text it saw."""
        from transformers import AutoConfig

        parameters, config = {"rope_theta": self.base, **self.told}, self.model
        heads: dict[str, Any] = {"hidden_size": 2 * self.head, "num_attention_heads": 2}
        if self.model == "gemma4":  # each kind of layer has its own width and parameters
            parameters = {"full_attention": parameters, "sliding_attention": None}
            heads["global_head_dim"], config = self.head, "gemma4_text"
        else:
            heads["head_dim"] = self.head
        made = AutoConfig.for_model(
            config,
            rope_parameters=parameters,
            max_position_embeddings=self.longest,
            pad_token_id=0,
            **heads,
        )
        models = importlib.import_module(f"transformers.models.{self.model}.modeling_{self.model}")
        return getattr(models, CLASSES[self.model])(made)

    def tables(self, positions):
        """cos and sin of transformers, each pair once."""
        kind = {"layer_type": "full_attention"} if self.model == "gemma4" else {}
        cos, sin = self.module()(torch.zeros(1), torch.from_numpy(positions)[None], **kind)
        half = cos.shape[-1] // 2
        assert torch.equal(cos[..., :half], cos[..., half:])
        return cos[0, :, :half].numpy(), sin[0, :, :half].numpy()

    def frequencies(self, length):
        """The inverse frequencies of transformers for a text of `length` tokens."""
        module = self.module()
        if self.model == "gemma4":
            return module.full_attention_inv_freq.numpy()
        module(torch.zeros(1), torch.tensor([[length - 1]]))  # it looks at the last position
        return module.inv_freq.numpy()

    @property
    def spec(self):
        return Rotary(dim=self.head, base=self.base, **self.fields)


def yarn(factor, **told):
    return {"rope_type": "yarn", "factor": factor, "original_max_position_embeddings": 4096} | told


SHORT = tuple(1 + k / 100 for k in range(48))
LONG = tuple(1.05 + k for k in range(48))
YARN = Yarn(factor=7.0, original_length=4096)
CASES = {
    "plain": Case("llama", {"rope_type": "default"}),
    "narrow": Case("llama", {"rope_type": "default"}, head=32, base=5e5),
    "forty pairs": Case("llama", {"rope_type": "default"}, head=80, base=1e6),
    "partial": Case(
        "phi", {"rope_type": "default", "partial_rotary_factor": 0.4}, {"rotary_dim": 32}, head=80
    ),
    "linear": Case(
        "llama", {"rope_type": "linear", "factor": 3.0}, {"scaling": Linear(factor=3.0)}
    ),
    "ntk": Case(
        "hunyuan_v1_dense",
        {"rope_type": "dynamic", "factor": 1.0, "alpha": 1000.0},
        {"scaling": NTK(factor=1000.0)},
    ),
    "dynamic": Case(
        "llama",
        {"rope_type": "dynamic", "factor": 2.7},
        {"scaling": DynamicNTK(original_length=4096, factor=2.7)},
        longest=4096,
    ),
    "yarn": Case("llama", yarn(7.0), {"scaling": YARN}, base=1e6, longest=7 * 4096),
    "partial yarn": Case(
        *("phi", yarn(7.0, partial_rotary_factor=0.4), {"rotary_dim": 32, "scaling": YARN}),
        head=80,
        longest=7 * 4096,
    ),
    "gpt-oss": Case(
        "llama",
        yarn(32.0, truncate=False),
        {"scaling": Yarn(factor=32.0, original_length=4096, truncate=False)},
        head=64,
        base=150_000.0,
    ),
    "deepseek": Case(
        "llama",
        yarn(40.0, mscale=1.0, mscale_all_dim=0.8),
        {"scaling": Yarn(factor=40.0, original_length=4096, mscale_all_dim=0.8)},
        head=64,
        longest=163_840,
    ),
    "llama3": Case(
        "llama",
        {"rope_type": "llama3", "factor": 7.0, "original_max_position_embeddings": 6000}
        | {"low_freq_factor": 1.0, "high_freq_factor": 4.0},
        {"scaling": Llama3(factor=7.0, original_length=6000)},
        head=256,
    ),
    "phi3": Case(
        "phi3",
        {"rope_type": "longrope", "short_factor": list(SHORT), "long_factor": list(LONG)}
        | {"factor": 32.0, "original_max_position_embeddings": 4096},
        {
            "scaling": LongRope(
                short_factors=SHORT, long_factors=LONG, original_length=4096, factor=32.0
            )
        },
        head=96,
    ),
    "gemma4": Case(
        "gemma4",
        {"rope_type": "proportional", "partial_rotary_factor": 0.25},
        {"scaling": Proportional(fraction=0.25)},
        head=512,
        base=1e6,
    ),
    # Of 16 turning pairs; PyTorch rounds the last powers of an array in another way.
    "gemma4-narrow": Case(
        "gemma4",
        {"rope_type": "proportional", "partial_rotary_factor": 0.25},
        {"scaling": Proportional(fraction=0.25)},
        head=64,
        base=150_000.0,
    ),
}
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def texts():
    """Positions as NumPy arrays: around every threshold, to the end, and at random."""
    random = np.random.default_rng(0).integers(0, LONGEST, 512)
    for last in (4094, 4095, 4096, 8191, 8192, LONGEST - 1):
        yield np.asarray([*random[random <= last][:12], 0, 1, 2, last])
    yield random


def steps(one, other):
    """How many float32 numbers lie between two positive ones."""
    one, other = (np.asarray(x, np.float32).view(np.int32).astype(int) for x in (one, other))
    return np.abs(one - other)


@each_case
def test_bit_for_bit_on_torch(case):
    for positions in texts():
        length = int(positions.max()) + 1
        got = case.spec.table(torch.from_numpy(positions), length=length, precision="float32")
        for one, other in zip(got, case.tables(positions), strict=True):
            assert one.dtype == torch.float32
            np.testing.assert_array_equal(one, other)


def nearest(spec, length):
    """The frequencies where PyTorch does not take the power: its nearest float32 is taken."""
    plain = frequencies.geometric_float32(spec.width, spec.base)
    if spec.scaling is None:
        return plain
    return spec.scaling.scale(plain, dim=spec.width, base=spec.base, length=length)


@each_case
@pytest.mark.parametrize("length", [4096, LONGEST])
def test_frequencies_without_torch(case, length):
    # PyTorch's power is not the nearest float32 for about one pair of sixty, but next to it.
    apart = steps(nearest(case.spec, length), case.frequencies(length))
    assert apart.max() <= 2
    assert np.count_nonzero(apart) <= 3


def test_powers_without_torch():
    bases = np.exp(np.random.default_rng(0).uniform(np.log(1e3), np.log(1e8), 50)).tolist()
    apart = []
    for dim in (64, 96, 128, 256):
        for base in bases:
            plain = frequencies.geometric_float32(dim, base)
            torchs = frequencies.geometric_float32(dim, base, torch_rounding=True)
            apart.extend(steps([w.power for w in plain], [w.power for w in torchs]))
            # 1 / power has steps half as large where the power is just above 1.
            assert steps(plain, torchs).max() <= 2
    assert max(apart) == 1
    assert np.count_nonzero(apart) < len(apart) / 40


@pytest.mark.parametrize("name", ["plain", "yarn", "phi3"])
def test_close_elsewhere(framework, name):
    case, positions = CASES[name], np.asarray([0, 1, 2, 511, 4094, 70_001, LONGEST - 1])
    same = steps(nearest(case.spec, LONGEST), case.frequencies(LONGEST)) == 0
    got = case.spec.table(framework.array(positions), length=LONGEST, precision="float32")
    # Where the frequency is the same float32, so is the angle. Libraries differ in the last digit
    # of its cosine, which a factor makes larger and rounds once more, above 1.
    factor = case.spec.attention_factor
    atol = 2**-24 if factor == 1 else 2**-24 * factor + 2**-24
    for one, other in zip(got, case.tables(positions), strict=True):
        assert framework.is_own(one)
        assert one.dtype == framework.xp.float32
        np.testing.assert_allclose(numpy(one)[:, same], other[:, same], rtol=0, atol=atol)


def test_features_beyond_the_turned_ones_stay():
    # GPT-NeoX turns a quarter of each head; here are turned queries, not only their tables.
    from transformers.models.gpt_neox.modeling_gpt_neox import apply_rotary_pos_emb

    case = Case(
        "gpt_neox", {"rope_type": "default", "partial_rotary_factor": 0.25}, {"rotary_dim": 16}, 64
    )
    positions = torch.tensor([0, 3, 2047, 131_071])
    q, k = torch.randn(2, 1, 2, 4, 64, generator=torch.Generator().manual_seed(0))
    cos, sin = case.module()(q, positions[None])
    wanted = apply_rotary_pos_emb(q[..., :16], k[..., :16], cos, sin)
    for x, want in zip((q, k), wanted, strict=True):
        got = case.spec.rotate(x, positions, precision="float32")
        assert torch.equal(got[..., 16:], x[..., 16:])
        # Two products and a sum: three roundings of numbers below 4, in another order.
        np.testing.assert_allclose(got[..., :16], want, rtol=0, atol=3 * 2**-23)


def test_float32_is_off_where_exact_is_not():
    # Which is why exact is the default. An angle near 131,072 is rounded by up to 2**-8; the
    # roundings of exponent, power and frequency each move it by up to as much.
    spec, positions = Rotary(dim=128, base=5e5), np.arange(LONGEST - 1000, LONGEST)
    exact, float32 = spec.table(positions)[0], spec.table(positions, precision="float32")[0]
    assert 2**-8 < np.abs(exact - float32).max() < 2**-6


def test_compiled_for_each_spec():
    # Frequencies that torch.compile kept from another spec would be wrong in silence.
    def table(spec, positions):
        return spec.table(positions, precision="float32")[0]

    torch.compiler.reset()
    compiled, positions = torch.compile(table, fullgraph=True, backend="eager"), torch.arange(5)
    for base in (1e4, 5e5):
        spec = Rotary(dim=8, base=base, scaling=Linear(factor=3.0))
        assert torch.equal(compiled(spec, positions), table(spec, positions))
