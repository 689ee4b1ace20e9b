"""Golden vectors: true to the last bit, the same bytes every time, and refused when damaged."""

import contextlib
import dataclasses
import hashlib
import json
import math
import zipfile

import mpmath
import numpy as np
import pytest

import posenc
from posenc import Rotary, Sinusoidal
from posenc.alibi import Alibi
from posenc.axes import LearnedAxes, SinusoidalAxes
from posenc.bipe import Bipe
from posenc.by_parts import Yarn
from posenc.goldens import Golden, exact, golden
from posenc.kerple import Kerple
from posenc.learned import Learned
from posenc.longrope import LongRope
from posenc.mixed import MixedRotary
from posenc.mrope import MRotary
from posenc.scaling import DynamicNTK
from posenc.shaw import Shaw
from posenc.swin import Swin
from posenc.t5 import T5
from posenc.xpos import XPos

SMALL = [
    Sinusoidal(dim=6, layout="half", first="cos"),
    Rotary(dim=6, rotary_dim=4),
    Alibi(heads=2),
    T5(heads=2),
    Learned(length=20, dim=3),
    SinusoidalAxes(dim=8),
    LearnedAxes(lengths=(9, 2), widths=(2, 3), axes=(1, 0)),
    MixedRotary(dim=8, heads=2),
    MRotary(rotary=Rotary(dim=16), sections=(2, 3, 3)),
    XPos(dim=4),
    Swin(heads=2, window=(2, 3)),
]


def name(spec):
    return type(spec).__name__


def ulps(got, truth):
    """The largest error in units in the last place of the true value."""
    errors = []
    for value, true in zip(np.ravel(got).tolist(), truth, strict=True):
        unit = math.ulp(float(true)) or math.ulp(0.0)
        errors.append(abs(mpmath.mpf(value) - true) / unit)
    return float(max(errors))


def frequency(base, k, width):
    return mpmath.mpf(base) ** (-mpmath.mpf(2 * k) / width)


# ---------------------------------------------------------------- the values


@pytest.mark.parametrize("base", [10_000.0, 500_000.0, 1e6])
@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_sinusoidal_is_the_nearest_float(base, layout):
    one = golden(Sinusoidal(dim=48, base=base, layout=layout))
    assert one.positions[-1] == 2**31 - 1
    with mpmath.workdps(60):
        truth = []
        for position in one.positions.tolist():
            angles = [position * frequency(base, k, 48) for k in range(24)]
            sines, cosines = map(mpmath.sin, angles), map(mpmath.cos, angles)
            if layout == "half":
                truth += [*sines, *cosines]
            else:
                truth += [wave for pair in zip(sines, cosines, strict=True) for wave in pair]
        assert ulps(one.float64["vectors"], truth) <= 0.5


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_rotary_is_the_nearest_float(layout):
    ones = (1.0,) * 8
    rule = LongRope(
        short_factors=ones, long_factors=ones, original_length=2, factor=1.0, attention_factor=1.25
    )
    spec = Rotary(dim=20, rotary_dim=16, base=5e5, layout=layout, scaling=rule)
    one = golden(spec)
    pairs = [(2 * k, 2 * k + 1) if layout == "interleaved" else (k, k + 8) for k in range(8)]
    with mpmath.workdps(60):
        cosines, sines, rotated = [], [], []
        for position in one.positions.tolist():
            row = [mpmath.mpf(i + 1) for i in range(20)]
            for k, (i, j) in enumerate(pairs):
                angle = position * frequency(5e5, k, 16)
                cos, sin = mpmath.cos(angle) * 1.25, mpmath.sin(angle) * 1.25
                row[i], row[j] = row[i] * cos - row[j] * sin, row[j] * cos + row[i] * sin
                cosines.append(cos)
                sines.append(sin)
            rotated += row
        assert ulps(one.float64["cos"], cosines) <= 0.5
        assert ulps(one.float64["sin"], sines) <= 0.5
        assert ulps(one.float64["rotated"], rotated) <= 0.5


def test_exact_cosines_far_beyond_float64():
    with mpmath.workdps(100):
        for position in 0, 1, -1, 3, 710, -(2**31) + 1, 2**31 - 1:
            for turning in 1.0, 0.1, 1e-9, 2.0, 0.0:
                angle = position * mpmath.mpf(turning)
                cos, sin = (
                    mpmath.mpf(wave.numerator) / wave.denominator
                    for wave in exact.cos_sin(position, turning)
                )
                assert abs(cos - mpmath.cos(angle)) < mpmath.mpf(2) ** -200
                assert abs(sin - mpmath.sin(angle)) < mpmath.mpf(2) ** -200


@pytest.mark.parametrize(
    "spec",
    [
        Sinusoidal(dim=9, odd="trim", layout="half"),
        Sinusoidal(dim=9, odd="pad"),
        Sinusoidal(dim=8, first="cos", spacing="endpoint", offset=2),
        Rotary(dim=8, rotary_dim=6, layout="interleaved"),
        Rotary(dim=8, scaling=Yarn(factor=4.0, original_length=4096)),
    ],
    ids=repr,
)
def test_the_library_keeps_its_promise(spec):
    one = golden(spec)
    if isinstance(spec, Sinusoidal):
        got = {"vectors": spec.encode(one.positions)}
    else:
        cos, sin = spec.table(one.positions)
        vector = np.arange(1.0, 9.0, dtype=np.float32)
        rows = np.tile(vector, (len(one.positions), 1))
        got = {"cos": cos, "sin": sin, "rotated": spec.rotate(rows, one.positions) / 16}
        one.float64["rotated"] /= 16
    assert got.keys() == one.float64.keys()
    for key, array in got.items():
        np.testing.assert_allclose(array, one.float64[key], rtol=0, atol=1e-7, err_msg=key)


def test_float32_is_float64_rounded():
    one = golden(Rotary(dim=8))
    for key, wide in one.float64.items():
        assert one.float32[key].dtype == np.float32
        np.testing.assert_array_equal(one.float32[key], wide.astype(np.float32))


def test_default_positions_are_near_and_far():
    positions = set(golden(Sinusoidal(dim=2)).positions.tolist())
    assert {0, 1, 2, 3, 255, 256, 257, 2047, 2049, 2**24, 2**24 + 1, 2**31 - 1} <= positions
    assert max(golden(Sinusoidal(dim=2, offset=5)).positions) + 5 <= 2**31 - 1
    assert max(golden(Learned(length=20, dim=2)).positions) == 17
    # Tables of 9 columns and 2 rows.
    assert golden(SMALL[6]).positions.max(axis=0).tolist() == [1, 2]
    assert golden(XPos(dim=2)).positions.max() < 2**17
    assert golden(SinusoidalAxes(dim=8)).positions.tolist() == [
        *([0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2])
    ]


def test_biases():
    one = golden(Alibi(heads=2), [3], keys=[0, 3, 4])
    assert one.float64["bias"].tolist() == [
        [[-3 * 2**-4, 0.0, -math.inf]],
        [[-3 * 2**-8, 0.0, -math.inf]],
    ]
    spec = T5(heads=2)
    one = golden(spec, [100], keys=[0, 90, 101])
    table = spec.initial_weights()["table"]
    np.testing.assert_array_equal(one.float64["bias"][:, 0], table[[15, 8, 17]].T)
    np.testing.assert_array_equal(one.weights["table"], table)


def test_trained_arrays_are_wide():
    # In float32 the logarithm would be off by 1e-8.
    spec = Kerple(heads=1)
    r1, r2 = (float(array[0]) for array in spec.initial_weights().values())
    got = golden(spec, [1000], keys=[1]).float64["bias"].item()
    assert got == pytest.approx(-r1 * math.log1p(r2 * 999), rel=1e-14)


def test_length():
    spec = Rotary(dim=8, scaling=DynamicNTK(original_length=100))
    short, long = golden(spec, [7]), golden(spec, [7], length=200)
    assert short.frequencies == spec.frequencies
    assert long.frequencies == spec.frequencies_at(200)
    assert long.float64["cos"][0, 3] == pytest.approx(math.cos(7 * 0.001 / 2), abs=1e-15)


def test_length_reaches_the_rotary_encoding_within():
    scaled = Rotary(dim=8, scaling=DynamicNTK(original_length=100))
    spec = MRotary(rotary=scaled, sections=(1, 1, 2))
    short, long = golden(spec, [[7, 7, 7]]), golden(spec, [[7, 7, 7]], length=200)
    assert short.frequencies == scaled.frequencies
    assert long.frequencies == scaled.frequencies_at(200)
    for one, length in ((short, None), (long, 200)):
        want = golden(scaled, [7], length=length).float64
        np.testing.assert_allclose(one.float64["cos"], want["cos"], rtol=0, atol=1e-15)
        np.testing.assert_allclose(one.float64["sin"], want["sin"], rtol=0, atol=1e-15)
    assert long.differences() == ()


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("spec", SMALL, ids=name)
@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_files_come_back(spec, suffix, tmp_path):
    one = golden(spec)
    path = tmp_path / f"golden{suffix}"
    one.save(path)
    back = Golden.load(path)
    assert back.to_data() == one.to_data()
    assert back.spec == spec
    assert back.posenc == posenc.__version__
    assert back.differences() == ()
    for key in one.float64:
        np.testing.assert_array_equal(back.float64[key], one.float64[key])
        assert back.float32[key].dtype == np.float32
    again = tmp_path / f"again{suffix}"
    back.save(str(again))
    assert again.read_bytes() == path.read_bytes()


def test_json_without_posenc(tmp_path):
    spec = Sinusoidal(dim=4)
    golden(spec, [0, 2]).save(tmp_path / "golden.json")
    data = json.loads((tmp_path / "golden.json").read_text())
    assert data["spec"]["kind"] == "sinusoidal"
    assert data["positions"] == [0, 2]
    assert [float.fromhex(w) for w in data["frequencies"]] == [1.0, 0.01]
    vectors = data["float64"]["vectors"]
    assert vectors["shape"] == [2, 4]
    got = np.asarray([float.fromhex(value) for value in vectors["values"]]).reshape(2, 4)
    want = [[0, 1, 0, 1], [math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)]]
    np.testing.assert_allclose(got, want, rtol=1e-15)
    narrow = np.asarray(data["float32"]["vectors"]["values"], dtype=np.float32)
    np.testing.assert_array_equal(narrow, got.astype(np.float32).ravel())
    stated = data.pop("sha256")
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(canonical.encode()).hexdigest() == stated


def test_tails_give_the_digits_a_float_has_no_room_for(tmp_path):
    data = golden(Rotary(dim=128), [0]).to_data()
    with mpmath.workdps(50):
        for k, (value, tail) in enumerate(zip(data["frequencies"], data["tails"], strict=True)):
            got = mpmath.mpf(float.fromhex(value)) + float.fromhex(tail)
            assert abs(got / frequency(10_000.0, k, 128) - 1) < 1e-31


def test_npz_without_posenc(tmp_path):
    golden(Rotary(dim=4), [0, 1]).save(tmp_path / "golden.npz")
    with np.load(tmp_path / "golden.npz") as arrays:
        assert arrays["float64/cos"].dtype == np.float64
        np.testing.assert_allclose(arrays["float64/cos"][1], np.cos([1, 0.01]))
        assert arrays["float32/rotated"].shape == (2, 4)
        assert json.loads(str(arrays["header"]))["positions"] == [0, 1]
    with zipfile.ZipFile(tmp_path / "golden.npz") as archive:
        for info in archive.infolist():
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert info.create_system == 3
            assert info.compress_type == zipfile.ZIP_STORED


# ---------------------------------------------------------------- damage


def saved(tmp_path, suffix=".json", spec=None):
    path = tmp_path / f"golden{suffix}"
    golden(Sinusoidal(dim=4) if spec is None else spec, [0, 1, 5]).save(path)
    return path


def edited(path, edit):
    """A JSON file with its data changed, and the checksum as it was."""
    data = json.loads(path.read_text())
    edit(data)
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data["float64"]["vectors"]["values"].__setitem__(5, "0x1.0p+0"),
        lambda data: data["float32"]["vectors"]["values"].__setitem__(5, "0.5"),
        lambda data: data["float64"]["vectors"]["shape"].reverse(),
        lambda data: data["spec"].update(base=10_001.0),
        lambda data: data["positions"].reverse(),
        lambda data: data["frequencies"].pop(),
        lambda data: data.update(posenc="9.9"),
        lambda data: data.update(more=1),
        lambda data: data.pop("length"),
        lambda data: data.update(sha256="0" * 64),
        lambda data: data.pop("sha256"),
    ],
)
def test_edited_files_are_refused(edit, tmp_path):
    path = edited(saved(tmp_path), edit)
    with pytest.raises(
        ValueError, match=r"golden.json was damaged or edited: its checksum.*SHA-256"
    ):
        Golden.load(path)


def test_reformatted_json_is_the_same_file(tmp_path):
    path = edited(saved(tmp_path), lambda data: None)
    assert Golden.load(path).differences() == ()


def test_files_of_another_kind_are_refused(tmp_path):
    path = edited(saved(tmp_path), lambda data: data.update(format="posenc golden 2"))
    with pytest.raises(ValueError, match=r"golden.json must hold.*'posenc golden 1'.*golden 2"):
        Golden.load(path)
    path.write_text("[1, 2]")
    with pytest.raises(ValueError, match=r"'posenc golden 1'; got 'list'"):
        Golden.load(path)
    path.write_text('{"format": "posenc gol')
    with pytest.raises(ValueError, match=r"golden.json cannot be read as .json: Unterminated"):
        Golden.load(path)
    path.write_text("[" * 100_000)
    with pytest.raises(ValueError, match="cannot be read as .json"):
        Golden.load(path)
    with pytest.raises(ValueError, match=r"`path` must end in .json or .npz; got 'golden.txt'"):
        golden(Sinusoidal(dim=2), [0]).save(tmp_path / "golden.txt")
    with pytest.raises(ValueError, match=r"`path` must end in .json or .npz; got 'golden'"):
        Golden.load(tmp_path / "golden")
    with pytest.raises(FileNotFoundError, match=r"missing\.json"):
        Golden.load(tmp_path / "missing.json")


def test_npz_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "golden.npz"
    path.write_bytes(b"not a zip")
    with pytest.raises(ValueError, match=r"golden.npz cannot be read as .npz: File is not a zip"):
        Golden.load(path)
    np.savez(path, cos=np.zeros(3))
    with pytest.raises(ValueError, match=r"golden.npz cannot be read as .npz: 'header'"):
        Golden.load(path)
    np.savez(path, header=np.asarray([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match=r"allow_pickle=False"):
        Golden.load(path)


def test_an_array_changed_in_npz_is_refused(tmp_path):
    path = saved(tmp_path, ".npz")
    with np.load(path) as arrays:
        members = dict(arrays)
    members["float64/vectors"][1, 1] += 1e-16
    members["float64/vectors"][1, 2] *= 1 + 2**-52
    np.savez(path, **members)
    with pytest.raises(ValueError, match="damaged or edited"):
        Golden.load(path)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_no_damage_gets_through(suffix, tmp_path):
    path = saved(tmp_path, suffix)
    whole, data = path.read_bytes(), golden(Sinusoidal(dim=4), [0, 1, 5]).to_data()
    random = np.random.default_rng(0)
    for _ in range(150):
        damaged = bytearray(whole)
        if random.integers(4) == 0:
            damaged = damaged[: random.integers(len(whole))]
        else:
            damaged[random.integers(len(whole))] ^= 1 << random.integers(8)
        path.write_bytes(damaged)
        # What still loads has lost a space, or a byte of the zip that says nothing of its content.
        with contextlib.suppress(ValueError):
            assert Golden.load(path).to_data() == data


# ---------------------------------------------------------------- differences


def test_differences_name_array_and_index():
    one = golden(Rotary(dim=4), [0, 1])
    one.float64["cos"][1, 0] += 0.25
    one.float64["sin"][:] = 0.0
    cos, sin = one.differences()
    assert cos.startswith("cos in float64 differs in 1 of 4 values, by up to 2.5e-01; the first at")
    file, ours = (math.cos(1) + 0.25).hex(), math.cos(1).hex()
    assert f"index (1, 0): {file} in the file, {ours} in posenc" in cos
    assert sin.startswith("sin in float64 differs in 2 of 4 values")
    assert one.differences(tolerance=0.26)[0].startswith("sin")
    assert one.differences(tolerance=1.0) == ()


def test_differences_in_shape_names_and_frequencies():
    one = golden(Rotary(dim=4), [0, 1])
    other = dataclasses.replace(one, float64=one.float64 | {"cos": np.zeros((2, 3))})
    assert other.differences() == (
        "cos in float64 has shape (2, 3) in the file and (2, 2) in posenc.",
    )
    other = dataclasses.replace(one, float32={"tangent": np.zeros((2, 2), np.float32)})
    assert other.differences() == ("the file has tangent; posenc has cos, sin, rotated.",)
    other = dataclasses.replace(one, frequencies=(1.0, 0.02))
    assert other.differences() == ("frequencies differ.",)
    other = dataclasses.replace(one, float64=one.float64 | {"cos": np.full((2, 2), math.nan)})
    assert "differs in 4 of 4 values" in other.differences()[0]


def test_an_older_mistake_is_found(tmp_path):
    # A file written by a version that had another base for the same spec, signed as it should be.
    right, wrong = golden(Rotary(dim=4)), golden(Rotary(dim=4, base=9_999.0))
    forged = dataclasses.replace(wrong, spec=right.spec, posenc="0.0.1")
    forged.save(tmp_path / "golden.npz")
    found = Golden.load(tmp_path / "golden.npz").differences()
    assert [sentence.split()[0] for sentence in found] == [
        *("frequencies", "cos", "sin", "rotated", "cos", "sin", "rotated")
    ]


def test_infinities_are_equal_to_themselves():
    one = golden(Alibi(heads=1), [0], keys=[0, 1])
    assert one.differences() == ()
    one.float64["bias"][0, 0, 1] = 0.0
    assert "by up to inf" in one.differences(tolerance=1e300)[0]


def test_errors():
    with pytest.raises(TypeError, match=r"`encoding` must be an encoding of posenc.*got Yarn"):
        golden(Yarn(factor=4.0, original_length=4096))
    with pytest.raises(TypeError, match=r"segments of a text: take its two parts"):
        golden(Bipe(intra=Sinusoidal(dim=4), inter=Alibi(heads=2)))
    with pytest.raises(TypeError, match=r"positions alone.*no queries and keys.*got Shaw"):
        golden(Shaw(dim=4, max_distance=2))
    with pytest.raises(TypeError, match=r"`keys` must be left out, because Rotary is no bias"):
        golden(Rotary(dim=4), keys=[0])
    with pytest.raises(TypeError, match=r"`length` must be left out, because Alibi does not"):
        golden(Alibi(heads=2), length=5)
    with pytest.raises(TypeError, match=r"`length` must be left out, because XPos does not"):
        golden(XPos(dim=4), length=5)
    with pytest.raises(TypeError, match=r"`positions` must be integers.*float64"):
        golden(Rotary(dim=4), [0.5])
    with pytest.raises(ValueError, match=r"`positions` must lie within 2\*\*31"):
        golden(Rotary(dim=4), [2**31])
    with pytest.raises(ValueError, match=r"`keys` must lie within 2\*\*31"):
        golden(Alibi(heads=2), [0], keys=[-(2**31)])
    with pytest.raises(ValueError, match=r"`positions` must have shape \(tokens\); got \(2, 1\)"):
        golden(Rotary(dim=4), [[0], [1]])
    with pytest.raises(ValueError, match=r"`positions` must have shape \(tokens, 2\); got \(3,\)"):
        golden(SinusoidalAxes(dim=8), [0, 1, 2])
    with pytest.raises(ValueError, match=r"`tolerance` must be at least 0"):
        golden(Rotary(dim=4), [0]).differences(tolerance=-1.0)
    with pytest.raises(TypeError, match=r"`positions` must be integers"):
        golden(Rotary(dim=4), [])
