"""Every known mistake against the same mistake written out by hand in NumPy."""

import json

import numpy as np
import pytest

from posenc import Rotary, Sinusoidal, mistakes
from posenc.alibi import Alibi
from posenc.by_parts import Yarn
from posenc.scaling import Linear
from posenc.t5 import T5

P = np.arange(600.0)[:, None]
FEATURE = np.arange(16)
PAIR = FEATURE // 2
EVEN = FEATURE % 2 == 0
ONES = np.ones(16)


def table(exponent, *, base=10_000.0, positions=P, cosine=True):
    """Sixteen features, sines at even ones: the paper's formula with an exponent of one's own."""
    angle = positions * base**-exponent
    return np.where(EVEN, np.sin(angle), np.cos(angle) if cosine else np.sin(angle))


def bfloat16(x):
    """Rounded by cutting bits: NumPy has no bfloat16, but it is the upper half of float32."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


def float16(x):
    return np.asarray(x, np.float16).astype(np.float64)


FREQUENCY = 10_000.0 ** (-2 * PAIR / 16)

SINUSOIDAL = {
    "cosine has its own exponent": table(FEATURE / 16),
    "feature taken for pair": table(2 * FEATURE / 16),
    "exponent doubled": table(4 * PAIR / 16),
    "exponent halved": table(PAIR / 16),
    "other spacing": table(PAIR / 7),
    "base 1000": table(2 * PAIR / 16, base=1000.0),
    "positions from 1": table(2 * PAIR / 16, positions=P + 1),
    "positions along the batch": table(2 * PAIR / 16, positions=0 * P),
    "offset lost in a cache": table(2 * PAIR / 16, positions=np.append(P[:300], P[:300])[:, None]),
    "rows in another order": table(2 * PAIR / 16)[::-1],
    "degrees": table(2 * PAIR / 16, positions=P * np.pi / 180),
    "positions in bfloat16": table(2 * PAIR / 16, positions=bfloat16(P)),
    "positions in float16": table(2 * PAIR / 16, positions=float16(P)),
    "frequencies in bfloat16": np.where(
        EVEN, np.sin(P * bfloat16(FREQUENCY)), np.cos(P * bfloat16(FREQUENCY))
    ),
    "frequencies in float16": np.where(
        EVEN, np.sin(P * float16(FREQUENCY)), np.cos(P * float16(FREQUENCY))
    ),
    "angles in bfloat16": np.where(
        EVEN, np.sin(bfloat16(P * FREQUENCY)), np.cos(bfloat16(P * FREQUENCY))
    ),
    "angles in float16": np.where(
        EVEN, np.sin(float16(P * FREQUENCY)), np.cos(float16(P * FREQUENCY))
    ),
    "sine only": table(2 * PAIR / 16, cosine=False),
    "features in the other layout": table(2 * PAIR / 16)[:, [*range(0, 16, 2), *range(1, 16, 2)]],
    "sine and cosine in the other order": table(2 * PAIR / 16)[:, FEATURE ^ 1],
    "features in another order": table(2 * PAIR / 16)[:, ::-1],
    "transposed": table(2 * PAIR / 16).T,
    "divided by sqrt(dim)": table(2 * PAIR / 16) / 4,
    "multiplied by sqrt(dim)": table(2 * PAIR / 16) * 4,
}


def test_the_right_vectors():
    for layout in ("interleaved", "half"):
        for spacing, odd, dim in (
            ("paper", "refuse", 16),
            ("endpoint", "refuse", 16),
            ("paper", "trim", 7),
            ("paper", "pad", 7),
            ("endpoint", "pad", 7),
        ):
            for first in ("sin", "cos"):
                spec = Sinusoidal(
                    dim=dim, layout=layout, spacing=spacing, odd=odd, first=first, offset=3
                )
                want = spec.encode(np.arange(600), dtype=np.float64)
                np.testing.assert_allclose(
                    mistakes.numbers(spec, np.arange(600)), want, rtol=0, atol=1e-12
                )


def test_every_mistake_of_sinusoidal_vectors():
    spec = Sinusoidal(dim=16)
    assert {mistake.name for mistake in mistakes.of(spec)} == set(SINUSOIDAL)
    for name, want in SINUSOIDAL.items():
        got = mistakes.numbers(spec, np.arange(600), mistakes.named(name))
        if name.startswith("angles"):
            # A float64 that differs in its last digit may round to the other side.
            assert np.mean(np.abs(got - want) > 1e-12) < 1e-3
        else:
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-11, err_msg=name)


def test_spacing_the_other_way_round():
    spec = Sinusoidal(dim=16, spacing="endpoint")
    got = mistakes.numbers(spec, np.arange(600), mistakes.named("other spacing"))
    np.testing.assert_allclose(got, table(2 * PAIR / 16), rtol=0, atol=1e-11)
    own = mistakes.numbers(spec, np.arange(600), mistakes.named("cosine has its own exponent"))
    np.testing.assert_allclose(own, table(FEATURE / 14), rtol=0, atol=1e-11)


def test_what_the_similarity_matrix_shows():
    # The largest spread along a diagonal of table table^T, for 128 positions of 64 features.
    def spread(name=None):
        mistake = name and mistakes.named(name)
        vectors = mistakes.numbers(Sinusoidal(dim=64), np.arange(128), mistake)
        similarity = vectors @ vectors.T
        return max(np.ptp(np.diagonal(similarity, gap)) for gap in range(128))

    assert spread() < 1e-12
    assert spread("features in the other layout") < 1e-12
    assert spread("cosine has its own exponent") == pytest.approx(7.9, abs=0.05)
    assert spread("feature taken for pair") == pytest.approx(5.9, abs=0.05)
    assert spread("sine only") == pytest.approx(26.6, abs=0.05)


def turned(angle, *, pairing, layout):
    """Matrices that turn four features, written out entry by entry."""
    matrices = np.zeros((len(angle), 4, 4))
    for p in range(len(angle)):
        for a, c in ((0, 2), (1, 3)) if layout == "half" else ((0, 1), (2, 3)):
            for feature, partner, sign in ((a, c, -1), (c, a, 1)):
                pair = feature % 2 if pairing == "half" else feature // 2
                matrices[p, feature, feature] = np.cos(angle[p, pair])
                matrices[p, feature, partner] = sign * np.sin(angle[p, pair])
    return matrices


ANGLE = np.arange(300.0)[:, None] * [1.0, 0.01]
ROTARY = {
    None: turned(ANGLE, pairing="half", layout="half"),
    "exponent doubled": turned(ANGLE * [1, 0.01], pairing="half", layout="half"),
    "exponent halved": turned(ANGLE * [1, 10], pairing="half", layout="half"),
    "base 1000": turned(ANGLE * [1, 10**0.5], pairing="half", layout="half"),
    "positions from 1": turned(ANGLE + [1, 0.01], pairing="half", layout="half"),
    "positions along the batch": np.tile(np.eye(4), (300, 1, 1)),
    "degrees": turned(np.radians(ANGLE), pairing="half", layout="half"),
    "turned backwards": np.swapaxes(turned(ANGLE, pairing="half", layout="half"), 1, 2),
    "cosine and sine swapped": turned(np.pi / 2 - ANGLE, pairing="half", layout="half"),
    "paired as in the other layout": turned(ANGLE, pairing="interleaved", layout="interleaved"),
    "pairing mixed up": turned(ANGLE, pairing="interleaved", layout="half"),
    "frequencies in bfloat16": turned(
        np.arange(300.0)[:, None] * bfloat16([1, 0.01]), pairing="half", layout="half"
    ),
    "positions in bfloat16": turned(
        bfloat16(np.arange(300))[:, None] * [1, 0.01], pairing="half", layout="half"
    ),
}


@pytest.mark.parametrize("name", ROTARY)
def test_mistakes_of_rotary(name):
    mistake = name and mistakes.named(name)
    got = mistakes.numbers(Rotary(dim=4), np.arange(300), mistake)
    np.testing.assert_allclose(got, ROTARY[name], rtol=0, atol=1e-11)


def test_the_right_turns():
    for spec in (
        Rotary(dim=12),
        Rotary(dim=12, layout="interleaved"),
        Rotary(dim=12, rotary_dim=4),
        Rotary(dim=12, rotary_dim=4, exponent="head", layout="interleaved"),
        Rotary(dim=12, scaling=Yarn(factor=4.0, original_length=1024)),
    ):
        x = np.random.default_rng(0).normal(size=(50, 12))
        want = spec.rotate(x, np.arange(50))
        got = mistakes.numbers(spec, np.arange(50)) @ x[..., None]
        np.testing.assert_allclose(got[..., 0], want, rtol=0, atol=1e-12)


def test_a_mixed_up_pairing_is_no_rotation():
    # The public report raiyanyahya/how-to-train-your-gpt#6: lengths change, and so does the score
    # of a query at 3 + s and a key at 1 + s.
    mixed, spec = mistakes.named("pairing mixed up"), Rotary(dim=4)
    x = np.asarray([1.0, 2, 3, 4])
    query, key = np.asarray([0.1, 0.2, 0.3, 0.4]), np.asarray([0.5, -0.6, 0.7, 0.8])
    length = np.linalg.norm(mistakes.numbers(spec, [1], mixed)[0] @ x)
    assert length == pytest.approx(5.863206, abs=5e-7)
    for start, want in ((0, 0.83456), (7, 0.44509), (1000, 0.19917)):
        one, other = mistakes.numbers(spec, [3 + start, 1 + start], mixed)
        assert (one @ query) @ (other @ key) == pytest.approx(want, abs=5e-6)
        one, other = mistakes.numbers(spec, [3 + start, 1 + start])
        assert (one @ query) @ (other @ key) == pytest.approx(0.0270175, abs=5e-8)
    # The other layout (huggingface/transformers#25199) is a rotation, only another one.
    other = mistakes.numbers(spec, [1], mistakes.named("paired as in the other layout"))[0] @ x
    np.testing.assert_allclose(other, [-1.142640, 1.922076, 2.959851, 4.029800], atol=5e-7)


def test_mistakes_of_scaled_rotary():
    spec = Rotary(dim=128, scaling=Yarn(factor=16.0, original_length=4096))
    own = 10_000.0 ** (-np.arange(64) / 64)
    # pytorch/torchtitan#3787: from pair 20 to pair 46 the ramp runs the other way.
    slow = np.clip((np.arange(64) - 46) / (20 - 46), 0, 1)
    turning = slow * own / 16 + (1 - slow) * own
    got = mistakes.numbers(spec, [1], mistakes.named("YaRN ramp reversed"))[0]
    factor = 0.1 * np.log(16) + 1
    np.testing.assert_allclose(np.diag(got)[:64], factor * np.cos(turning), rtol=0, atol=1e-12)

    spec = Rotary(dim=4, scaling=Linear(factor=8.0))
    got = mistakes.numbers(spec, [64], mistakes.named("scaled twice"))[0]
    np.testing.assert_allclose(np.diag(got)[:2], np.cos([1.0, 0.01]), rtol=0, atol=1e-12)
    assert mistakes.named("scaled twice") not in mistakes.of(Rotary(dim=4))


# ofirpress/attention_with_linear_biases, fairseq/models/transformer.py, for 12 heads.
SLOPES_12 = np.asarray([*2.0 ** -np.arange(1, 9), *2.0 ** -np.asarray([0.5, 1.5, 2.5, 3.5])])
GAP = np.arange(300)[:, None] - np.arange(300)
BEHIND = np.where(GAP < 0, -np.inf, -1.0 * GAP)
ALIBI = {
    None: SLOPES_12[:, None, None] * BEHIND,
    "first slope is 1": 2 * SLOPES_12[:, None, None] * BEHIND,
    "plain slopes": 2.0 ** (-8 * np.arange(1, 13) / 12)[:, None, None] * BEHIND,
    "heads in another order": np.sort(SLOPES_12)[::-1, None, None] * BEHIND,
    "sign of the bias": np.where(GAP < 0, -np.inf, SLOPES_12[:, None, None] * GAP),
    "rows moved by a constant": np.where(
        GAP < 0, -np.inf, SLOPES_12[:, None, None] * np.arange(300)
    ),
    "bias in bfloat16": np.where(GAP < 0, -np.inf, bfloat16(-SLOPES_12[:, None, None] * GAP)),
}


def test_mistakes_of_alibi():
    spec = Alibi(heads=12)
    assert {mistake.name for mistake in mistakes.of(spec)} | {None} == set(ALIBI)
    for name, want in ALIBI.items():
        got = mistakes.numbers(spec, np.arange(300), name and mistakes.named(name))
        np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=str(name))
    assert ALIBI["plain slopes"][0, 1, 0] == pytest.approx(-0.629960524947)
    # Eight heads follow both rules, and are sorted.
    names = [mistake.name for mistake in mistakes.of(Alibi(heads=8))]
    assert "plain slopes" not in names
    assert "heads in another order" not in names
    first = mistakes.numbers(Alibi(heads=8), [0, 1], mistakes.named("first slope is 1"))
    assert first[0, 1, 0] == -1.0
    right, moved = np.exp(ALIBI[None]), np.exp(ALIBI["rows moved by a constant"])
    for weights in (right, moved):
        weights /= weights.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(right, moved, rtol=1e-9)  # the softmax does not see it


@pytest.mark.parametrize("direction", ["causal", "symmetric", "asymmetric"])
def test_the_right_bias(direction):
    spec = Alibi(heads=6, direction=direction, factor=2.0)
    want = spec.bias(np.arange(40), np.arange(40), dtype=np.float64)
    np.testing.assert_allclose(mistakes.numbers(spec, np.arange(40)), want, rtol=1e-12)


def test_mistakes_of_t5():
    positions = np.arange(200)
    for spec in (T5(heads=1), T5(heads=1, bidirectional=False)):
        want = spec.bucket(positions, positions)
        np.testing.assert_array_equal(mistakes.numbers(spec, positions), want)
        swapped = mistakes.numbers(spec, positions, mistakes.named("directions swapped"))
        np.testing.assert_array_equal(swapped, want.T)
    one = mistakes.numbers(T5(heads=1), positions, mistakes.named("one direction"))
    assert one.max() == 15
    np.testing.assert_array_equal(one, one.T)
    assert mistakes.named("one direction") not in mistakes.of(T5(heads=1, bidirectional=False))


@pytest.mark.parametrize("mistake", mistakes.MISTAKES, ids=lambda mistake: mistake.name)
def test_every_mistake_has_its_words_and_changes_something(mistake):
    assert mistake.severity in ("harmless", "wrong")
    assert mistake.sentence.endswith(".")
    assert mistake.mend.endswith(".")
    assert mistakes.named(mistake.name) is mistake
    assert json.loads(json.dumps(mistake.to_data()))["name"] == mistake.name
    specs = [
        Sinusoidal(dim=16),
        Rotary(dim=16, scaling=Yarn(factor=4.0, original_length=1024)),
        Alibi(heads=6),
        T5(heads=2),
    ]
    for spec in specs:
        if mistake in mistakes.of(spec):
            positions = np.arange(2100 if mistake.name == "positions in float16" else 300)
            if isinstance(spec, Rotary):
                positions = positions[-20:]
            right, wrong = (mistakes.numbers(spec, positions, m) for m in (None, mistake))
            assert right.shape != wrong.shape or not np.array_equal(right, wrong)


def test_errors():
    with pytest.raises(ValueError, match=r"'sine only' is no mistake that is made in Rotary"):
        mistakes.numbers(Rotary(dim=4), [0], mistakes.named("sine only"))
    with pytest.raises(ValueError, match=r"`name` must be one of 'cosine has its own exponent'"):
        mistakes.named("typo")
    with pytest.raises(TypeError, match=r"must be a Sinusoidal, Rotary, Alibi, T5.*got Linear"):
        mistakes.numbers(Linear(factor=2.0), [0])
