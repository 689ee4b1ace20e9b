"""What the page says of every encoding, and the settings that it offers."""

import dataclasses
import itertools
import json
import re
import xml.etree.ElementTree as ElementTree

import hypothesis
import hypothesis.strategies as st
import pytest
from latex2mathml.converter import convert

from posenc import Rotary, Yarn, spec
from posenc.explorer import fields, recipes, rooms
from posenc.explorer.methods import GROUPS, METHODS, QUESTIONS, STEPS

KINDS = list(spec.ENCODINGS)
every_kind = pytest.mark.parametrize("kind", KINDS)


def test_every_encoding_once_and_in_a_group():
    assert set(METHODS) == set(KINDS)
    assert list(METHODS) == [kind for kinds in GROUPS.values() for kind in kinds]
    for kind, method in METHODS.items():
        assert type(method.encoding) is spec.ENCODINGS[kind]
    for one, other in itertools.combinations(METHODS.values(), 2):
        assert one.name != other.name
        assert one.title != other.title
        assert one.lead != other.lead


@every_kind
def test_words(kind):
    method = METHODS[kind]
    assert method.acts in STEPS
    assert len(method.facts) == len(QUESTIONS)
    assert len(method.name) <= 20
    assert 2 <= len(method.notes) <= 3
    headings = [heading for heading, _ in method.notes]
    assert len(set(headings)) == len(headings)
    sentences = [method.lead, method.aloud, *(text for _, text in method.notes)]
    for text in sentences:
        assert text.strip() == text
        assert text.endswith(".")
        assert "  " not in text
    assert len(re.findall(r"\.(?: |$)", method.lead)) in (2, 3)
    for text in (method.name, method.title, *headings, *method.facts):
        assert text
        assert not text.endswith(".")
    assert not re.search(r"RoPE extrapolates|GPT-4|Claude|Gemini", " ".join(sentences))


@every_kind
def test_source_is_the_one_in_the_library(kind):
    source = METHODS[kind].facts[QUESTIONS.index("Source")]
    who, identifier = re.fullmatch(r"(\w+ et al\. \d{4}), (arXiv:\d{4}\.\d{5})", source).groups()
    told = " ".join(spec.ENCODINGS[kind].__doc__.split())
    assert who in told
    assert identifier in told


@pytest.mark.parametrize(
    "formula", sorted({formula for method in METHODS.values() for formula in method.formulas})
)
def test_formula_becomes_mathml(formula):
    root = ElementTree.fromstring(convert(formula, display="block"))
    texts = [node.text for node in root.iter() if node.text]
    # What the converter does not know it leaves standing as \name.
    assert texts
    assert not any("\\" in text for text in texts)


def whole_numbers(control):
    return range(control["min"], control["max"] + 1, control["step"])


@every_kind
def test_controls_are_whole(kind):
    controls = fields.controls(kind)
    assert json.loads(json.dumps(controls, allow_nan=False)) == controls
    names = [control["name"] for control in controls]
    assert len(set(names)) == len(names)
    for control in controls:
        assert control["group"] == "encoding"
        assert control["label"]
        if "options" in control:
            values = [option["value"] for option in control["options"]]
            assert len(set(values)) == len(values) > 1
            assert all(isinstance(value, str) for value in values)
            assert all(option["label"] for option in control["options"])
            assert control["default"] in values
        else:
            assert control["min"] <= control["default"] <= control["max"]
            stops = control.get("stops") or whole_numbers(control)
            assert list(stops) == sorted(set(stops))
            assert (stops[0], stops[-1]) == (control["min"], control["max"])
            assert control["default"] in stops
            if control["step"] != "any":
                assert all((stop - control["min"]) % control["step"] == 0 for stop in stops)
        for name, needed in control.get("when", {}).items():
            other = controls[names.index(name)]
            assert names.index(name) < names.index(control["name"])
            assert set(needed) <= {option["value"] for option in other["options"]}


@every_kind
def test_names_are_free(kind):
    encoding = METHODS[kind].encoding
    others = {
        control["name"]
        for room in rooms.ROOMS.values()
        if room.shows(encoding)
        for control in room.controls
        if "when" not in control  # Stretch asks for a trained length where no rule has one
    }
    others |= {"v", "encoding", "mistake", "waves", "hide", "ask"}
    names = {control["name"] for control in fields.controls(kind)}
    assert not names & others
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in names)


@every_kind
def test_every_field_can_be_set_or_is_left_out_on_purpose(kind):
    told = {control["path"][0] for control in fields.controls(kind)}
    own = {field.name for field in dataclasses.fields(spec.ENCODINGS[kind]) if field.init}
    assert own - told <= {"widths", "eps"}


@every_kind
def test_first_settings_are_the_encoding(kind):
    assert recipes.built(fields.data(kind, {})) == METHODS[kind].encoding
    assert fields.values(spec.to_data(METHODS[kind].encoding)) == {}


def switched_on(control):
    """Every setting of the other controls under which one counts."""
    when = control.get("when", {})
    return [dict(zip(when, choice, strict=True)) for choice in itertools.product(*when.values())]


def ends(control):
    if "options" in control:
        return [option["value"] for option in control["options"]]
    return [control["min"], control["max"]]


@every_kind
def test_every_option_and_both_ends_build(kind):
    for control in fields.controls(kind):
        for others, value in itertools.product(switched_on(control), ends(control)):
            settings = others | {control["name"]: value}
            data = fields.data(kind, settings)
            # The browser speaks JSON, in which 4.0 is 4.
            read = recipes.read(json.dumps(data))
            assert read == recipes.built(data)
            again = fields.data(kind, fields.values(spec.to_data(read)))
            assert recipes.built(again) == read


def browser(kind, values):
    """The rule of static/state.js: what is said of it must be enough to do it."""
    controls = fields.controls(kind)
    settings = {control["name"]: control["default"] for control in controls} | values
    data = json.loads(json.dumps(spec.to_data(METHODS[kind].encoding)))
    for control in controls:
        if any(settings[name] not in meant for name, meant in control.get("when", {}).items()):
            continue
        value = settings[control["name"]]
        for option in control.get("options", []):
            if option["value"] == settings[control["name"]]:
                value = json.loads(json.dumps(option["data"]))
        place = data
        for name in control["path"][:-1]:
            place = place[name]
        place[control["path"][-1]] = value
    return data


@st.composite
def any_settings(draw):
    kind = draw(st.sampled_from(KINDS))
    values = {}
    for control in fields.controls(kind):
        if "options" in control:
            choices = ends(control)
        else:
            choices = control.get("stops") or whole_numbers(control)
        values[control["name"]] = draw(st.sampled_from(choices))
    return kind, values


@hypothesis.given(any_settings())
def test_settings_and_back(chosen):
    kind, values = chosen
    data = fields.data(kind, values)
    assert json.loads(json.dumps(data)) == json.loads(json.dumps(browser(kind, values)))
    try:
        encoding = recipes.built(data)
    except ValueError:
        return  # the page shows what the library says
    shown = fields.values(spec.to_data(encoding))
    assert recipes.built(fields.data(kind, shown)) == encoding


def test_scaling_brings_its_own_settings():
    data = fields.data("rotary", {"scaling": "yarn", "factor": 8.0, "truncate": "false"})
    yarn = Yarn(factor=8.0, original_length=4096, truncate=False)
    assert spec.from_data(data) == Rotary(dim=64, scaling=yarn)
    # The factor of another rule is kept for when that rule is chosen.
    assert fields.data("rotary", {"factor": 8.0})["scaling"] is None
    shown = fields.values(spec.to_data(Rotary(dim=128, scaling=yarn)))
    assert shown == {"dim": 128, "scaling": "yarn", "factor": 8.0, "truncate": "false"}


def test_lists_of_longrope_run_evenly_between_their_ends():
    chosen = {"dim": 12, "scaling": "longrope", "long_last": 32.0}
    data = fields.data("rotary", chosen)
    assert data["scaling"]["long_factors"] == {"first": 1.0, "last": 32.0}  # what an address holds
    rule = recipes.built(data).scaling
    assert rule.short_factors == (1.0,) * 6
    assert rule.long_factors == (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
    part = recipes.built(fields.data("rotary", chosen | {"dim": 64, "rotary_dim": "16"}))
    assert len(part.scaling.long_factors) == 8
    assert (part.scaling.long_factors[0], part.scaling.long_factors[-1]) == (1.0, 32.0)


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ({"first": 0.0, "last": 4.0}, "`long_factors.first` must be"),
        ({"first": 1.0, "last": -1}, "`long_factors.last` must be"),
        ({"first": 1.0, "last": "4"}, "`long_factors.last` must be"),
        ({"first": 1.0, "last": float("inf")}, "`long_factors.last` must be"),
        ({}, "`long_factors` must be a list with a number a pair, .* got neither"),
        ({"last": 1.0, "first": 1.0, "middle": 2.0}, "got last, first, middle"),
    ],
)
def test_ends_that_are_none(ends, words):
    data = fields.data("rotary", {"scaling": "longrope"})
    data["scaling"]["long_factors"] = ends
    with pytest.raises((TypeError, ValueError), match=words):
        recipes.read(json.dumps(data))


def test_settings_share_nothing():
    fields.data("rotary", {"scaling": "linear"})["scaling"]["factor"] = 99.0
    assert fields.data("rotary", {"scaling": "linear"})["scaling"]["factor"] == 4.0
    fields.data("swin", {"window": "7x7"})["window"].append(99)
    assert fields.data("swin", {"window": "7x7"})["window"] == [7, 7]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"kind": "rotary", "dim": 4096}, "Head width cannot be set to 4096 on the page"),
        ({"kind": "swin", "heads": 8, "window": [5, 5]}, r"Window cannot be set to \[5, 5\]"),
        (
            {
                "kind": "rotary",
                "dim": 6,
                "scaling": {
                    "kind": "longrope",
                    "short_factors": [1.0, 1.0, 1.0],
                    "long_factors": [1.0, 3.0, 4.0],
                    "original_length": 4096,
                    "factor": 8.0,
                },
            },
            "the controls of the page do not reach",
        ),
        ({"kind": "fire", "heads": 8, "eps": 0.5}, "the controls of the page do not reach"),
        ({"kind": "rotary", "dim": 7}, "`dim` must be even"),
        ({"kind": "linear", "factor": 2.0}, "Linear is no encoding"),
    ],
)
def test_what_the_controls_cannot_say(data, words):
    with pytest.raises(ValueError, match=words):
        fields.values(data)
