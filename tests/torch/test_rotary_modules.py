"""Modules that turn queries and keys: the applied q and k, in training, serving and storage."""

import copy
import io
import itertools
import pickle

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, strategies as st

import posenc
import posenc.torch
from posenc.torch import AxialRotary, MixedRotary, MRotary, Rotary, XPos, rotary

LLAMA = {"dim": 128, "base": 500_000.0}


def numbers(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.fixture(autouse=True)
def _no_tables_of_other_tests():
    rotary._TABLES.clear()


def fails_to_compare(one, other):
    return not torch.equal(one, other)


MODULES = {
    "axial": (AxialRotary(dim=16), posenc.positions.grid(2, 3, like=torch.ones(1))),
    "axis_half": (
        AxialRotary(dim=16, layout="axis_half"),
        posenc.positions.grid(2, 3, like=torch.ones(1)),
    ),
    "m_rotary": (
        MRotary(rotary=posenc.Rotary(dim=16), sections=(2, 3, 3)),
        torch.tensor([[0, 0, 0], [1, 1, 1], [1, 1, 2], [1, 2, 1], [1, 2, 2], [3, 3, 3]]),
    ),
    "mixed": (MixedRotary(dim=16, heads=3), posenc.positions.grid(2, 3, like=torch.ones(1))),
    "partial": (Rotary(dim=16, rotary_dim=6, layout="interleaved"), torch.arange(6)),
    "rotary": (Rotary(dim=16), torch.arange(6)),
    "yarn": (
        Rotary(dim=16, scaling=posenc.Yarn(factor=4.0, original_length=64)),
        torch.arange(6) * 40,
    ),
}


@pytest.mark.parametrize("name", sorted(MODULES))
class TestEveryKind:
    def test_equals_its_spec(self, name):
        module, positions = MODULES[name]
        q, k = numbers(2, 3, 6, 16), numbers(2, 3, 6, 16, seed=1)
        for got, x in zip(module(q, k, positions), (q, k), strict=True):
            want = module.spec.rotate(x, positions, **module.trained)
            torch.testing.assert_close(got, want, rtol=0, atol=1e-6)
            assert fails_to_compare(got, x)

    def test_in_place_out_and_back(self, name):
        module, positions = MODULES[name]
        x = numbers(2, 3, 6, 16)
        with torch.no_grad():
            want = module.rotate(x, positions)
            out = torch.empty_like(x)
            assert module.rotate(x, positions, out=out) is out
            assert torch.equal(out, want)
            y = x.clone()
            assert module.rotate_(y, positions) is y
            assert torch.equal(y, want)
            assert module.rotate(y, positions, out=y) is y
            module.rotate_(module.rotate_(y, positions, inverse=True), positions, inverse=True)
        torch.testing.assert_close(y, x, rtol=1e-5, atol=1e-5)

    def test_length_before_heads(self, name):
        """(batch, length, heads, dim), and rows of their own for each of the batch."""
        module, positions = MODULES[name]
        options = {"precision": module.precision} if hasattr(module, "precision") else {}
        other = type(module)(length_axis=-3, **posenc.torch.encoding.fields(module.spec), **options)
        other.load_state_dict(module.state_dict())
        x = numbers(2, 3, 6, 16)
        rows = torch.stack([positions, positions.flip(0)])
        want = torch.cat([module.rotate(x[i : i + 1], rows[i]) for i in range(2)])
        assert torch.equal(module.rotate(x, rows), want)
        assert torch.equal(other.rotate(x.transpose(1, 2), rows).transpose(1, 2), want)
        same = other.rotate(x.transpose(1, 2), positions).transpose(1, 2)
        assert torch.equal(same, module.rotate(x, positions))

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
    def test_half_precision_is_turned_in_float32_and_rounded_once(self, name, dtype):
        module, positions = MODULES[name]
        x = numbers(2, 3, 6, 16, dtype=dtype)
        for cast in (module, copy.deepcopy(module).to(dtype)):
            if module.trained and cast is not module:
                continue  # a trained frequency in half precision is another one
            got = cast.rotate(x, positions)
            assert got.dtype == dtype
            assert torch.equal(got, module.rotate(x.float(), positions).to(dtype))

    def test_nothing_but_trained_arrays_is_stored(self, name):
        module, positions = MODULES[name]
        module.rotate(numbers(2, 3, 6, 16), positions)
        assert sorted(module.state_dict()) == sorted(getattr(module.spec, "weights", {}))
        assert not list(module.buffers())

    def test_copies(self, name):
        module, positions = MODULES[name]
        x = numbers(2, 3, 6, 16)
        file = io.BytesIO()
        torch.save(module, file)
        file.seek(0)
        saved = torch.load(file, weights_only=False)
        for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module)), saved):
            assert other.spec == module.spec
            assert torch.equal(other.rotate(x, positions), module.rotate(x, positions))

    def test_made_on_meta_and_loaded(self, name):
        module, positions = MODULES[name]
        fields = posenc.torch.encoding.fields(module.spec)
        with torch.device("meta"):
            other = type(module)(**fields)
        assert all(parameter.is_meta for parameter in other.parameters())
        other.to_empty(device="cpu")
        for parameter in other.parameters():  # whatever the allocator left there
            torch.nn.init.constant_(parameter, 7e33)
        other.load_state_dict(module.state_dict())
        x = numbers(2, 3, 6, 16)
        assert torch.equal(other.rotate(x, positions), module.rotate(x, positions))

    def test_gradients(self, name):
        module, positions = MODULES[name]
        module = copy.deepcopy(module).double()
        q, k = (numbers(1, 3, 6, 16, dtype=torch.float64, seed=s).requires_grad_() for s in (0, 1))
        assert torch.autograd.gradcheck(lambda q, k: module(q, k, positions), (q, k))
        (one,) = torch.autograd.grad(module.rotate(q, positions).pow(3).sum(), q, create_graph=True)
        (two,) = torch.autograd.grad(one.pow(2).sum(), q)
        assert two.abs().sum() > 0

    def test_repr_tells_the_spec(self, name):
        module, _ = MODULES[name]
        assert repr(module.spec) in repr(module)


class TestAgainstOthers:
    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
    def test_llama(self, dtype):
        from transformers import LlamaConfig
        from transformers.models.llama import modeling_llama as llama

        config = LlamaConfig(
            hidden_size=256,
            num_attention_heads=2,
            rope_parameters={"rope_type": "default", "rope_theta": 500_000.0},
        )
        positions = torch.tensor([[0, 1, 2, 3, 4095], [7, 8, 9, 131_071, 5]])
        q, k = numbers(2, 4, 5, 128, dtype=dtype), numbers(2, 1, 5, 128, dtype=dtype, seed=1)
        cos, sin = llama.LlamaRotaryEmbedding(config)(q.float(), positions)
        want = llama.apply_rotary_pos_emb(q.float(), k.float(), cos, sin)
        got = Rotary(**LLAMA, precision="float32")(q, k, positions)
        for ours, theirs in zip(got, want, strict=True):
            assert torch.equal(ours, theirs.to(dtype))

    def test_gptj_partial_and_interleaved(self):
        from transformers.models.gptj import modeling_gptj as gptj

        x = numbers(2, 5, 3, 32)  # batch, length, heads, dim
        sin, cos = gptj.create_sinusoidal_positions(64, 16)[10:15].chunk(2, dim=-1)
        turned = gptj.apply_rotary_pos_emb(x[..., :16], sin[None], cos[None])
        want = torch.cat([turned, x[..., 16:]], dim=-1)
        module = Rotary(dim=32, rotary_dim=16, layout="interleaved", length_axis=-3)
        torch.testing.assert_close(module.rotate(x, torch.arange(10, 15)), want, rtol=0, atol=2e-6)

    def test_rotary_embedding_torch(self):
        from rotary_embedding_torch import RotaryEmbedding

        x = numbers(2, 3, 50, 32)
        want = RotaryEmbedding(dim=32).rotate_queries_or_keys(x)
        got = Rotary(dim=32, layout="interleaved").rotate(x, torch.arange(50))
        torch.testing.assert_close(got, want, rtol=0, atol=1e-5)

    def test_vector_by_hand(self):
        """The check value of both layouts, d = 4 and position 1, from mpmath."""
        x = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
        one, hundredth = mpmath.mpf(1), mpmath.mpf("0.01")
        pairs = {"half": ((0, 2), (1, 3)), "interleaved": ((0, 1), (2, 3))}
        for layout, ((a, b), (c, d)) in pairs.items():
            want = [0.0] * 4
            for i, j, angle in ((a, b, one), (c, d, hundredth)):
                want[i] = float((i + 1) * mpmath.cos(angle) - (j + 1) * mpmath.sin(angle))
                want[j] = float((j + 1) * mpmath.cos(angle) + (i + 1) * mpmath.sin(angle))
            got = Rotary(dim=4, layout=layout).rotate(x, torch.tensor([1]))
            np.testing.assert_allclose(got.numpy(), [want], rtol=0, atol=3e-7)


class TestPrecision:
    """Kind B: order is never given to half precision."""

    @pytest.mark.parametrize("position", [257, 2049, 4095, 65_537, 131_072, 2**24 + 1, 10_000_000])
    @pytest.mark.parametrize("cast", ["bfloat16", "half", "float"])
    def test_cast_modules_keep_far_positions(self, cast, position):
        module = getattr(torch.nn.Sequential(Rotary(**LLAMA)), cast)()[0]
        cos, sin = module.table(torch.tensor([position]))
        with mpmath.workdps(40):
            for pair in (0, 1, 20, 63):
                w = mpmath.mpf(500_000) ** (mpmath.mpf(-2 * pair) / 128)
                assert abs(float(cos[0, pair]) - float(mpmath.cos(position * w))) <= 6e-8
                assert abs(float(sin[0, pair]) - float(mpmath.sin(position * w))) <= 6e-8

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
    @pytest.mark.parametrize("pair", [(256, 257), (2048, 2049)])
    def test_neighbours_stay_apart(self, pair, dtype):
        module = Rotary(dim=32).to(dtype)
        x = torch.ones(1, 1, 2, 32, dtype=dtype)
        one, other = module.rotate(x, torch.tensor(pair))[0, 0]
        assert fails_to_compare(one, other)

    def test_half_precision_positions_are_refused(self):
        with pytest.raises(TypeError, match="half precision"):
            Rotary(dim=8).rotate(torch.ones(1, 1, 2, 8), torch.tensor([0.0, 1.0]).bfloat16())

    def test_autocast_narrows_nothing(self):
        x, positions = numbers(1, 2, 3, 128), torch.tensor([2000, 3001, 4095])
        want = Rotary(**LLAMA).rotate(x, positions)
        rotary._TABLES.clear()
        for dtype in (torch.bfloat16, torch.float16):
            with torch.autocast("cpu", dtype=dtype):
                assert torch.equal(Rotary(**LLAMA).rotate(x, positions), want)

    def test_matmul_precision_changes_nothing(self):
        before = torch.get_float32_matmul_precision()
        x, positions = numbers(1, 1, 2, 128), torch.tensor([2048, 2049])
        want = Rotary(**LLAMA).rotate(x, positions)
        try:
            torch.set_float32_matmul_precision("medium")
            rotary._TABLES.clear()
            assert torch.equal(Rotary(**LLAMA).rotate(x, positions), want)
        finally:
            torch.set_float32_matmul_precision(before)

    def test_a_bfloat16_call_leaves_nothing_for_a_float32_one(self):
        module, positions = Rotary(dim=32), torch.arange(300)
        module.rotate(numbers(1, 1, 300, 32, dtype=torch.bfloat16), positions)
        x = numbers(1, 1, 300, 32)
        got = module.rotate(x, positions)
        rotary._TABLES.clear()
        assert torch.equal(got, module.rotate(x, positions))
        wide = module.rotate(x.double(), positions)
        assert wide.dtype == torch.float64
        torch.testing.assert_close(wide, module.spec.rotate(x.double(), positions), rtol=0, atol=0)

    def test_real_positions(self):
        x = numbers(1, 1, 2, 8, dtype=torch.float64)
        positions = torch.tensor([1234.5678, 0.25], dtype=torch.float64)
        want = posenc.Rotary(dim=8).rotate(x.numpy(), positions.numpy())
        np.testing.assert_allclose(Rotary(dim=8).rotate(x, positions).numpy(), want, atol=1e-12)


class TestCaches:
    """Kinds F and S: no hidden state; one table for all layers; nobody can write into it."""

    @given(cuts=st.lists(st.integers(1, 39), max_size=4), offset=st.integers(0, 2**31 - 50))
    def test_prefill_and_steps_are_one_pass(self, cuts, offset):
        module, x = Rotary(dim=16), numbers(2, 3, 40, 16)
        positions = torch.arange(offset, offset + 40)
        whole = module.rotate(x, positions)
        edges = sorted({0, *cuts, 40})
        parts = [module.rotate(x[:, :, a:b], positions[a:b]) for a, b in itertools.pairwise(edges)]
        assert torch.equal(torch.cat(parts, dim=2), whole)

    def test_decoding_one_by_one(self):
        module, x = Rotary(dim=16), numbers(1, 2, 30, 16)
        whole = module.rotate(x, torch.arange(30))
        for i in range(30):
            step = module.rotate(x[:, :, i : i + 1], torch.tensor([i]))
            assert torch.equal(step, whole[:, :, i : i + 1])

    def test_same_length_other_offset(self):
        module, x = Rotary(dim=16), torch.ones(1, 1, 4, 16)
        at_0 = module.rotate(x, torch.arange(4))
        at_10 = module.rotate(x, torch.arange(10, 14))
        assert fails_to_compare(at_0, at_10)
        assert torch.equal(module.rotate(x, torch.arange(4)), at_0)

    def test_positions_changed_in_place_are_seen(self):
        """Also past PyTorch's own count of changes, through NumPy."""
        module, x = Rotary(dim=16), torch.ones(1, 1, 2, 16)
        array = np.arange(2)
        positions = torch.from_numpy(array)
        seen = [module.rotate(x, positions)]
        positions += 1
        seen.append(module.rotate(x, positions))
        array += 1
        seen.append(module.rotate(x, positions))
        for p, got in enumerate(seen):
            assert torch.equal(got, module.rotate(x, torch.tensor([p, p + 1])))

    def test_modules_with_other_settings_never_share(self):
        x, positions = torch.ones(1, 1, 3, 16), torch.arange(3) + 5
        modules = [
            Rotary(dim=16, **options)
            for options in (
                {},
                {"base": 500_000.0},
                {"layout": "interleaved"},
                {"rotary_dim": 8},
                {"rotary_dim": 8, "exponent": "head"},
                {"scaling": posenc.Linear(factor=2.0)},
                {"scaling": posenc.Linear(factor=4.0)},
                {"scaling": posenc.Yarn(factor=4.0, original_length=64)},
            )
        ]
        got = [module.rotate(x, positions) for module in modules]
        for one, other in itertools.combinations(got, 2):
            assert fails_to_compare(one, other)
        for module, turned in zip(modules, got, strict=True):
            want = module.spec.rotate(x, positions)
            torch.testing.assert_close(turned, want, rtol=0, atol=1e-6)

    def test_precision_is_part_of_the_key(self):
        x, positions = torch.ones(1, 1, 1, 128), torch.tensor([131_072])
        exact = Rotary(**LLAMA).rotate(x, positions)
        parity = Rotary(**LLAMA, precision="float32").rotate(x, positions)
        assert (exact - parity).abs().max() > 1e-4

    def test_one_table_for_all_layers_and_steps(self, monkeypatch):
        made = []
        original = Rotary._make
        monkeypatch.setattr(Rotary, "_make", lambda *rest: made.append(1) or original(*rest))
        layers = [Rotary(**LLAMA) for _ in range(40)]
        q, k = numbers(1, 4, 8, 128), numbers(1, 2, 8, 128)
        for _ in range(3):
            positions = torch.arange(8)[None]
            for layer in layers:
                layer(q, k, positions)
        assert len(made) == 1

    def test_kept_memory_is_bounded(self):
        module = Rotary(dim=64)
        for length in range(1, 40):
            module.rotate(torch.ones(1, 1, length, 64), torch.arange(length))
        assert len(rotary._TABLES._kept) <= rotary._TABLES.entries

    def test_the_table_handed_out_is_no_cache(self):
        module, x, positions = Rotary(dim=16), torch.ones(1, 1, 4, 16), torch.arange(4)
        want = module.rotate(x, positions)
        for part in module.table(positions):
            part.zero_()
        assert torch.equal(module.rotate(x, positions), want)

    def test_longer_table_starts_with_the_shorter_one(self):
        module = Rotary(dim=64)
        short, long = module.table(torch.arange(8)), module.table(torch.arange(5000))
        for one, other in zip(short, long, strict=True):
            assert torch.equal(one, other[:8])

    @pytest.mark.parametrize("length", [31, 32, 33, 64])
    def test_dynamic_scaling_keeps_no_state(self, length):
        module = Rotary(dim=16, scaling=posenc.DynamicNTK(factor=2.0, original_length=32))
        x, positions = torch.ones(1, 1, 1, 16), torch.tensor([7])
        want = module.rotate(x, positions, length=length)
        module.rotate(x, positions, length=100)
        assert torch.equal(module.rotate(x, positions, length=length), want)
        torch.testing.assert_close(
            want, module.spec.rotate(x, positions, length=length), rtol=0, atol=1e-6
        )
        with pytest.raises(ValueError, match="`length` must be given"):
            module.rotate(x, torch.tensor([40]))

    def test_cached_key_moves(self):
        """R(p - d) = R(-d) R(p): a sink cache that evicts four tokens."""
        module, key = Rotary(dim=16), numbers(1, 1, 1, 16)
        at_10 = module.rotate(key, torch.tensor([10]))
        moved = module.rotate(
            module.rotate(at_10, torch.tensor([10]), inverse=True), torch.tensor([6])
        )
        direct = module.rotate(at_10, torch.tensor([4]), inverse=True)
        want = module.rotate(key, torch.tensor([6]))
        torch.testing.assert_close(moved, want, rtol=0, atol=1e-6)
        torch.testing.assert_close(direct, want, rtol=0, atol=1e-6)

    def test_unturned_keys_have_positions_of_their_own(self):
        module, q, k = Rotary(dim=16), numbers(1, 2, 1, 16), numbers(1, 2, 6, 16, seed=1)
        kept = torch.tensor([0, 1, 3, 4, 5])
        _, whole = module(q, k, torch.tensor([5]), key_positions=torch.arange(6))
        turned, part = module(q, k[:, :, kept], torch.tensor([5]), key_positions=kept)
        assert torch.equal(part, whole[:, :, kept])
        assert torch.equal(turned, module.rotate(q, torch.tensor([5])))

    def test_inference_first_then_training(self):
        module, positions = Rotary(dim=16), torch.arange(4)
        with torch.inference_mode():
            module.rotate(torch.ones(1, 1, 4, 16), positions)
        x = torch.ones(1, 1, 4, 16, requires_grad=True)
        module.rotate(x, positions).pow(2).sum().backward()
        assert x.grad is not None


class TestRows:
    """Kind G: padded, packed and grouped rows."""

    def test_left_padding(self):
        module, q, k = Rotary(dim=16), numbers(1, 4, 3, 16), numbers(1, 2, 3, 16, seed=1)
        alone = module(q, k, torch.arange(3))
        pad = torch.nn.functional.pad
        rows = posenc.positions.from_mask(torch.tensor([[0, 0, 1, 1, 1]]))
        padded = module(pad(q, (0, 0, 2, 0)), pad(k, (0, 0, 2, 0)), rows)
        for got, want in zip(padded, alone, strict=True):
            assert torch.equal(got[:, :, 2:], want)

    def test_packed_documents(self):
        module, x = Rotary(dim=16), numbers(1, 2, 5, 16)
        ids = posenc.positions.packed([3, 2], like=x)
        got = module.rotate(x, ids)
        assert torch.equal(got[:, :, :3], module.rotate(x[:, :, :3], torch.arange(3)))
        assert torch.equal(got[:, :, 3:], module.rotate(x[:, :, 3:], torch.arange(2)))

    def test_packed_rows_of_flash_attention(self):
        """(tokens, heads, dim) without a batch axis."""
        module, x = Rotary(dim=16, length_axis=-3), numbers(5, 2, 16)
        ids = posenc.positions.packed([3, 2], like=x)
        want = Rotary(dim=16).rotate(x.transpose(0, 1), ids).transpose(0, 1)
        assert torch.equal(module.rotate(x, ids), want)

    def test_rows_cached_each_in_its_own_way(self):
        module, x = Rotary(dim=16), numbers(3, 2, 2, 16)
        rows = posenc.positions.after_cache(torch.tensor([6, 0, 129]), 2)
        got = module.rotate(x, rows)
        for i in range(3):
            assert torch.equal(got[i : i + 1], module.rotate(x[i : i + 1], rows[i]))

    @pytest.mark.parametrize("heads", [1, 2, 3, 12])
    def test_every_number_of_key_heads(self, heads):
        module, positions = Rotary(dim=16), torch.tensor([5, 6])
        q, k = numbers(1, 12, 2, 16), numbers(1, heads, 2, 16, seed=1)
        turned_q, turned_k = module(q, k, positions)
        assert turned_k.shape == k.shape
        assert fails_to_compare(turned_k, k)
        assert torch.equal(turned_k, module.rotate(k, positions))
        assert torch.equal(turned_q, module.rotate(q, positions))

    def test_positions_run_along_the_length(self):
        module, x = Rotary(dim=4, length_axis=-3), torch.ones(1, 5, 2, 4)
        got = module.rotate(x, torch.arange(5))
        assert torch.equal(got[:, :, 0], got[:, :, 1])
        assert fails_to_compare(got[:, 0], got[:, 1])

    def test_dropped_patches(self):
        module = AxialRotary(dim=16)
        grid = posenc.positions.grid(3, 4, like=torch.ones(1))
        x, kept = numbers(1, 2, 12, 16), torch.tensor([0, 5, 11])
        got = module.rotate(x[:, :, kept], grid[kept])
        assert torch.equal(got, module.rotate(x, grid)[:, :, kept])

    @pytest.mark.parametrize(
        ("x", "positions", "message"),
        [
            ((1, 2, 5, 16), torch.arange(4), "`cos` must have one axis for tokens"),
            ((1, 2, 5, 8), torch.arange(5), "16 features"),
            ((2, 2, 5, 16), torch.zeros(3, 5, dtype=torch.int64), "one axis for tokens"),
        ],
    )
    def test_what_does_not_fit(self, x, positions, message):
        with pytest.raises(ValueError, match=message):
            Rotary(dim=16).rotate(torch.ones(x), positions)

    def test_keys_of_another_width_are_refused(self):
        with pytest.raises(ValueError, match="16 features"):
            Rotary(dim=16)(torch.ones(1, 1, 2, 16), torch.ones(1, 1, 2, 18), torch.arange(2))

    def test_positions_beyond_the_exact_range_are_refused(self):
        with pytest.raises(ValueError, match="within 2\\*\\*31"):
            Rotary(dim=8).rotate(torch.ones(1, 1, 1, 8), torch.tensor([2**31]))


class TestXPos:
    def test_equals_its_spec(self):
        module, q, k = XPos(dim=16), numbers(1, 2, 6, 16), numbers(1, 2, 6, 16, seed=1)
        positions = torch.arange(6) + 500
        got = module(q, k, positions)
        for ours, x, role in zip(got, (q, k), ("query", "key"), strict=True):
            assert ours.dtype == x.dtype
            want = module.spec.rotate(x, positions, role=role)
            torch.testing.assert_close(ours, want, rtol=0, atol=1e-6)
            y = x.clone()
            module.rotate_(y, positions, role=role)
            assert torch.equal(y, ours)

    def test_six_at_once_is_five_and_one(self):
        module, q, k = XPos(dim=16), numbers(1, 2, 6, 16), numbers(1, 2, 6, 16, seed=1)
        whole_q, whole_k = module(q, k, torch.arange(6))
        _, cached = module(q[:, :, :5], k[:, :, :5], torch.arange(5))
        last_q, last_k = module(q[:, :, 5:], k[:, :, 5:], torch.tensor([5]))
        assert torch.equal(torch.cat([cached, last_k], dim=2), whole_k)
        assert torch.equal(last_q, whole_q[:, :, 5:])

    def test_both_come_back_in_half_precision(self):
        q = numbers(1, 2, 3, 16, dtype=torch.float16)
        assert [x.dtype for x in XPos(dim=16)(q, q, torch.arange(3))] == [torch.float16] * 2

    def test_no_way_back(self):
        with pytest.raises(ValueError, match="`inverse` must be False"):
            XPos(dim=16).rotate(torch.ones(1, 16), torch.arange(1), role="key", inverse=True)


class TestMixed:
    def test_frequencies_are_trained(self):
        """Two steps of an optimiser: the turning changes each time, so no table was kept."""
        module = MixedRotary(dim=8, heads=2)
        x, positions = numbers(1, 2, 6, 8), posenc.positions.grid(2, 3, like=torch.ones(1))
        optimiser = torch.optim.SGD(module.parameters(), lr=0.1)
        seen = []
        for _ in range(3):
            turned = module.rotate(x, positions)
            with torch.no_grad():
                assert torch.equal(module.rotate(x, positions), turned)
            seen.append(turned.detach())
            optimiser.zero_grad()
            turned[..., 0].sum().backward()
            assert module.frequencies.grad.abs().sum() > 0
            optimiser.step()
        for one, other in itertools.pairwise(seen):
            assert fails_to_compare(one, other)

    def test_other_number_of_heads_is_refused(self):
        grid = posenc.positions.grid(2, 3, like=torch.ones(1))
        with pytest.raises(ValueError, match="`cos` must have one axis for tokens"):
            MixedRotary(dim=8, heads=2).rotate(torch.ones(1, 3, 6, 8), grid)


class TestConstruction:
    def test_signature_is_the_specs(self):
        import inspect

        names = list(inspect.signature(Rotary).parameters)
        assert names[:6] == ["dim", "base", "layout", "rotary_dim", "exponent", "scaling"]
        assert {"precision", "length_axis"} <= set(names)

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"dim": 7}, ValueError, "must be even"),
            ({"dim": 8, "theta": 1e4}, TypeError, "theta"),
            ({"dim": 8, "length_axis": 1}, ValueError, "`length_axis` must be one of"),
            ({"dim": 8, "precision": "half"}, ValueError, "`precision` must be one of"),
        ],
    )
    def test_refused(self, options, error, message):
        with pytest.raises(error, match=message):
            Rotary(**options)

    def test_values_are_not_turned(self):
        """One token attends to itself alone: the answer is v, whatever the position."""
        module, x = Rotary(dim=16), numbers(1, 2, 1, 16)
        q, k = module(x, x, torch.tensor([77]))
        v = numbers(1, 2, 1, 16, seed=2)
        got = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        torch.testing.assert_close(got, v, rtol=0, atol=1e-6)
