"""Do the layers turn that posenc says turn, and only those, by the tables that it says?

transformers is the judge: tiny networks with random weights run twice, from position 0 on and from
a later one, and every layer is watched in both.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch

from oracles import read, tiny
from oracles.tiny_cases import CASES, NOT_BUILT, TOKENS
from posenc.inspector import Reading, Use, read_settings
from posenc.inspector.families.turning import by_kind, latent, mixed_heads, some_layers

pytestmark = pytest.mark.slow

SHIFT = 23
"""Where the second run begins."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """What was read, and what each layer did from position 0 on and from SHIFT on."""

    reading: Reading
    saved: Reading
    first: list[tiny.Layer]
    moved: list[tiny.Layer]

    @property
    def turning(self) -> list[Use]:
        return [use for use in self.reading.parts[0].uses if use.kind in ("rotary", "M-RoPE")]

    def layers(self) -> Iterator[tuple[Use, tiny.Layer, tiny.Layer]]:
        """Each layer that turns, before and after the move."""
        for use in self.turning:
            for layer in use.layers:
                yield use, self.first[layer], self.moved[layer]


@functools.cache
def run(name: str) -> Run:
    model_type, case = CASES[name]
    settings = tiny.shrunk(model_type, case.changes)
    settings = {key: value for key, value in settings.items() if key not in case.without}
    network = tiny.network(model_type, settings, case.network)
    case.prepare(network)
    tokens = torch.arange(3, 3 + TOKENS)[None]
    first, moved = tiny.watch(
        network, case.stack(network), SHIFT, input_ids=tokens, **case.inputs()
    )
    saved = json.loads(network.config.to_json_string(use_diff=False))
    return Run(
        reading=read(model_type, **settings),
        saved=read_settings(saved | {"model_type": model_type}),
        first=first,
        moved=moved,
    )


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Such small arrays are slower on several threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


every_case = pytest.mark.parametrize("name", CASES)


@every_case
def test_those_layers_turn_that_were_read(name) -> None:
    ran = run(name)

    read_to_turn = sorted(layer for use in ran.turning for layer in use.layers)
    calls = [i for i, layer in enumerate(ran.first) if layer.tables]
    keys = [i for i, pair in enumerate(zip(ran.first, ran.moved, strict=True)) if differ(*pair)]

    assert read_to_turn == calls == keys
    assert all(use.layers for use in ran.turning)
    named = {layer for use in ran.reading.parts[0].uses for layer in use.layers}
    assert named == set(range(len(ran.first)))


def differ(first: tiny.Layer, moved: tiny.Layer) -> bool:
    """Whether the keys of a layer depend on where the text begins."""
    pairs = zip(first.keys, moved.keys, strict=True)
    return any((before - after).abs().max() > 1e-2 for before, after in pairs)


@every_case
def test_they_turn_by_the_table_that_was_read(name) -> None:
    for use, first, moved in run(name).layers():
        for start, tables in ((0, first.tables), (SHIFT, moved.tables)):
            for table in of_all_tokens(tables):
                assert (pairs(table, use) - cosines(use, start)).abs().max() <= 1e-6


def of_all_tokens(tables: list[torch.Tensor]) -> list[torch.Tensor]:
    """Tables without those for blocks of tokens (DeepSeek-V4)."""
    flat = [table.reshape(-1, table.shape[-1]) for table in tables]
    whole = [table[:TOKENS] for table in flat if len(table) >= TOKENS]
    assert whole
    return whole


def pairs(table: torch.Tensor, use: Use) -> torch.Tensor:
    """One column a pair, of tables that have a column a pair or one a feature."""
    count = rotary_of(use).turned // 2
    if table.shape[-1] == count:
        return table
    assert table.shape[-1] == 2 * count
    twice = torch.equal(table[:, :count], table[:, count:])
    return table[:, :count] if twice else table[:, ::2]


def cosines(use: Use, start: int) -> torch.Tensor:
    positions = places(use, torch.arange(start, start + TOKENS))
    return use.encoding.table(positions, length=start + TOKENS, precision="float32")[0]


def places(use: Use, positions: torch.Tensor) -> torch.Tensor:
    positions = -positions if use.inverse else positions
    return positions[:, None].expand(-1, 3) if use.kind == "M-RoPE" else positions


def rotary_of(use: Use) -> Any:
    return use.encoding.rotary if use.kind == "M-RoPE" else use.encoding


@every_case
def test_just_those_features_turn_that_were_read(name) -> None:
    for use, first, moved in run(name).layers():
        for before, after in zip(first.keys, moved.keys, strict=True):
            assert_turned(use, before, after)
        growth = torch.ones(TOKENS)
        if use.query_scaling is not None:
            here = torch.arange(TOKENS)
            growth = use.query_scaling.scale(here + SHIFT) / use.query_scaling.scale(here)
        for before, after in zip(first.queries, moved.queries, strict=True):
            assert_turned(use, before * growth[:, None], after)


def assert_turned(use: Use, before: torch.Tensor, after: torch.Tensor) -> None:
    """Whether the encoding turns heads at SHIFT less to what they are, and nothing else does."""
    before, after = before[:, :TOKENS], after[:, :TOKENS]
    assert before.shape[-1] == use.head_dim
    spec = rotary_of(use)
    spec = spec if use.written is None else replace(spec, layout=use.written)
    part = slice(use.first, use.first + spec.dim)
    inverse = -1 if use.inverse else 1
    by = torch.full((TOKENS,), inverse * SHIFT)
    expected, found = before.clone(), after.clone()
    expected[..., part] = spec.rotate(
        before[..., part], by, length=TOKENS + SHIFT, precision="float32"
    )
    found[..., use.first : use.first + spec.turned] *= spec.attention_factor
    assert (expected - found).abs().max() <= 3e-6 * before.abs().max()


@every_case
def test_scores_are_multiplied_by_what_was_read(name) -> None:
    scale = CASES[name][1].scale
    ran = run(name)
    for use in ran.reading.parts[0].uses:
        if use.kind not in ("rotary", "M-RoPE", "none"):
            continue
        for layer in (ran.first[i] for i in use.layers):
            for query, scaling in zip(layer.queries, layer.scalings, strict=True):
                usual = query.shape[-1] ** -0.5 if scale is None else scale
                assert scaling == pytest.approx(usual * use.softmax_factor)


@every_case
def test_the_saved_config_reads_the_same(name) -> None:
    ran = run(name)

    assert facts_of(ran.saved) == facts_of(ran.reading)


def facts_of(reading: Reading) -> list[Use]:
    """Uses without where their numbers came from, and without what no layer asks for."""
    return [replace(use, values=(), remarks=(), length=None) for use in reading.parts[0].uses]


def queries(model_type: str, **changes: Any) -> list[torch.Tensor]:
    """What goes into attention in each layer, from position 0 on."""
    settings = tiny.shrunk(model_type, changes)
    network = tiny.network(model_type, settings)
    tokens = torch.arange(3, 3 + TOKENS)[None]
    first, _ = tiny.watch(network, tiny.decoder(network), SHIFT, input_ids=tokens)
    return [layer.queries[0] for layer in first]


@pytest.mark.parametrize("strength", [0.1, 0.5])
def test_llama_4_grows_queries_that_do_not_turn(strength) -> None:
    # Layers before the first that does not turn see the same with and without a temperature.
    changes = {"no_rope_layers": [1, 1, 0, 1], "num_hidden_layers": 4}
    tuned = {"attn_temperature_tuning": True, "floor_scale": 3, "attn_scale": strength}
    plain = queries("llama4_text", **changes, attn_temperature_tuning=False)
    grown = queries("llama4_text", **changes, **tuned)
    turning, still = read("llama4_text", **changes, **tuned).uses

    factors = still.query_scaling.scale(torch.arange(TOKENS))

    assert turning.query_scaling is None
    assert torch.equal(grown[1], plain[1])
    assert (grown[2] - plain[2] * factors[:, None]).abs().max() <= 1e-6 * grown[2].abs().max()


def test_llama_4_grows_them_unless_the_file_says_no() -> None:
    _, still = read("llama4_text").uses

    assert still.query_scaling is not None


def test_beam_grows_queries_that_do_not_turn_as_its_remark_says() -> None:
    ran = run("beam")
    (still,) = [use for use in ran.reading.uses if use.kind == "none"]
    here = torch.arange(TOKENS, dtype=torch.float64)
    growth = ((1 + (here + SHIFT + 1) / 2048) / (1 + (here + 1) / 2048)) ** 0.1

    assert any("(1 + (position + 1) / 2048) ** 0.1" in remark for remark in still.remarks)
    for layer in still.layers:
        before, after = ran.first[layer].queries[0], ran.moved[layer].queries[0]
        assert (before * growth[:, None] - after).abs().max() <= 1e-6 * before.abs().max()


def test_every_model_type_whose_layers_differ_is_built() -> None:
    types = {model_type for model_type, _ in CASES.values()} | NOT_BUILT.keys()

    for scheme in (by_kind, latent, mixed_heads, some_layers):
        assert types >= scheme.READERS.keys()
