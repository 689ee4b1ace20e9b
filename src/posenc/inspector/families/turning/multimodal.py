"""Queries and keys of text with images in it: pairs follow time, row or column (M-RoPE)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from posenc.inspector.families.shared import Reader
from posenc.inspector.families.turning.latent import softmax_factor, widths
from posenc.inspector.families.turning.uses import HALF, unturned, use
from posenc.inspector.reading import Use
from posenc.inspector.settings import layers, rope, rope_spellings
from posenc.inspector.settings.config import Config
from posenc.inspector.settings.rope_spellings import Dialect, Settings
from posenc.mrope import MRotary, Order
from posenc.rotary import Rotary

QWEN2 = Dialect(names={"mrope": "default"})
GLM_OCR = Dialect(layout="interleaved", obeys_partial=True)
SHARE = Dialect(obeys_partial=True)
_TEXT = "Text has the same position on every axis, so there this equals plain rotary embedding."


def sectioned(
    default: tuple[int, ...],
    *,
    order: Order = "contiguous",
    dialect: Dialect = HALF,
) -> Reader:
    """A reader of models whose pairs follow (time, row, column) by sections.

    Args:
        default: the sections where the file gives none.
        order: how the sections are laid out over the pairs; no key of the file changes it.
        dialect: the spelling of the rest.
    """

    def read(config: Config) -> list[Use]:
        encoding = rope.rotary(config, rope_spellings.flat(config), dialect, rope.head_dim(config))
        sections = _sections(config, rope_spellings.chosen(config), default)
        kinds = layers.layer_types(config)
        turning = layers.turning(config, kinds)
        found = _use(config, encoding, sections, order, layers=turning)
        return [found, *unturned(config, kinds)]

    return read


def _use(
    config: Config, encoding: Rotary, sections: tuple[int, ...], order: Order, **more: Any
) -> Use:
    plain = use(config, encoding)
    multimodal = _multimodal(rope_spellings.given(config), encoding, sections, order)
    fields = {"kind": "M-RoPE", "encoding": multimodal, "remarks": (_TEXT,)} | more
    return replace(plain, values=tuple(config.taken), **fields)


def _sections(config: Config, inner: Config, default: tuple[int, ...]) -> tuple[int, ...]:
    for key in ("mrope_section", "xdrope_section"):
        if (given := inner.integers(key, name="sections", at_least=0)) is not None:
            return given
    if not default:
        inner.refuse(
            "missing-key",
            "mrope_section",
            None,
            "is missing, and this model type has no sections of its own.",
            "Say how many pairs follow each axis.",
        )
    config.assume("sections", default, "mrope_section")
    return default


def _multimodal(
    inner: Config, encoding: Rotary, sections: tuple[int, ...], order: Order
) -> MRotary:
    pairs = encoding.turned // 2
    if order == "interleaved" and len(sections) == 3:
        # The first section is never looked at: time has what the others leave.
        time = pairs - sections[1] - sections[2]
        if time != sections[0]:
            inner.find(
                "warning",
                "sections-against-width",
                "mrope_section",
                list(sections),
                f"has a first number that is never read; time has {time} of the {pairs} pairs.",
                f"Write {[time, *sections[1:]]}, or check the share of the head that turns.",
            )
        sections = (time, *sections[1:])
    if sum(sections) != pairs or min(sections) < 1:
        inner.refuse(
            "sections-against-width",
            "mrope_section",
            list(sections),
            f"must add up to the {pairs} pairs that turn; it adds up to {sum(sections)}.",
            "Check it against head_dim and the share of the head that turns.",
        )
    return MRotary(rotary=encoding, sections=sections, order=order)


def _ernie(config: Config) -> list[Use]:
    """ERNIE 4.5 VL: sections in the order (row, column, time), row and column by turns."""
    dialect = Dialect(layout="interleaved", kinds=("default",))
    encoding = rope.rotary(config, rope_spellings.flat(config), dialect, rope.head_dim(config))
    inner = rope_spellings.chosen(config)
    row, column, time = _three(inner, _sections(config, inner, (22, 22, 20)))
    turning = layers.every(config)
    return [_use(config, encoding, (time, row, column), "time_last", layers=turning)]


def _three(config: Config, sections: tuple[int, ...]) -> tuple[int, int, int]:
    if len(sections) != 3:
        config.refuse(
            "wrong-length",
            "mrope_section",
            list(sections),
            "must have three numbers: pairs that follow row, column and time.",
            "Write three numbers.",
        )
    return sections[0], sections[1], sections[2]


def _hunyuan(config: Config) -> list[Use]:
    """HunYuan-VL: any number of axes, but no rotation where they differ."""
    dialect = Dialect(names={"xdrope": "dynamic"})
    encoding = rope.rotary(config, rope_spellings.flat(config), dialect, rope.head_dim(config))
    sections = _sections(config, rope_spellings.chosen(config), ())
    remarks = (
        f"This is what happens to text. In pictures the table [cos | cos] is cut into blocks of "
        f"twice the sections {list(sections)}, one for each axis, so the two features of a pair "
        "follow different axes and the result is no rotation.",
    )
    found = use(config, encoding, layers=layers.every(config))
    return [replace(found, kind="M-RoPE", remarks=remarks)]


def _hy_v4(config: Config) -> list[Use]:
    """Hy-V4-VL: latent attention, whose turned part follows the axes by turns."""
    still, turned = widths(config)
    dialect = Dialect(layout="interleaved")
    encoding = rope.rotary(config, rope_spellings.flat(config), dialect, turned)
    sections = _sections(config, rope_spellings.chosen(config), (12, 10, 10))
    found = _use(
        config,
        encoding,
        sections,
        "interleaved",
        layers=layers.every(config),
        head_dim=still + turned,
        first=still,
        softmax_factor=softmax_factor(config),
    )
    return [found]


def _compass(config: Config) -> list[Use]:
    """Cohere Compass: settings for each kind of layer, with sections of their own."""
    kinds = layers.layer_types(config) or (layers.FULL,) * layers.count(config)
    return [_compass_kind(config.fresh(), kinds, kind) for kind in dict.fromkeys(kinds)]


def _compass_kind(config: Config, kinds: tuple[str, ...], kind: str) -> Use:
    outer = config.inside("rope_parameters")
    if kind not in outer.data:
        outer.refuse(
            "missing-key",
            kind,
            None,
            "is missing, and this model type has rotary settings for each kind of layer.",
            f"Put the settings of its {kind} layers there.",
        )
    inner = outer.inside(kind)
    settings = Settings(inner=inner, outer=outer, flat=False)
    encoding = rope.rotary(config, settings, HALF, rope.head_dim(config))
    sections = _sections(config, inner, (24, 20, 20))
    where = layers.where(kinds, kind)
    return _use(config, encoding, sections, "interleaved", layers=where, layer_type=kind)


READERS: dict[str, Reader] = {
    **dict.fromkeys(("qwen2_vl_text", "qwen2_5_vl_text"), sectioned((16, 24, 24), dialect=QWEN2)),
    **dict.fromkeys(
        ("qwen2_5_omni_text", "qwen2_5_omni_talker", "paddleocr_vl_text"), sectioned((16, 24, 24))
    ),
    **dict.fromkeys(("glm4v_text", "glm_ocr_text"), sectioned((8, 12, 12), dialect=GLM_OCR)),
    **dict.fromkeys(("glm4v_moe_text", "glm_image_text"), sectioned((8, 12, 12), dialect=SHARE)),
    **dict.fromkeys(
        (
            "qwen3_vl_text",
            "qwen3_vl_moe_text",
            "qwen3_omni_moe_text",
            "qwen3_omni_moe_talker_text",
            "cosmos3_edge_text",
        ),
        sectioned((24, 20, 20), order="interleaved"),
    ),
    **dict.fromkeys(
        ("qwen3_5_text", "qwen3_5_moe_text", "qwen4_exp_text"),
        sectioned((11, 11, 10), order="interleaved", dialect=SHARE),
    ),
    "ernie4_5_vl_moe_text": _ernie,
    "hunyuan_vl_text": _hunyuan,
    "hy_v4_vl_text": _hy_v4,
    "cohere_compass_text": _compass,
}
