"""Tables written out by hand, each with one thing changed, and what is found out about them."""

import json
import re
import traceback

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from posenc import Rotary, Sinusoidal
from posenc.alibi import Alibi
from posenc.by_parts import Llama3, Yarn
from posenc.identification import identify
from posenc.identification.spectrum import spectrum
from posenc.scaling import NTK, Linear
from posenc.t5 import T5

P = np.arange(160.0)[:, None]
FEATURE = np.arange(32)
PAIR = FEATURE // 2
EVEN = FEATURE % 2 == 0


def vectors(exponent=2 * PAIR / 32, *, base=10_000.0, positions=P, cosine=True):
    """The paper's formula for 32 features, with an exponent of one's own for each."""
    angle = positions * base ** -np.asarray(exponent)
    return np.where(EVEN, np.sin(angle), np.cos(angle) if cosine else np.sin(angle))


def halves(table):
    return np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)


def tables(dim=64, *, base=10_000.0, positions=P, slow=None):
    """Cosines and sines of rotary pairs, one a pair; `slow` is what each frequency is times."""
    frequency = base ** (-2 * np.arange(dim // 2) / dim)
    angle = positions * (frequency if slow is None else frequency * slow)
    return np.cos(angle), np.sin(angle)


def bfloat16(x):
    bits = np.asarray(x, np.float32).view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.float64)


def found(table):
    """The encoding and the name of the mistake, after the claims that hold of every answer."""
    answer = identify(table)
    text = str(answer)
    assert max(map(len, text.splitlines())) <= 80
    json.dumps(answer.to_data(), allow_nan=False)
    assert answer.known, text
    mistake = answer.best.mistake
    assert answer.right == (mistake is None or mistake.severity == "harmless")
    if answer.runner_up:
        assert answer.runner_up.spec != answer.best.spec
        assert answer.runner_up.residual >= 0.5 * answer.best.residual
    return answer.best.spec, mistake and mistake.name


SPECS = {
    "paper": (vectors(), {}),
    "half": (halves(vectors()), {"layout": "half"}),
    "cosine first": (vectors()[:, FEATURE ^ 1], {"first": "cos"}),
    "timesteps": (
        np.concatenate(tables(32, base=10_000.0), axis=1),
        {"layout": "half", "first": "cos"},
    ),
    "tensor2tensor": (halves(vectors(PAIR / 15)), {"layout": "half", "spacing": "endpoint"}),
    "fairseq": (
        halves(vectors(PAIR / 15, positions=P + 2)),
        {"layout": "half", "spacing": "endpoint", "offset": 2},
    ),
    "a later part": (vectors(positions=P + 1234), {"offset": 1234}),
    "base 20000": (vectors(base=20_000.0), {"base": 20_000.0}),
}


@pytest.mark.parametrize("name", SPECS)
def test_vectors(name):
    table, settings = SPECS[name]
    want = Sinusoidal(dim=32, **settings)
    assert found(table.astype(np.float32)) == (want, None)
    assert found(table.astype(np.float16)) == (want, None)
    assert found(bfloat16(table)) == (want, None)


def test_odd_widths():
    marian = np.concatenate([np.sin(P * 1e4 ** (-2 * np.arange(4) / 7)), np.zeros((160, 3))], 1)
    marian[:, 4:] = np.cos(P * 1e4 ** (-2 * np.arange(3) / 7))
    assert found(marian) == (Sinusoidal(dim=7, layout="half", odd="trim"), None)
    tensor2tensor = np.pad(halves(vectors(PAIR / 15)), ((0, 0), (0, 1)))
    want = Sinusoidal(dim=33, layout="half", spacing="endpoint", odd="pad")
    assert found(tensor2tensor) == (want, None)


def test_a_row_of_zeros_is_passed_over():
    # fairseq's table: rows from 0, the row of the padding is zero.
    table = halves(vectors(PAIR / 15))
    table[1] = 0
    assert found(table) == (Sinusoidal(dim=32, layout="half", spacing="endpoint"), None)


@settings(max_examples=12)
@given(
    base=st.floats(20, 1e6).filter(lambda base: not np.isclose(base, [100, 1000], 0.02).any()),
    half=st.booleans(),
    endpoint=st.booleans(),
    cast=st.sampled_from([np.float32, np.float64, np.float16]),
)
def test_any_base(base, half, endpoint, cast):
    table = vectors(PAIR / 15 if endpoint else 2 * PAIR / 32, base=base)
    table = (halves(table) if half else table).astype(cast)
    answer = identify(table)
    # Frequencies alone do not tell the spacing: 1/15 of base and 1/16 of a larger one are alike.
    spec, power = answer.best.spec, 1.0
    if spec.spacing == "paper" and endpoint:
        power = 15 / 16
    if spec.spacing == "endpoint" and not endpoint:
        power = 16 / 15
    assert spec.layout == ("half" if half else "interleaved")
    assert spec.base**power == pytest.approx(base, rel=1e-4 if cast != np.float16 else 1e-2)
    assert answer.best.residual < (1e-6 if cast != np.float16 else 1e-3)
    assert answer.right


MISTAKES = {
    "cosine has its own exponent": vectors(FEATURE / 32),
    "feature taken for pair": vectors(2 * FEATURE / 32),
    "exponent doubled": vectors(4 * PAIR / 32),
    "exponent halved": vectors(PAIR / 32),
    "base 1000": vectors(base=1000.0),
    "positions from 1": vectors(positions=P + 1),
    "positions along the batch": vectors(positions=0 * P),
    "degrees": vectors(positions=P * np.pi / 180),
    "sine only": vectors(cosine=False),
    "transposed": vectors().T,
    "divided by sqrt(dim)": vectors() / np.sqrt(32),
    "multiplied by sqrt(dim)": vectors() * np.sqrt(32),
    "features in another order": vectors()[:, np.random.default_rng(0).permutation(32)],
    "rows in another order": vectors()[::-1],
    "offset lost in a cache": np.concatenate([vectors()[:100], vectors()[:60]]),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    # Half of them in float16, which hides none.
    cast = np.float16 if len(name) % 2 else np.float32
    assert found(MISTAKES[name].astype(cast)) == (Sinusoidal(dim=32), name)


def test_mistakes_in_the_half_layout():
    for name in ("cosine has its own exponent", "sine only", "degrees", "positions from 1"):
        spec, mistake = found(halves(MISTAKES[name]))
        assert (spec, mistake) == (Sinusoidal(dim=32, layout="half"), name)


FAR = np.arange(2200.0)[:, None]
FREQUENCY = 10_000.0 ** (-2 * PAIR / 32)
PRECISION = {
    "positions in bfloat16": bfloat16(FAR) * FREQUENCY,
    "positions in float16": FAR.astype(np.float16).astype(float) * FREQUENCY,
    "frequencies in bfloat16": FAR * bfloat16(FREQUENCY),
    "frequencies in float16": FAR * FREQUENCY.astype(np.float16).astype(float),
    "angles in bfloat16": bfloat16(FAR * FREQUENCY),
    "angles in float16": (FAR * FREQUENCY).astype(np.float16).astype(float),
}


@pytest.mark.parametrize("name", PRECISION)
def test_mistakes_of_precision(name):
    angle = PRECISION[name]
    table = np.where(EVEN, np.sin(angle), np.cos(angle)).astype(np.float32)
    assert found(table) == (Sinusoidal(dim=32), name)
    if name == "angles in bfloat16":
        assert found(bfloat16(table)) == (Sinusoidal(dim=32), name)


@pytest.mark.parametrize("cast", [np.float32, np.float16])
@pytest.mark.parametrize("rows", [8, 40, 200])
def test_frequencies_one_is_sure_of_are_right(rows, cast):
    positions = np.arange(rows)
    table = vectors(positions=positions[:, None]).astype(cast).astype(float)
    fitted = spectrum(table, positions)
    assert 8 <= fitted.sure.sum() < 32  # the slowest waves look like straight lines
    off = np.abs(fitted.frequency - FREQUENCY)[fitted.sure]
    assert np.all(off < 6 * fitted.error[fitted.sure])
    assert np.all(off < 0.05 * FREQUENCY[fitted.sure])


def test_scale_and_noise():
    answer = identify(0.3 * vectors())
    assert answer.best.scale == pytest.approx(0.3)
    assert answer.right
    noise = np.random.default_rng(0).normal(size=(160, 32))
    assert found(vectors() + 0.01 * noise) == (Sinusoidal(dim=32), None)
    answer = identify(vectors() + 0.01 * noise)
    assert answer.best.residual == pytest.approx(0.01 / np.std(vectors()), rel=0.05)
    assert not identify(vectors() + 0.1 * noise).known


ROTARY_FORMS = {
    "a pair": lambda cos, sin: (cos, sin),
    "a stack": lambda cos, sin: np.stack([cos, sin]),
    "complex": lambda cos, sin: cos + 1j * sin,
    "side by side": lambda cos, sin: np.stack([cos, sin], axis=-1),
    "cosines": lambda cos, sin: cos,
    "sines": lambda cos, sin: sin,
    "a pair by halves": lambda cos, sin: (np.tile(cos, 2), np.tile(sin, 2)),
    "cosines by halves": lambda cos, sin: np.tile(cos, 2)[None, None],
    "all by halves": lambda cos, sin: np.concatenate([np.tile(cos, 2), np.tile(sin, 2)], axis=1),
}


@pytest.mark.parametrize("form", ROTARY_FORMS)
@pytest.mark.parametrize("base", [10_000.0, 500_000.0])
def test_rotary_tables(form, base):
    cos, sin = (table.astype(np.float32) for table in tables(base=base))
    assert found(ROTARY_FORMS[form](cos, sin)) == (Rotary(dim=64, base=base), None)


def test_rotary_tables_side_by_side():
    cos, sin = tables(base=1e6)
    want = Rotary(dim=64, base=1e6, layout="interleaved")
    assert found(np.repeat(cos, 2, axis=1)) == (want, None)
    assert found((np.repeat(cos, 2, axis=1), np.repeat(sin, 2, axis=1))) == (want, None)
    # [cos | sin] may also be vectors with the cosine first: the other reading is named.
    answer = identify(np.concatenate(tables(), axis=1))
    assert answer.best.spec == Sinusoidal(dim=64, layout="half", first="cos")
    assert answer.runner_up.spec == Rotary(dim=64)
    # Sines alone, one a feature, are taken for vectors without cosines.
    answer = identify(np.repeat(tables()[1], 2, axis=1))
    assert answer.best.mistake.name == "sine only"
    assert answer.runner_up.spec == Rotary(dim=64, layout="interleaved")


def test_mistakes_of_rotary_tables():
    cos, sin = tables()
    assert found((cos, -sin)) == (Rotary(dim=64), "turned backwards")
    assert found((sin, cos)) == (Rotary(dim=64), "cosine and sine swapped")
    assert found(tables(positions=P + 1)) == (Rotary(dim=64), "positions from 1")
    assert found(tables(positions=np.radians(P))) == (Rotary(dim=64), "degrees")
    far = tables(positions=bfloat16(np.arange(600))[:, None])
    assert found(far) == (Rotary(dim=64), "positions in bfloat16")
    later = identify(tables(positions=P + 40))
    assert later.best.note == "The first row is that of position 40."


def llama3(dim, base, *, factor, length, low=1.0, high=4.0):
    """By what Llama 3 multiplies each frequency: meta-llama/llama-models, apply_scaling."""
    wave = 2 * np.pi * base ** (2 * np.arange(dim // 2) / dim)
    keep = np.clip((length / wave - low) / (high - low), 0, 1)
    return (1 - keep) / factor + keep


def yarn(dim, base, *, factor, length, truncate=True):
    """By what YaRN multiplies each frequency: transformers, _compute_yarn_parameters."""
    low, high = (dim * np.log(length / (b * 2 * np.pi)) / (2 * np.log(base)) for b in (32, 1))
    low, high = (np.floor(low), np.ceil(high)) if truncate else (low, high)
    slow = np.clip((np.arange(dim // 2) - low) / (high - low), 0, 1)
    return slow / factor + 1 - slow


def test_scaled_rotary_tables():
    far = np.arange(1500.0)[:, None]
    want = Rotary(dim=64, scaling=Linear(factor=8.0))
    assert found(tables(positions=P / 8)) == (want, None)
    assert found(bfloat16(tables(positions=P / 8)[0])) == (want, None)
    ntk = tables(128, base=1e4 * 4 ** (128 / 126))
    assert found(ntk) == (Rotary(dim=128, scaling=NTK(factor=4.0)), None)

    slow = llama3(128, 5e5, factor=8, length=8192)
    rule = Llama3(factor=8.0, original_length=8192)
    want = Rotary(dim=128, base=5e5, scaling=rule)
    assert found(tables(128, base=5e5, positions=far, slow=slow)) == (want, None)
    assert found(5e5 ** (-np.arange(64) / 64) * slow) == (want, None)


@pytest.mark.parametrize(
    ("base", "factor", "truncate"), [(10_000.0, 16, True), (150_000.0, 32, False)]
)
def test_yarn_tables(base, factor, truncate):
    slow = yarn(64, base, factor=factor, length=4096, truncate=truncate)
    cos, sin = tables(64, base=base, positions=np.arange(900.0)[:, None], slow=slow)
    rule = Yarn(factor=float(factor), original_length=4096, truncate=truncate)
    want = Rotary(dim=64, base=base, scaling=rule)
    multiplier = 0.1 * np.log(factor) + 1
    assert found((multiplier * cos, multiplier * sin)) == (want, None)
    assert found(bfloat16(multiplier * cos)) == (want, None)
    assert found(base ** (-np.arange(32) / 32) * slow) == (want, None)
    # The ramp the other way round: pytorch/torchtitan#3787.
    swapped = 1 + 1 / factor - slow
    cos, sin = tables(64, base=base, positions=np.arange(900.0)[:, None], slow=swapped)
    assert found((multiplier * cos, multiplier * sin)) == (want, "YaRN ramp reversed")


def unit_vectors(rotate, dim=8):
    """What a rotary function makes of the unit vectors at each position."""
    return np.stack([[rotate(unit, position) for unit in np.eye(dim)] for position in range(40)])


def rotate(x, position, *, angles="half", pairs="half", sign=1):
    frequency = 10_000.0 ** (-np.arange(4) / 4)
    angle = position * (np.tile(frequency, 2) if angles == "half" else np.repeat(frequency, 2))
    if pairs == "half":
        other = np.concatenate([-x[4:], x[:4]])
    else:
        other = np.stack([-x[1::2], x[0::2]], axis=-1).ravel()
    return x * np.cos(angle) + sign * other * np.sin(angle)


def test_what_a_rotary_function_makes_of_unit_vectors():
    assert found(unit_vectors(rotate)) == (Rotary(dim=8), None)

    def interleaved(x, position):
        return rotate(x, position, angles="interleaved", pairs="interleaved")

    assert found(unit_vectors(interleaved)) == (Rotary(dim=8, layout="interleaved"), None)

    def mixed(x, position):
        return rotate(x, position, angles="interleaved", pairs="half")

    assert found(unit_vectors(mixed)) == (Rotary(dim=8), "pairing mixed up")

    def mixed_otherwise(x, position):
        return rotate(x, position, angles="half", pairs="interleaved")

    want = (Rotary(dim=8, layout="interleaved"), "pairing mixed up")
    assert found(unit_vectors(mixed_otherwise)) == want

    def backwards(x, position):
        return rotate(x, position, sign=-1)

    assert found(unit_vectors(backwards)) == (Rotary(dim=8), "turned backwards")


def test_frequencies():
    exact = 500_000.0 ** (-np.arange(64) / 64)
    assert found(exact.astype(np.float32)) == (Rotary(dim=128, base=5e5), None)
    assert found(exact / 4) == (Rotary(dim=128, base=5e5, scaling=Linear(factor=4.0)), None)
    assert found(10_000.0 ** (-np.arange(8) / 7)) == (Sinusoidal(dim=16, spacing="endpoint"), None)
    usual = 10_000.0 ** (-np.arange(64) / 64)
    assert found(bfloat16(usual)) == (Rotary(dim=128), "frequencies in bfloat16")


SLOPES_12 = np.asarray([*2.0 ** -np.arange(1, 9), *2.0 ** -np.asarray([0.5, 1.5, 2.5, 3.5])])
GAP = np.arange(40)[:, None] - np.arange(40)


def test_slopes():
    assert found(SLOPES_12) == (Alibi(heads=12), None)
    assert found(SLOPES_12 / 4) == (Alibi(heads=12, factor=4.0), None)
    assert found(2 * SLOPES_12) == (Alibi(heads=12), "first slope is 1")
    assert found(2.0 ** (-8 * np.arange(1, 13) / 12)) == (Alibi(heads=12), "plain slopes")
    assert found(np.sort(SLOPES_12)[::-1]) == (Alibi(heads=12), "heads in another order")
    assert found(-SLOPES_12) == (Alibi(heads=12), "sign of the bias")
    assert found(2.0 ** -np.arange(8)) == (Alibi(heads=8), "first slope is 1")
    assert found(2.0 ** -np.arange(1, 9)) == (Alibi(heads=8), None)


@pytest.mark.parametrize(
    "mask", [-np.inf, -1e4, -65504.0, -1e9, *(np.finfo(t).min for t in (np.float32, float)), 0.0]
)
def test_alibi_however_it_is_masked(mask):
    bias = np.where(GAP < 0, mask, -SLOPES_12[:, None, None] * GAP)
    assert found(bias) == (Alibi(heads=12), None)


def test_alibi():
    slopes = SLOPES_12[:, None, None]
    assert found(-slopes * np.abs(GAP)) == (Alibi(heads=12, direction="symmetric"), None)
    uneven = np.where(GAP > 0, 0.5 - GAP, GAP)
    assert found(slopes * uneven) == (Alibi(heads=12, direction="asymmetric"), None)
    causal = np.where(GAP < 0, -np.inf, -GAP)
    assert found(2 * slopes * causal) == (Alibi(heads=12), "first slope is 1")
    assert found(slopes * causal / 2) == (Alibi(heads=12, factor=2.0), None)
    positive = np.where(GAP < 0, -np.inf, slopes * GAP)
    assert found(positive) == (Alibi(heads=12), "sign of the bias")
    rows = np.where(GAP < 0, -np.inf, slopes * np.arange(40))
    assert found(rows) == (Alibi(heads=12), "rows moved by a constant")
    one = identify(np.where(GAP < 0, -np.inf, -0.0625 * GAP))
    assert one.best.note == "Of one head, whose slope is 0.0625."
    assert one.right


def test_alibi_of_the_last_query():
    # MPT makes one row a head, BLOOM the same moved by a constant.
    back = np.arange(39, -1, -1)
    assert found((-SLOPES_12[:, None] * back)[:, None]) == (Alibi(heads=12), None)
    moved = SLOPES_12[:, None] * np.arange(40)
    assert found(moved) == (Alibi(heads=12), "rows moved by a constant")
    assert found(-2 * SLOPES_12[:, None] * back) == (Alibi(heads=12), "first slope is 1")


def test_alibi_in_bfloat16():
    gap = np.arange(400)[:, None] - np.arange(400)
    bias = np.where(gap < 0, -np.inf, -(2.0 ** -np.arange(1, 9))[:, None, None] * gap)
    bias[np.isfinite(bias)] = bfloat16(bias[np.isfinite(bias)])
    assert found(bias) == (Alibi(heads=8), "bias in bfloat16")


def bucket(gap, *, bidirectional=True):
    """mesh_tensorflow, _relative_position_bucket, with 32 buckets and distance 128."""
    side = 16 if bidirectional else 32
    far = np.abs(gap) if bidirectional else np.maximum(gap, 0)
    exact = side // 2
    large = np.log(np.maximum(far, 1) / exact) / np.log(128 / exact) * (side - exact)
    index = np.where(far < exact, far, np.minimum(exact + large.astype(int), side - 1))
    return index + np.where((gap < 0) & bidirectional, side, 0)


def test_t5():
    gap = np.arange(100)[:, None] - np.arange(100)
    table = np.random.default_rng(0).normal(size=(32, 4))
    for both in (True, False):
        index = bucket(gap, bidirectional=both)
        want = T5(heads=4, bidirectional=both)
        assert found(np.moveaxis(table[index], -1, 0)) == (want, None)
        assert found(index) == (T5(heads=1, bidirectional=both), None)
    assert found(bucket(-gap)) == (T5(heads=1), "directions swapped")
    assert found(bucket(np.abs(gap))) == (T5(heads=1), "one direction")


NOT_ENCODINGS = {
    "normal": np.random.default_rng(0).normal(size=(64, 32)),
    "learned": 0.02 * np.random.default_rng(1).normal(size=(50, 48)),
    "uniform": np.random.default_rng(2).uniform(-1, 1, size=(64, 32)),
    "signs": np.sign(np.random.default_rng(3).normal(size=(64, 32))),
    "zeros": np.zeros((40, 8)),
    "ones": np.ones((40, 8)),
    "rows alike": np.tile(np.random.default_rng(10).normal(size=8), (40, 1)),
    "upside down": -vectors(),
    "a ramp": np.arange(320.0).reshape(40, 8),
    "one-hot": np.eye(64),
    "waves of any frequency": np.sin(P * np.random.default_rng(4).uniform(0, 3, 32)),
    "three axes": np.random.default_rng(5).normal(size=(3, 20, 8)),
    "square": np.random.default_rng(6).normal(size=(4, 20, 20)),
    "a Toeplitz bias": np.random.default_rng(7).normal(size=79)[39 + GAP],
    "numbers": np.random.default_rng(8).uniform(1, 2, 12),
    "few numbers": np.ones(2),
    "tiny": np.asarray([[1.0, 0.0], [0.0, 1.0]]),
    "few rows": np.random.default_rng(9).normal(size=(3, 8)),
}


@pytest.mark.parametrize("name", NOT_ENCODINGS)
def test_tables_that_are_no_encoding(name):
    answer = identify(NOT_ENCODINGS[name])
    assert not answer.known, str(answer)
    assert not answer.right
    assert "no known encoding" in str(answer)
    json.dumps(answer.to_data(), allow_nan=False)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, -np.inf])
@pytest.mark.parametrize("shape", [(5,), (40, 8), (20, 20), (4, 20, 20), (2, 40, 8)])
def test_equal_entries_tell_nothing(shape, value):
    answer = identify(np.full(shape, value))
    assert (answer.best, answer.runner_up, answer.right) == (None, None, False)
    lines = str(answer).splitlines()
    assert lines[2:] == ["note       All entries are equal, so no encoding can be told."]
    assert answer.to_data()["notes"] == list(answer.notes)


@pytest.mark.parametrize("cast", [np.float16, np.float32, np.float64])
def test_two_encodings_with_the_same_numbers(cast):
    table = np.concatenate(tables(32), axis=1).astype(cast)
    answer = identify(table[:8])
    assert answer.best.spec == Sinusoidal(dim=32, layout="half", first="cos")
    assert answer.runner_up.spec == Rotary(dim=32)
    assert "The runner-up makes the same numbers" in str(answer)
    answer = identify(np.concatenate(tables(32, base=500.0), axis=1))
    assert {type(answer.best.spec), type(answer.runner_up.spec)} == {Sinusoidal, Rotary}
    assert "The runner-up makes the same numbers" in str(answer)
    # One encoding with other settings may do so too, but it is not what anybody meant.
    assert identify(vectors().astype(cast)).notes == ()
    assert identify(5e5 ** (-np.arange(64) / 64)).notes == ()
    # In a table that is not recognised equal residuals say nothing.
    assert identify(NOT_ENCODINGS["normal"]).notes == ()


def test_what_is_printed():
    lines = str(identify(halves(vectors(positions=P + 1)).astype(np.float32))).splitlines()
    assert lines[0] == "table      160 x 32"
    assert lines[1] == "encoding   sinusoidal:dim=32,layout=half"
    assert re.fullmatch(r"form       vectors \(residual \d\.\de-08\)", lines[2])
    assert lines[3].startswith("wrong      The first token stands at 1 and not at 0")
    assert any(line.startswith("mend       Count from 0") for line in lines)
    closest = str(identify(NOT_ENCODINGS["normal"])).replace("\n", " ")
    assert re.search(
        r"encoding +no known encoding; closest is .* \(residual \d\.\de[+-]\d+\)", closest
    )
    data = identify(vectors()).to_data()
    assert data["best"]["spec"] == {
        **{"kind": "sinusoidal", "dim": 32, "base": 10_000.0, "layout": "interleaved"},
        **{"spacing": "paper", "first": "sin", "offset": 0, "odd": "refuse"},
    }
    assert data["best"]["mistake"] is None
    assert data["right"]


def test_arrays_of_every_library(framework):
    answer = identify(framework.array(vectors(), dtype="float32"))
    assert (answer.best.spec, answer.right) == (Sinusoidal(dim=32), True)


def test_bfloat16_arrays():
    import torch

    answer = identify(torch.tensor(vectors()).to(torch.bfloat16).requires_grad_())
    assert (answer.best.spec, answer.right) == (Sinusoidal(dim=32), True)


def test_long_tables(monkeypatch):
    monkeypatch.setattr("posenc.identification.read._MOST", 320)
    answer = identify(vectors())
    assert (answer.best.spec, answer.shape) == (Sinusoidal(dim=32), (10, 32))
    with pytest.raises(ValueError, match=r"at most 320 numbers; got shape \(2, 160, 32\)"):
        identify(tables())


# Files.


@pytest.fixture
def table():
    return vectors().astype(np.float32)


def test_npy(tmp_path, table):
    np.save(tmp_path / "table.npy", table)
    assert found(tmp_path / "table.npy") == (Sinusoidal(dim=32), None)
    assert found(str(tmp_path / "table.npy")) == (Sinusoidal(dim=32), None)


def test_csv(tmp_path, table):
    np.savetxt(tmp_path / "plain.csv", table, delimiter=",")
    assert found(tmp_path / "plain.csv") == (Sinusoidal(dim=32), None)
    head = ",".join(["position", *map(str, range(32))])
    numbered = np.concatenate([P, table], axis=1)
    np.savetxt(tmp_path / "named.csv", numbered, delimiter=",", header=head, comments="")
    assert found(tmp_path / "named.csv") == (Sinusoidal(dim=32), None)


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("index", [False, True])
def test_csv_with_numbered_columns(tmp_path, table, start, index):
    # As pandas writes a frame whose columns have no names, without and with its index.
    head = ",".join([*([""] if index else []), *(str(start + i) for i in range(32))])
    rows = np.concatenate([P, table], axis=1) if index else table
    np.savetxt(tmp_path / "pandas.csv", rows, delimiter=",", header=head, comments="")
    assert found(tmp_path / "pandas.csv") == (Sinusoidal(dim=32), None)
    answer = identify(tmp_path / "pandas.csv")
    assert answer.shape == (160, 32)
    assert len(answer.notes) == (0 if index else 1)
    assert ("taken for a header" in str(answer)) == (not index)


def test_csv_whose_first_row_counts_and_is_no_header(tmp_path):
    # Sine and cosine of position 0; distances; a row alone.
    two = np.concatenate([np.sin(P), np.cos(P)], axis=1)
    np.savetxt(tmp_path / "two.csv", two, delimiter=",", fmt="%.8g")
    assert (tmp_path / "two.csv").read_text().startswith("0,1\n")
    assert identify(tmp_path / "two.csv").shape == (160, 2)
    index = bucket(np.abs(GAP[:8, :8]))
    np.savetxt(tmp_path / "buckets.csv", index, delimiter=",", fmt="%d")
    assert (tmp_path / "buckets.csv").read_text().startswith("0,1,2,3,4,5,6,7\n")
    assert identify(tmp_path / "buckets.csv").shape == (8, 8)
    (tmp_path / "row.csv").write_text("1,2,3\n")
    assert identify(tmp_path / "row.csv").shape == (3,)
    # A header above a square of numbers that are not whole is one.
    square = "0,1,2\n" + "0.5,0.25,-1\n" * 2
    (tmp_path / "square.csv").write_text(square)
    assert identify(tmp_path / "square.csv").shape == (2, 3)


def test_csv_of_the_command(tmp_path):
    from posenc.tables import table, to_csv

    for spec in (Sinusoidal(dim=16), Alibi(heads=4)):
        (tmp_path / "table.csv").write_text(to_csv(table(spec, np.arange(24))))
        assert found(tmp_path / "table.csv") == (spec, None)
        assert identify(tmp_path / "table.csv").notes == ()


def test_csv_of_a_bias(tmp_path):
    # As `posenc table alibi:heads=2 --format csv` writes it.
    lines = ["head,query,key 0,key 1,key 2"]
    for head, slope in enumerate((0.0625, 0.00390625)):
        for query in range(3):
            cells = [-slope * (query - key) if key <= query else "-inf" for key in range(3)]
            lines.append(",".join(map(str, (head, query, *cells))))
    (tmp_path / "bias.csv").write_text("\n".join(lines) + "\n")
    assert found(tmp_path / "bias.csv") == (Alibi(heads=2), None)


def test_safetensors(tmp_path, table):
    import torch
    from safetensors.torch import save_file

    save_file({"pe": torch.tensor(table)}, tmp_path / "one.safetensors")
    assert found(tmp_path / "one.safetensors") == (Sinusoidal(dim=32), None)
    several = {
        "layers.0.weight": torch.ones(2, 2),
        "pos_embed": torch.tensor(table).bfloat16()[None],
        "scales": torch.ones(4).to(torch.float8_e4m3fn),
    }
    save_file(several, tmp_path / "many.safetensors")
    answer = identify(tmp_path / "many.safetensors", tensor="pos_embed")
    assert answer.best.spec == Sinusoidal(dim=32)
    with pytest.raises(ValueError, match=r"`tensor` must be one of pos_embed, layers.0.weight"):
        identify(tmp_path / "many.safetensors")
    with pytest.raises(ValueError, match=r"`tensor` must be one of .*; got 'pe'\."):
        identify(tmp_path / "many.safetensors", tensor="pe")
    with pytest.raises(ValueError, match=r"cannot read many\.safetensors: .*float8"):
        identify(tmp_path / "many.safetensors", tensor="scales")


def test_safetensors_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    (tmp_path / "a.safetensors").write_bytes(b"")
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'posenc\[safetensors\]'"):
        identify(tmp_path / "a.safetensors")


BAD_FILES = {
    "empty.npy": b"",
    "noise.npy": bytes(range(256)),
    "promise.npy": b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, "
    b"'shape': (1000000000, 1000000), }".ljust(118)
    + b"\n",
    "pickle.npy": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00K\x01.",
    "empty.csv": b"",
    "header.csv": b"position,0,1\n",
    "ragged.csv": b"1,2,3\n4,5\n",
    "words.csv": b"1,2,3\n4,five,6\n",
    "latin.csv": b"1,2\n\xe9,3\n",
    "nan.csv": b"1,2\nnan,3\n",
    "single.csv": b"1\n",
    "empty.safetensors": b"",
    "noise.safetensors": bytes(range(256)),
    "long.safetensors": b"\xff" * 7 + b"\x7f{}",
    "none.safetensors": b"\x02\x00\x00\x00\x00\x00\x00\x00{}",
    "table.pt": b"PK",
    "table": b"1,2\n",
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_give_one_clear_error(tmp_path, name):
    (tmp_path / name).write_bytes(BAD_FILES[name])
    with pytest.raises(ValueError, match=rf"{re.escape(name)}|`table` must") as caught:
        identify(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_objects_in_a_file_are_not_loaded(tmp_path):
    np.save(tmp_path / "objects.npy", np.asarray([{}, None], dtype=object), allow_pickle=True)
    (tmp_path / "pickle.npy").write_bytes(BAD_FILES["pickle.npy"])
    header = b"\x93NUMPY\x01\x00\xff\xff".ljust(2**16 + 9)  # NumPy advises to trust this one
    (tmp_path / "header.npy").write_bytes(header)
    for name in ("objects.npy", "pickle.npy", "header.npy"):
        with pytest.raises(ValueError, match=rf"cannot read {name}: it holds Python obj") as caught:
            identify(tmp_path / name)
        assert "Save an array of numbers with numpy.save." in str(caught.value)
        assert "pickle" not in str(caught.value).removeprefix("cannot read pickle.npy")
        assert "allow_pickle" not in "".join(traceback.format_exception(caught.value))


def test_a_directory_is_no_table(tmp_path, monkeypatch):
    (tmp_path / "tables.npy").mkdir()
    want = r"`table` must be a file in \.npy, \.csv, \.safetensors; got the directory"
    with pytest.raises(ValueError, match=rf"{want} '{re.escape(str(tmp_path / 'tables.npy'))}'\."):
        identify(tmp_path / "tables.npy")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=rf"{want} '\.'\."):
        identify(".")


def test_errors():
    with pytest.raises(FileNotFoundError, match=r"nowhere\.npy"):
        identify("nowhere.npy")
    with pytest.raises(ValueError, match=r"`table` must hold numbers; got <U"):
        identify(np.asarray([["a", "b"]]))
    with pytest.raises(ValueError, match=r"`table` must be a table of numbers"):
        identify([[1, 2], [3]])
    with pytest.raises(ValueError, match=r"one to three axes.*got shape \(2, 2, 2, 2\)"):
        identify(np.ones((2, 2, 2, 2)))
    with pytest.raises(ValueError, match=r"one to three axes.*got shape \(0,\)"):
        identify(np.ones((0,)))
    for value in (np.nan, np.inf, 1e200):
        with pytest.raises(ValueError, match=r"below 1e\+30.*got NaN or more"):
            identify(np.asarray([[1.0, value], [0.0, 1.0]]))
    with pytest.raises(ValueError, match=r"`tensor` names a tensor of a .safetensors file"):
        identify(vectors(), tensor="pe")
    with pytest.raises(ValueError, match=r"`tensor` names a tensor.*got 'table\.npy'"):
        identify("table.npy", tensor="pe")
