"""Specs as data, JSON and short text: whole round trips, and errors that name the field."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

import posenc
from posenc import spec

specs = st.one_of(
    st.builds(
        posenc.Sinusoidal,
        dim=st.integers(1, 64).map(lambda half: 2 * half),
        base=st.floats(1.5, 1e9),
        layout=st.sampled_from(["interleaved", "half"]),
        offset=st.integers(-3, 3),
    ),
    st.builds(
        posenc.Rotary,
        dim=st.just(64),
        rotary_dim=st.sampled_from([None, 2, 32]),
        scaling=st.none() | st.builds(posenc.Linear, factor=st.floats(1, 64)),
    ),
)


@given(specs)
def test_round_trips(encoding):
    assert spec.from_data(spec.to_data(encoding)) == encoding
    assert spec.from_json(spec.to_json(encoding)) == encoding
    assert spec.parse(spec.to_json(encoding)) == encoding
    assert spec.parse(spec.to_text(encoding)) == encoding


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("sinusoidal:dim=4", posenc.Sinusoidal(dim=4)),
        (
            "sinusoidal:dim=4,base=1e6,layout=half",
            posenc.Sinusoidal(dim=4, base=1e6, layout="half"),
        ),
        ("sinusoidal:dim=5,odd='trim',offset=-1", posenc.Sinusoidal(dim=5, odd="trim", offset=-1)),
        (
            "rotary:dim=8,rotary_dim=none,scaling=linear(factor=4.0)",
            posenc.Rotary(dim=8, scaling=posenc.Linear(factor=4.0)),
        ),
        ("linear(factor=2)", posenc.Linear(factor=2)),
        ('{"kind": "sinusoidal", "dim": 4}', posenc.Sinusoidal(dim=4)),
    ],
)
def test_parse(text, want):
    assert spec.parse(text) == want


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "sinusoidal:dim",
        "sinusoidal:dim=4,dim=8",
        "sinusoidal:4",
        "sinusoidal:dim=2+2",
        "sinusoidal:dim=__import__('os').system('true')",
        "sinusoidal:dim=4)(",
        "sinusoidal:dim=" + "(" * 500 + "4" + ")" * 500,
        "a b c",
    ],
)
def test_parse_reads_values_only(text):
    with pytest.raises(ValueError, match=r"cannot read the encoding|'kind' must be one of"):
        spec.parse(text)


def test_errors_name_the_field():
    with pytest.raises(ValueError, match=r"no field 'dims'; its fields are dim, base"):
        spec.parse("sinusoidal:dims=4")
    with pytest.raises(ValueError, match=r"sinusoidal needs 'dim', which the data lacks"):
        spec.from_data({"kind": "sinusoidal"})
    with pytest.raises(ValueError, match=r"'kind' must be one of sinusoidal, .*got 'sin'"):
        spec.from_data({"kind": "sin", "dim": 4})
    with pytest.raises(ValueError, match=r"got 'sinusoidl'. Did you mean 'sinusoidal'\?"):
        spec.parse("sinusoidl:dim=4")
    with pytest.raises(ValueError, match=r"got None"):
        spec.from_data({"dim": 4})
    with pytest.raises(TypeError, match=r"must be a mapping"):
        spec.from_data([1])
    with pytest.raises(ValueError, match=r"must be JSON"):
        spec.from_json("{dim: 4}")
    with pytest.raises(ValueError, match=r"'dim' stands there twice"):
        spec.from_json('{"kind": "sinusoidal", "dim": 4, "dim": 8}')
    with pytest.raises(ValueError, match=r"nested too deeply"):
        spec.from_json('{"kind":' * 100_000)
    with pytest.raises(TypeError, match=r"must be an encoding or a scaling.*got int"):
        spec.to_data(4)
    with pytest.raises(TypeError, match=r"`dim` must be an integer"):
        spec.parse("sinusoidal:dim=four")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "rotary:dim=8,scaling=linear(factor=0.5)",
            r"^`scaling\.factor` must be at least 1\.0; got factor=0\.5",
        ),
        ("rotary:dim=8,scaling=yarn(original_length=8)", r"^`scaling`: yarn needs 'factor'"),
        (
            "rotary:dim=8,scaling=yarn(factor=2)",
            r"^Yarn needs `original_length`, because .* Write Yarn\(original_length=4096",
        ),
        (
            "m_rotary:sections=[2,2],rotary=rotary(dim=8,scaling=linear(factor=0.5))",
            r"^`rotary\.scaling\.factor` must be at least 1\.0",
        ),
        (
            "m_rotary:sections=[2,2],rotary=rotary(dim=8,scaling=linear(times=2))",
            r"^`rotary\.scaling`: linear has no field 'times'",
        ),
        (
            "learned_axes:lengths=[2],widths=[2],axes=[linear(factor=0)]",
            r"^`axes\[0\]\.factor` must be at least 1\.0",
        ),
    ],
)
def test_errors_of_nested_specs_name_the_way(text, why):
    with pytest.raises(ValueError, match=why):
        spec.parse(text)
    with pytest.raises(TypeError, match=r"^`scaling\.factor` must be a number; got 'four'"):
        spec.parse("rotary:dim=8,scaling=linear(factor=four)")


def test_numbers_of_numpy():
    encoding = posenc.Rotary(dim=8, base=np.float64(5e5))
    assert spec.to_text(encoding) == "rotary:dim=8,base=500000.0"
    assert spec.parse(spec.to_text(encoding)) == spec.from_json(spec.to_json(encoding)) == encoding
    cure = r"must be an integer; got np.int64\(8\) \(int64\)\. Write int\(\.\.\.\) around it"
    with pytest.raises(TypeError, match=cure):
        posenc.Rotary(dim=np.int64(8))
    with pytest.raises(TypeError, match=r"`heads` must be an integer; got True \(bool\)\.$"):
        posenc.Alibi(heads=True)


@pytest.mark.parametrize("kind", sorted(spec._KINDS))
def test_every_kind_is_documented_frozen_data(kind):
    cls = spec._KINDS[kind]
    assert dataclasses.is_dataclass(cls)
    assert cls.__dataclass_params__.frozen
    for part in ("Args:", "Raises:", "Example:", "Source:"):
        assert part in cls.__doc__, f"{cls.__name__} lacks {part}"


def test_json_is_plain():
    text = spec.to_json(posenc.Rotary(dim=8, scaling=posenc.Linear(factor=2.0)))
    assert json.loads(text)["scaling"] == {"kind": "linear", "factor": 2.0}
