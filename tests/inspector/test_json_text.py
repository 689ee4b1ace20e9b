"""JSON as people and programs break it: one clear error, or a finding, and never a crash."""

from __future__ import annotations

import json
import math
import time

import numpy as np
import pytest

from posenc.inspector.sources import json_text


def settings(text):
    if isinstance(text, str):
        text = text.encode()
    return json_text.settings(text, "config.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", r"config\.json is neither JSON nor GGUF: Expecting value: line 1 column 1"),
        (b"{'a': 1}", "is neither JSON nor GGUF: Expecting property name"),
        (b"version https://git-lfs.github.com/spec/v1", "is neither JSON nor GGUF"),
        (b'{"a": 1}}', "neither JSON nor GGUF: Extra data"),
        (b"\xff\xfe{\0}\0", "is not text in UTF-8: invalid start byte"),
        (b'{"a": "\\ud800"}', "is not text in UTF-8: surrogates not allowed"),
        (b"PK\3\4\x80", "is not text in UTF-8"),
        (b"[]", "must hold a JSON object, .*; it holds a list"),
        (b"null", "it holds null"),
        (b"true", "it holds true or false"),
        (b'"a"', "it holds a string"),
        (b"12", "it holds a number"),
        (b"[" * 100_000, "is nested more than 64 levels deep"),
        (b'{"a":' * 100_000, "is nested more than 64 levels deep"),
        (b'{"a":' * 200 + b"1" + b"}" * 200, "is nested more than 64 levels deep"),
        (b'{"a": ' + b"9" * 5000 + b"}", "neither JSON nor GGUF: Exceeds the limit"),
    ],
)
def test_one_clear_error(text, message):
    with pytest.raises(ValueError, match=message):
        settings(text)


def test_a_byte_order_mark_is_no_fault():
    assert settings(b'\xef\xbb\xbf{"a": 1}') == ({"a": 1}, [])


def test_numbers_that_are_none_pass_to_those_who_judge_them():
    values, findings = settings('{"a": NaN, "b": Infinity, "c": -Infinity, "d": 1e999}')

    assert math.isnan(values["a"])
    assert [values[key] for key in "bcd"] == [math.inf, -math.inf, math.inf]
    assert findings == []


def test_a_doubled_key_with_one_value_is_a_note():
    values, (finding,) = settings('{"rope_scaling": {"factor": 4, "factor": 4.0}}')

    assert values == {"rope_scaling": {"factor": 4.0}}
    assert (finding.severity, finding.code, finding.key, finding.value) == (
        "note",
        "doubled-key",
        "rope_scaling.factor",
        4.0,
    )


def test_a_doubled_key_with_two_values_is_an_error():
    values, (finding,) = settings('{"rope_theta": 10000, "a": 1, "rope_theta": 500000}')

    assert values == {"rope_theta": 500000, "a": 1}
    assert (finding.severity, finding.key, finding.value) == ("error", "rope_theta", 500000)
    assert "2 times with different values (10000, 500000)" in finding.why


def test_doubled_keys_in_lists_and_in_what_was_doubled():
    text = '{"a": [{"b": 1, "b": 2}], "c": {"d": 1}, "c": {"d": 1, "d": 3}}'

    _, findings = settings(text)

    assert [(finding.key, finding.value) for finding in findings] == [
        ("a.b", 2),
        ("c.d", 3),
        ("c", {"d": 3}),
    ]


def test_many_doubled_keys_and_deep_ones_end():
    _, findings = settings("{" + '"a": 1, "a": 2,' * 100_000 + '"b": 0}')
    assert len(findings) == 1
    _, findings = settings("{" + ",".join(f'"{i}":1,"{i}":2' for i in range(100_000)) + "}")
    assert len(findings) == 20
    deep = "[" * 500 + "]" * 500
    _, (finding,) = settings(f'{{"a": {deep}, "a": 1}}')
    assert finding.severity == "error"


def test_ten_megabytes_are_read_and_more_than_sixteen_refused(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"id2label": {str(i): "x" * 90 for i in range(100_000)}}))
    assert path.stat().st_size > 10_000_000
    values, _ = json_text.settings(json_text.content(path), str(path))
    assert len(values["id2label"]) == 100_000

    with path.open("wb") as file:
        file.truncate(2**30)  # no disk is used, and no memory must be
    started = time.perf_counter()
    with pytest.raises(ValueError, match=r"config\.json is larger than 16 MB, which no settings"):
        json_text.content(path)
    assert time.perf_counter() - started < 5


def test_a_file_that_grows_while_it_is_read(tmp_path):
    with pytest.raises(ValueError, match="is larger than 16 MB"):
        json_text.bounded(b"a" * (json_text.LARGEST + 1), "standard input")


def test_settings_that_hold_themselves():
    loop = {}
    loop["a"] = loop

    with pytest.raises(ValueError, match="is nested more than 64 levels deep"):
        json_text.plain(loop, "settings")


def test_settings_that_hold_one_another_many_times_end():
    laughs = ["ha"] * 10
    for _ in range(30):
        laughs = [laughs] * 10

    with pytest.raises(ValueError, match="settings may not hold more than 262,144 values"):
        json_text.plain({"a": laughs}, "settings")


@pytest.mark.parametrize("item", ["[],", "{},", '{"a":1,"a":2},', "1,"])
def test_sixteen_megabytes_of_little_things_are_refused_before_they_fill_the_memory(item):
    text = '{"a": [' + item * (15 * 2**20 // len(item)) + "0]}"

    with pytest.raises(ValueError, match="may not hold more than 262,144 values"):
        settings(text)


def test_what_json_has_no_word_for_becomes_text():
    given = {"a": set, "b": b"x", "c": 1j, "d": np.float32(0.5), "e": np.ones((1, 2))}

    values = json_text.plain(given, "settings")

    assert values == {"a": "<class 'set'>", "b": "b'x'", "c": "1j", "d": 0.5, "e": [[1.0, 1.0]]}
    json.dumps(values)


def test_a_number_too_long_to_write():
    with pytest.raises(ValueError, match="settings: a number of thousands of digits"):
        json_text.plain({"hidden_size": 10**5000}, "settings")


def test_keys_become_words():
    assert json_text.plain({"id2label": {0: "a"}}, "settings") == {"id2label": {"0": "a"}}
