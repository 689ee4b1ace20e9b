"""Explanations: every printed formula gives its result, and the results are the true ones."""

import dataclasses
import json
import math
import re

import mpmath
import numpy as np
import pytest

import posenc.explanations
from posenc import Rotary, Sinusoidal
from posenc.alibi import Alibi
from posenc.axes import SinusoidalAxes
from posenc.axial import AxialRotary
from posenc.bipe import Bipe
from posenc.by_parts import Llama3, NTKByParts, Yarn
from posenc.explanations import Explanation, Line, explain
from posenc.fire import Fire
from posenc.fourier import Nerf
from posenc.kerple import Kerple
from posenc.learned import Learned
from posenc.longrope import LongRope
from posenc.mrope import MRotary
from posenc.scaling import NTK, DynamicNTK, Linear, Proportional
from posenc.shaw import Shaw
from posenc.swin import Swin
from posenc.t5 import T5
from posenc.xpos import XPos

LONGROPE = LongRope(
    short_factors=(1.0, 1.0, 1.0, 1.0),
    long_factors=(1.0, 1.5, 4.0, 16.0),
    original_length=4096,
    factor=16.0,
)

SCALINGS = [
    Linear(factor=4.0),
    NTK(factor=4.0),
    DynamicNTK(original_length=4096, factor=2.0),
    NTKByParts(factor=16.0, original_length=4096),
    Yarn(factor=16.0, original_length=4096),
    Yarn(factor=40.0, original_length=4096, truncate=False, mscale_all_dim=0.8),
    Yarn(factor=4.0, original_length=4096, attention_factor=1.5),
    Llama3(factor=8.0, original_length=8192),
    Llama3(factor=16.0, original_length=8192, high_frequency_factor=1.0),
    Proportional(fraction=0.25, factor=2.0),
]

EXAMPLES = [
    Sinusoidal(dim=4),
    Sinusoidal(dim=512, base=500.0, layout="half"),
    Sinusoidal(dim=8, spacing="endpoint", first="cos", offset=2),
    Sinusoidal(dim=2, spacing="endpoint"),
    Sinusoidal(dim=7, odd="trim"),
    Sinusoidal(dim=7, odd="trim", layout="half"),
    Sinusoidal(dim=7, odd="pad", layout="half", spacing="endpoint"),
    Sinusoidal(dim=9, odd="pad"),
    Rotary(dim=4),
    Rotary(dim=128, base=5e5, layout="interleaved"),
    Rotary(dim=9, rotary_dim=4),
    Rotary(dim=64, rotary_dim=16, exponent="head", layout="interleaved"),
    *(Rotary(dim=128, scaling=rule) for rule in SCALINGS),
    Rotary(dim=2, scaling=NTK(factor=4.0)),
    Rotary(dim=12, rotary_dim=8, scaling=LONGROPE),
    Alibi(heads=8),
    Alibi(heads=6, direction="asymmetric", factor=2.0),
    Alibi(heads=12, direction="symmetric", exponent=4.0),
    Alibi(heads=6, rule="plain"),
    T5(heads=2),
    T5(heads=2, buckets=20, max_distance=300, bidirectional=False),
    Learned(length=10, dim=6),
    Fire(heads=6),
    Swin(heads=3, window=(7, 7)),
]

SIGNS = {
    "sin": math.sin,
    "cos": math.cos,
    "ln": math.log,
    "sqrt": math.sqrt,
    "pi": math.pi,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "clip": lambda x, low, high: min(max(x, low), high),
}


def name(spec):
    return re.sub(r"[(),= ']+", "-", repr(spec))[:60]


def lines(explanation):
    """Every line of every step by (step, line): (formula with all digits, result)."""
    return {
        (step.name, line.name): (line.template.format(*map(repr, line.numbers)), line.result)
        for step in explanation.steps
        for line in step.lines
    }


def results(explanation, step):
    """The results of the one step whose name begins so, by line."""
    found = {s: line for (s, line) in lines(explanation) if s.startswith(step)}
    assert len(found) == 1, f"{step}: {list(found)}"
    return {
        line: result for (s, line), (_, result) in lines(explanation).items() if s.startswith(step)
    }


def answer(explanation):
    return explanation.answers[0].result


def printed(text):
    """The numbers at the ends of lines, after the equals sign."""
    return [float(number) for number in re.findall(r"= (-?\d[-+.e\d]*)$", text, re.MULTILINE)]


def waves(angles):
    with mpmath.workdps(50):
        return [float(f(angle)) for angle in angles for f in (mpmath.sin, mpmath.cos)]


# ---------------------------------------------------------------- every encoding


@pytest.mark.parametrize("spec", EXAMPLES, ids=name)
def test_each_formula_gives_its_result(spec):
    explanation = explain(spec)
    for (step, line), (formula, result) in lines(explanation).items():
        if formula:
            got = eval(formula, {**SIGNS}, {})
            assert got == pytest.approx(result, rel=1e-11, abs=1e-11), f"{step}, {line}: {formula}"
    for line in explanation.answers:
        for value in line.result if isinstance(line.result, tuple) else [line.result]:
            assert type(value) in (int, float)


@pytest.mark.parametrize("spec", EXAMPLES, ids=name)
def test_text_fits(spec):
    explanation = explain(spec)
    for width in 40, 61, 80:
        for digits in 1, 4, 16:
            text = explanation.text(width=width, digits=digits)
            assert max(map(len, text.splitlines())) <= width
            assert not re.search(r" +$", text, re.MULTILINE)


@pytest.mark.parametrize("spec", EXAMPLES, ids=name)
def test_data_is_json_and_keeps_all_digits(spec):
    explanation = explain(spec)
    data = json.loads(json.dumps(explanation.to_data(), allow_nan=False))
    assert posenc.spec.from_data(data["spec"]) == spec
    assert [step["name"] for step in data["steps"]] == [step.name for step in explanation.steps]
    for step, same in zip(data["steps"], explanation.steps, strict=True):
        for line, other in zip(step["lines"], same.lines, strict=True):
            result = line["result"]
            assert (tuple(result) if isinstance(result, list) else result) == other.result
            assert line["substituted"] == other.substituted()
    assert len(data["answers"]) == len(explanation.answers)


@pytest.mark.parametrize("width", range(40, 80, 3))
def test_the_text_of_the_spec_can_be_read_back(width):
    spec = Rotary(dim=8, scaling=LONGROPE)
    text = explain(spec).text(width=width)
    assert posenc.spec.parse(text[text.index("rotary:") : text.index("\n\n")]) == spec


# ---------------------------------------------------------------- sinusoidal


def test_four_features_at_position_2():
    explanation = explain(Sinusoidal(dim=4), position=2)
    assert results(explanation, "Divisor") == {"pair 0": 1.0, "pair 1": 100.0}
    assert results(explanation, "Angle") == {"pair 0": 2.0, "pair 1": 0.02}
    assert list(results(explanation, "Sines").values()) == pytest.approx(waves([2, 0.02]))
    assert list(results(explanation, "Compare with position 3").values()) == pytest.approx(
        waves([3, 0.03])
    )
    assert answer(explanation) == pytest.approx(waves([2, 0.02]))
    text = str(explanation)
    assert "(0.9093, -0.4161, 0.0200, 0.9998)" in text
    assert printed(text) == [1, 100, 2, 0.02, *(0.9093, -0.4161, 0.02, 0.9998)] + [
        *(0.1411, -0.9900, 0.0300, 0.9996)
    ]


def test_one_pair_of_512_features():
    explanation = explain(Sinusoidal(dim=512), position=1, pairs=[0])
    assert "sin(1) = 0.84147098" in explanation.text(digits=8)
    assert explanation.note.startswith("Shown are 1 of 256 pairs: 0. The other 255")
    assert len(answer(explanation)) == 512


def test_wide_vectors_show_a_few_pairs():
    explanation = explain(Sinusoidal(dim=512))
    assert list(results(explanation, "Angle")) == ["pair 0", "pair 1", "pair 128", "pair 255"]
    assert "4 of 256 pairs: 0, 1, 128, 255. The other 252" in explanation.note
    assert explain(Sinusoidal(dim=8)).note == ""


@pytest.mark.parametrize(
    ("options", "order"),
    [
        # the features of (sin 0, cos 0, sin 1, cos 1, ...) in the order in which they stand
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"layout": "half"}, [0, 2, 4, 1, 3, 5]),
        ({"first": "cos"}, [1, 0, 3, 2, 5, 4]),
        ({"layout": "half", "first": "cos"}, [1, 3, 5, 0, 2, 4]),
    ],
)
def test_features_stand_where_the_layout_says(options, order):
    truth = waves([5 / 10_000 ** (2 * k / 6) for k in range(3)])
    explanation = explain(Sinusoidal(dim=6, **options), position=5)
    features = results(explanation, "Sines")
    assert [features[f"feature {k}"] for k in range(6)] == pytest.approx([truth[i] for i in order])
    assert answer(explanation) == pytest.approx([truth[i] for i in order])


def test_offset_endpoint_and_odd_widths():
    # fairseq: the first token stands at 2, and the last divisor is the base itself.
    explanation = explain(
        Sinusoidal(dim=7, spacing="endpoint", offset=2, odd="pad", layout="half"), position=0
    )
    assert results(explanation, "Where counting begins") == {"place": 2}
    assert results(explanation, "Angle")["pair 0"] == 2.0
    assert results(explanation, "Divisor")["pair 2"] == 10_000.0
    features = results(explanation, "Sines")
    assert features["feature 0"] == pytest.approx(math.sin(2))
    assert features["feature 3"] == pytest.approx(math.cos(2))
    assert features["feature 6"] == 0.0
    assert "odd feature at the end is 0" in str(explanation)
    # Marian: the width itself stands in the exponent, and the last cosine is missing.
    explanation = explain(Sinusoidal(dim=3, odd="trim"), position=1)
    assert answer(explanation) == pytest.approx([0.841471, 0.540302, 0.002154], abs=5e-7)
    assert "no room for the last cos" in str(explanation)


def test_divisors_and_angles_are_exact():
    # 49 * (1 / 49) is not 1 in floating point, so 1 / frequency would show 49.00000000000001.
    explanation = explain(Sinusoidal(dim=4, base=49.0**2), position=3)
    assert results(explanation, "Divisor")["pair 1"] == 49.0
    assert results(explain(Sinusoidal(dim=8), position=3), "Angle")["pair 1"] == 0.3


@pytest.mark.parametrize("offset", [0, 3])
def test_the_last_position_is_compared_with_the_one_before(offset):
    last = 2**31 - 1 - offset
    explanation = explain(Sinusoidal(dim=4, offset=offset), position=last)
    with mpmath.workdps(50):
        truth = waves([2**31 - 1, mpmath.mpf(2**31 - 1) / 100])
    assert answer(explanation) == pytest.approx(truth, abs=1e-15)
    assert f"Compare with position {last - 1}" in str(explanation)


# ---------------------------------------------------------------- rotary

# Computed from Su et al. 2021, arXiv:2104.09864, section 3.4.2, for x = 1 ... 8 at position 3.
TURNED = {
    "interleaved": [
        *(-1.272232512720, -1.838864985141, 1.683928640731, 4.707906576486),
        *(4.817777167530, 6.147277703506, 6.975968536024, 8.020963968527),
    ],
    "half": [
        *(-1.695592536900, 0.137551738283, 2.788681599829, 3.975982036013),
        *(-4.808842474942, 6.323059348076, 7.086836736850, 8.011963982027),
    ],
}


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_turning_step_by_step(layout):
    explanation = explain(Rotary(dim=8, layout=layout), position=3)
    assert answer(explanation) == pytest.approx(TURNED[layout], abs=1e-11)
    features = results(explanation, "Turn the query")
    assert [features[f"feature {k}"] for k in range(8)] == pytest.approx(TURNED[layout], abs=1e-11)


@pytest.mark.parametrize(
    ("layout", "score"), [("half", 111.267546661), ("interleaved", 103.361616616)]
)
def test_the_score_depends_on_the_gap(layout, score):
    # Query 1 ... 8 and key 8 ... 1, computed from the formula for positions 7 and 2.
    explanation = explain(Rotary(dim=8, layout=layout), position=7, key=2)
    for step in "Score of the query at 7", "Score of the query at 107", "Why the score":
        assert results(explanation, step)["score"] == pytest.approx(score, abs=1e-8)
    assert explanation.answers[1].result == pytest.approx(score, abs=1e-8)


def test_pairs_that_are_left_out_are_in_the_score():
    explanation = explain(Rotary(dim=128), position=9, key=4, pairs=[3])
    whole = explain(Rotary(dim=128), position=9, key=4, pairs=range(64))
    for step in "Score of the query at 9", "Why the score":
        some = results(explanation, step)
        assert list(some) == ["pair 3", "63 others", "score"]
        assert some["score"] == pytest.approx(results(whole, step)["score"], rel=1e-14)


def test_partial_turning():
    explanation = explain(Rotary(dim=8, rotary_dim=4), position=3)
    want = [-1.413352520780, 1.879118066688, -2.828857481741, 4.058191135401, 5, 6, 7, 8]
    assert answer(explanation) == pytest.approx(want, abs=1e-11)
    assert results(explanation, "Turn")["unturned"] == (5.0, 6.0, 7.0, 8.0)
    # Key 8 ... 1: the features that do not turn give 5 * 4 + 6 * 3 + 7 * 2 + 8 * 1 everywhere.
    assert results(explanation, "Score of the query at 103")["unturned"] == 60
    assert "rotary_dim" in str(explanation)
    assert "rotary_dim)" not in str(explain(Rotary(dim=8, rotary_dim=4, exponent="head")))


def test_own_vector():
    vector = [0.5, -1.0, 2.0, 0.0]
    explanation = explain(Rotary(dim=4), position=1, key=0, vector=vector)
    turned = np.asarray([1, 0.01])
    a, c = np.asarray(vector[:2]), np.asarray(vector[2:])
    want = [*(a * np.cos(turned) - c * np.sin(turned)), *(c * np.cos(turned) + a * np.sin(turned))]
    assert answer(explanation) == pytest.approx(want)
    assert explanation.answers[1].result == pytest.approx(np.dot(want, vector[::-1]))


def test_attention_factor_multiplies_turned_features_and_squares_in_the_score():
    plain = explain(Rotary(dim=8, rotary_dim=4), position=3)
    rule = Yarn(factor=1.0, original_length=4096, attention_factor=1.5)
    scaled = explain(Rotary(dim=8, rotary_dim=4, scaling=rule), position=3)
    factors = np.asarray([1.5, 1.5, 1.5, 1.5, 1, 1, 1, 1])
    np.testing.assert_allclose(answer(scaled), factors * answer(plain))
    for step in "Score of the query at 3", "Why the score":
        assert results(scaled, step)["pair 0"] == pytest.approx(
            2.25 * results(plain, step)["pair 0"]
        )


# ---------------------------------------------------------------- scaling


def scaled(rule, *, dim=128, base=10_000.0, **options):
    return explain(Rotary(dim=dim, base=base, scaling=rule), **options)


def test_yarn():
    explanation = scaled(Yarn(factor=4.0, original_length=32_768), base=1e6)
    found = results(explanation, "Between which pairs")
    # Computed from Peng et al. 2023, arXiv:2309.00071, section 3.4, for Qwen2.5's settings.
    assert found["index(32)"] == pytest.approx(23.5959, abs=5e-5)
    assert found["index(1)"] == pytest.approx(39.6509, abs=5e-5)
    assert (found["low"], found["high"]) == (23, 40)
    assert results(explanation, "Attention")["cos and sin"] == pytest.approx(1.138629436112)
    outcome = results(explanation, "What became")
    assert list(outcome) == ["kept: 0 to 23", "in between: 24 to 39", "divided: 40 to 63"]
    assert outcome["divided: 40 to 63"] == 0.25
    assert "1.1386" in str(explanation)


def test_yarn_of_llama_2_pair_by_pair():
    rule = Yarn(factor=16.0, original_length=4096)
    explanation = scaled(rule, pairs=[20, 21, 33, 45, 63])
    frequencies = results(explanation, "Scaled frequencies")
    want = [5.623413251903e-02, 4.694085999796e-02, 4.600435467850e-03, 1.517716047318e-04]
    assert list(frequencies.values()) == pytest.approx([*want, 7.217387404309e-06], rel=1e-11)
    kept = results(explanation, "How much")
    assert list(kept.values()) == pytest.approx([1, 1 - 1 / 26, 0.5, 1 / 26, 0])


def test_yarn_of_gpt_oss_is_not_truncated():
    rule = Yarn(factor=32.0, original_length=4096, truncate=False)
    explanation = scaled(rule, dim=64, base=150_000.0)
    found = results(explanation, "Between which pairs")
    assert found["low"] == pytest.approx(8.092779115512)
    assert found["high"] == pytest.approx(17.398024501589)
    ratios = results(explanation, "What became")["in between: 9 to 17"]
    assert [ratios[0], ratios[3], ratios[8]] == pytest.approx(
        [0.905551095604, 0.593227252501, 0.072687513995]
    )
    assert "widened" not in str(explanation)


def test_yarn_of_deepseek_puts_its_factor_into_the_softmax():
    rule = Yarn(factor=40.0, original_length=4096, mscale_all_dim=1.0)
    found = results(scaled(rule, dim=64), "Attention")
    assert found == pytest.approx({"cos and sin": 1.0, "softmax scale": 1.873854207093})


def test_bases():
    explanation = scaled(NTK(factor=4.0))
    found = results(explanation, "A larger base")
    assert found["new base"] == pytest.approx(40889.942432, abs=1e-6)
    outcome = results(explanation, "What became")
    assert list(outcome) == ["kept: 0", "in between: 1 to 62", "divided: 63"]
    rule = DynamicNTK(original_length=4096, factor=2.0)
    explanation = scaled(rule, length=8192)
    assert results(explanation, "Factor for a text of 8192")["growth"] == 3.0
    found = results(explanation, "A larger base")
    assert found["new base"] == pytest.approx(30527.736749, abs=1e-6)
    assert results(scaled(rule), "What became") == {"kept: 0 to 63": 1.0}


def test_linear_and_by_parts():
    found = results(scaled(Linear(factor=4.0), pairs=[0, 1, 63]), "Linear")
    assert list(found.values()) == pytest.approx([0.25, 0.216491080840, 2.886954961724e-05])
    explanation = scaled(NTKByParts(factor=16.0, original_length=4096), pairs=[21, 33, 45])
    # Ratios of the published ramp, from Peng et al. 2023, section 3.2, computed in float64.
    frequencies = results(explanation, "Scaled").values()
    ratios = [w * 10_000 ** (2 * k / 128) for w, k in zip(frequencies, [21, 33, 45], strict=True)]
    assert ratios == pytest.approx([0.992298802647, 0.202980132258, 0.062617218307])


def test_llama3():
    rule = Llama3(factor=8.0, original_length=8192)
    explanation = scaled(rule, base=500_000.0, pairs=[28, 29, 30, 34, 35])
    assert list(results(explanation, "What became"))[1] == "in between: 29 to 34"
    kept = list(results(explanation, "How much").values())
    ratios = [keep + (1 - keep) / 8 for keep in kept]
    want = [1, 0.828168411837, 0.643743133128, 0.190210743641, 0.125]
    assert ratios == pytest.approx(want)
    # Llama 4 Scout: both limits are 1, so a pair is kept whole or not at all.
    scout = Llama3(factor=16.0, original_length=8192, high_frequency_factor=1.0)
    explanation = scaled(scout, base=500_000.0)
    assert results(explanation, "What became") == {"kept: 0 to 34": 1, "divided: 35 to 63": 0.0625}
    assert set(results(explanation, "How much").values()) == {0.0, 1.0}


def test_longrope():
    short, long = (scaled(LONGROPE, dim=8, length=length) for length in (4096, 4097))
    assert list(results(short, "A factor of its own").values()) == pytest.approx(
        [1, 0.1, 0.01, 1e-3]
    )
    assert list(results(long, "A factor of its own").values()) == pytest.approx(
        [1, 0.0666666667, 0.0025, 6.25e-5]
    )
    wide = dataclasses.replace(LONGROPE, factor=32.0)
    found = results(scaled(wide, dim=8), "Attention")
    assert found["cos and sin"] == pytest.approx(1.190238071424)
    # Microsoft's growing form, halfway in steps of the original length: 1 + (f - 1) * 1 / 15.
    growing = scaled(dataclasses.replace(LONGROPE, dynamic=True), dim=8, length=8192)
    assert results(growing, "How far")["share"] == pytest.approx(1 / 15)
    want = [1, 0.1 / 1.0333333333, 0.01 / 1.2, 0.001 / 2]
    assert list(results(growing, "A factor of its own").values()) == pytest.approx(want)


def test_proportional():
    explanation = scaled(Proportional(fraction=0.25), dim=512, base=1e6)
    assert results(explanation, "How many pairs turn") == {"turning": 64}
    assert results(explanation, "What became") == {"kept: 0 to 63": 1.0, "stopped: 64 to 255": 0.0}
    assert list(results(explanation, "Angle")) == ["pair 0", "pair 63", "pair 64", "pair 255"]


def test_a_rule_of_ones_own():
    class Halved(Linear):
        pass

    spec = Rotary(dim=8, scaling=Halved(factor=2.0))
    explanation = posenc.explanations.rotary.rotary(spec)
    assert results(explanation, "Scaled")["pair 0"] == 0.5


# ---------------------------------------------------------------- biases


def test_alibi():
    explanation = explain(Alibi(heads=8), position=3, heads=[0])
    assert results(explanation, "Distance") == {f"key {key}": 3 - key for key in range(4)}
    assert answer(explanation) == (-1.5, -1.0, -0.5, 0.0)
    explanation = explain(Alibi(heads=6), heads=range(6))
    # ofirpress/attention_with_linear_biases: four slopes of their own, then two of eight.
    assert list(results(explanation, "Slope").values()) == [
        *(0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125)
    ]
    plain = results(explain(Alibi(heads=6, rule="plain"), heads=[0]), "Slope")
    assert plain["head 0"] == pytest.approx(2 ** (-8 / 6))


def test_alibi_both_ways():
    row = {"position": 3, "heads": [0]}
    both = explain(Alibi(heads=8, direction="symmetric"), **row)
    assert answer(both) == (-1.5, -1.0, -0.5, 0.0, -0.5, -1.0)
    # google-deepmind/randomized_positional_encodings: keys behind count half a token less.
    uneven = explain(Alibi(heads=8, direction="asymmetric"), **row)
    assert answer(uneven) == (-1.25, -0.75, -0.25, 0.0, -0.5, -1.0)
    assert answer(explain(Alibi(heads=8), position=5, key=1, heads=[1])) == (-1.0,)
    assert answer(explain(Alibi(heads=8), position=5, key=5)) == (0.0,)
    far = explain(Alibi(heads=2, direction="symmetric"), position=2**31 - 1)
    assert len(answer(far)) == 4


@pytest.mark.parametrize(
    ("bidirectional", "distance", "bucket"),
    [
        # tensorflow/mesh, _relative_position_bucket: distance is query less key.
        *(
            (True, 1, 1),
            (True, -1, 17),
            (True, 8, 8),
            (True, -8, 24),
            (True, 15, 9),
            (True, 127, 15),
        ),
        *((True, 16, 10), (True, -128, 31), (False, 15, 15), (False, 18, 16), (False, 19, 17)),
        *((False, 64, 26), (False, 112, 30), (False, 113, 31), (False, -5, 0), (False, 99999, 31)),
    ],
)
def test_t5(bidirectional, distance, bucket):
    explanation = explain(
        T5(heads=1, bidirectional=bidirectional), position=200, key=200 - distance
    )
    assert answer(explanation) == bucket
    assert results(explanation, "Distance") == {
        f"key {200 - distance}": abs(distance) if bidirectional else max(distance, 0)
    }


def test_t5_shows_every_kind_of_bucket():
    buckets = [line.result for line in explain(T5(heads=1)).answers]
    assert {0, 1, 7, 15, 17} < set(buckets)
    assert any(8 <= bucket < 15 for bucket in buckets)
    assert [line.result for line in explain(T5(heads=1), position=1).answers] == [1, 0, 17, 24]
    causal = explain(T5(heads=1, bidirectional=False), position=2**31 - 1)
    assert [line.result for line in causal.answers][:2] == [31, 26]


# ---------------------------------------------------------------- other encodings


def test_others_show_formula_and_values():
    spec = Learned(length=10, dim=6, offset=1)
    explanation = explain(spec, position=3)
    assert explanation.steps[0].formula == "encode(position) = table[position + offset]"
    table = spec.initial_weights()["table"]
    assert answer(explanation) == tuple(table[4].astype(float).tolist())
    assert "table" in explanation.note
    bias = explain(Kerple(heads=2), position=5, key=2)
    r1, r2 = Kerple(heads=2).initial_weights().values()
    want = -np.maximum(r1.astype(float), 0.01) * np.log(1 + 3 * np.maximum(r2.astype(float), 0.01))
    np.testing.assert_allclose([line.result for line in bias.answers], want, rtol=1e-14)


def test_grids_take_one_number_an_axis():
    explanation = explain(Swin(heads=3, window=(7, 7)), position=(1, 0), key=(0, 0), heads=[2])
    table = Swin(heads=3, window=(7, 7)).initial_weights()["table"]
    assert answer(explanation) == float(table[97, 2])
    assert "position (1, 0) for a key at (0, 0)" in explanation.title


def test_xpos_has_a_table_for_either_role():
    # Sun et al. 2022, arXiv:2212.10554: the scales of query and key are each other's inverse.
    cos, sin, key_cos, key_sin = (
        np.asarray(line.result) for line in explain(XPos(dim=8), position=5).answers
    )
    turning = 5 * np.asarray([1, 0.1, 0.01, 0.001])
    np.testing.assert_allclose(cos * key_cos, np.cos(turning) ** 2)
    np.testing.assert_allclose(sin * key_sin, np.sin(turning) ** 2)


def test_length_reaches_the_rotary_encoding_within():
    scaled = Rotary(dim=8, scaling=DynamicNTK(original_length=100))
    spec = MRotary(rotary=scaled, sections=(1, 1, 2))
    for length in None, 200:
        cos, sin = (np.asarray(line.result) for line in explain(spec, length=length).answers)
        turning = np.asarray([1, 2, 3, 3]) * scaled.frequencies_at(length)  # position (1, 2, 3)
        np.testing.assert_allclose(cos, np.cos(turning), rtol=0, atol=1e-15)
        np.testing.assert_allclose(sin, np.sin(turning), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        (SinusoidalAxes(dim=12, axes=(2, 0, 1)), "(1, 2, 3)"),
        (MRotary(rotary=Rotary(dim=16), sections=(2, 3, 3)), "(1, 2, 3)"),
        (Nerf(octaves=2, axes=2), "(1, 2)"),
        (Learned(length=4, dim=2), "2"),
    ],
    ids=name,
)
def test_default_positions_have_the_right_number_of_axes(spec, place):
    assert explain(spec).title == f"What {type(spec).__name__} gives at position {place}"


# ---------------------------------------------------------------- options and errors


def test_digits():
    text = explain(Sinusoidal(dim=4), position=1).text(digits=10)
    assert "0.8414709848" in text
    assert "0.8415" in str(explain(Sinusoidal(dim=4), position=1))
    assert "sin(1.0366e-04) = 1.0366e-04" in str(explain(Sinusoidal(dim=512), position=1))
    tiny = str(explain(Rotary(dim=128, base=1e6)))
    assert "1.2409e-06" in tiny
    assert " 0.0000" not in tiny


def test_signs_do_not_pile_up():
    assert Line("", "{} - {} + {}", (1, -2, -3), 0).substituted() == "1 + 2 - 3"


def test_explanations_are_values():
    one = explain(Sinusoidal(dim=4))
    assert one == explain(Sinusoidal(dim=4))
    assert hash(one) == hash(explain(Sinusoidal(dim=4)))
    assert isinstance(one, Explanation)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'title'"):
        one.title = "other"


def test_other_options_print_other_numbers():
    # An example whose digits a mistake does not change teaches nothing.
    specs = [
        *(Sinusoidal(dim=8, **o) for o in ({}, {"layout": "half"}, {"first": "cos"})),
        *(Sinusoidal(dim=8, **o) for o in ({"spacing": "endpoint"}, {"offset": 1}, {"base": 1e5})),
    ]
    answers = [str(explain(spec)).split("Answer")[1] for spec in specs]
    assert len(set(answers)) == len(specs)


def test_errors():
    with pytest.raises(TypeError, match=r"scaling is explained with.*scaling=Yarn\("):
        explain(Yarn(factor=4.0, original_length=4096))
    with pytest.raises(TypeError, match=r"`encoding` must be an encoding of posenc.*got int"):
        explain(3)
    with pytest.raises(TypeError, match=r"positions alone.*no queries and keys.*got Shaw"):
        explain(Shaw(dim=4, max_distance=2))
    with pytest.raises(TypeError, match=r"segments of a text: take its two parts"):
        explain(Bipe(intra=Sinusoidal(dim=4), inter=Alibi(heads=2)))
    with pytest.raises(TypeError, match=r"`length` has no meaning for AxialRotary.*`position`\."):
        explain(AxialRotary(dim=8), length=5)
    with pytest.raises(
        TypeError, match=r"`heads` has no meaning for Sinusoidal.*`position`, `pairs`"
    ):
        explain(Sinusoidal(dim=4), heads=[0])
    with pytest.raises(TypeError, match=r"`vector` has no meaning for Learned"):
        explain(Learned(length=4, dim=4), vector=[1.0])
    with pytest.raises(ValueError, match=r"`pairs` must lie between 0 and 1; got 2"):
        explain(Sinusoidal(dim=4), pairs=[2])
    with pytest.raises(ValueError, match=r"`pairs` must lie between 0 and 1; got -1"):
        explain(Sinusoidal(dim=4), pairs=[-1])
    with pytest.raises(ValueError, match=r"`pairs` must name at least one"):
        explain(Rotary(dim=4), pairs=[])
    with pytest.raises(TypeError, match=r"`pairs` must be a list of integers.*got 1"):
        explain(Sinusoidal(dim=4), pairs=1)
    with pytest.raises(ValueError, match=r"`heads` must lie between 0 and 7; got 8"):
        explain(Alibi(heads=8), heads=[8])
    with pytest.raises(TypeError, match=r"`position` must be an integer; got 1.5"):
        explain(Sinusoidal(dim=4), position=1.5)
    with pytest.raises(TypeError, match=r"`position` must be an integer; got \(1, 2\)"):
        explain(Sinusoidal(dim=4), position=(1, 2))
    with pytest.raises(ValueError, match=r"`position` must lie within 2\*\*31 of 0.*2147483648"):
        explain(Rotary(dim=4), position=2**31)
    with pytest.raises(ValueError, match=r"`key` must lie within 2\*\*31"):
        explain(Rotary(dim=4), key=-(2**70))
    with pytest.raises(ValueError, match=r"`key` must not lie ahead.*key=3, position=2"):
        explain(Alibi(heads=2), position=2, key=3)
    with pytest.raises(ValueError, match=r"`vector` must have 4 numbers.*got 3"):
        explain(Rotary(dim=4), vector=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"`vector` must be finite"):
        explain(Rotary(dim=4), vector=[1.0, math.nan, 3.0, 4.0])
    with pytest.raises(ValueError, match=r"`width` must be at least 40"):
        explain(Sinusoidal(dim=4)).text(width=39)
    with pytest.raises(ValueError, match=r"`digits` must be at least 1"):
        explain(Sinusoidal(dim=4)).to_data(digits=0)
    with pytest.raises(TypeError, match=r"`length` must be an integer"):
        explain(Rotary(dim=4, scaling=DynamicNTK(original_length=10)), length=1.5)
