"""Settings in, what the model does out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from posenc.inspector import families
from posenc.inspector.reading import Finding, Part, Reading, Use
from posenc.inspector.settings import strangers, unread
from posenc.inspector.settings.config import Config, Unfit, facts, keep

MOST_PARTS = 100
"""The most networks that are looked for in one model, nested or beside each other."""

_ORDER = {"error": 0, "warning": 1, "note": 2}

TEXT_BESIDE = (
    "dots3_note",
    "fuyu",
    "glm5_next",
    "hunyuan_vl",
    "paddleocr_vl",
    "qwen2_5_vl",
    "qwen2_vl",
    "unlimited_ocr",
)
"""Model types whose older files have the settings of the text tower beside those of the others."""

ELSEWHERE = {"donut_swin": "donut-swin", "rf_detr_vit": "rf_detr_dinov2"}
"""Names that config classes give to parts, and the model type that has their defaults."""


def read_settings(
    settings: Mapping[str, Any], source: str = "settings", *, findings: Iterable[Finding] = ()
) -> Reading:
    """What a model does with positions, from its settings as they stand in config.json.

    Args:
        settings: what the file holds.
        source: what to call it.
        findings: what was odd about the text itself; kept with the others.
    Raises:
        ValueError: nothing in the settings tells of positions.
    """
    named = settings.get("model_type", "")
    model_type = named if isinstance(named, str) else ""
    config = Config(settings, model_type=model_type, findings=list(findings))
    walk = _Walk()
    if model_type in facts() and model_type:
        parts = tuple(walk.parts(config))
    else:
        parts = strangers.parts(config, named, walk.parts)
    unread.find(walk.configs)
    if not parts and not config.findings:
        raise ValueError(
            f"model_type {model_type!r} is made of other models, and the settings name none; give "
            "the config.json of a trained model."
        )
    return Reading(
        source=source, model_type=model_type, parts=parts, findings=worst_first(config.findings)
    )


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors, then warnings, then notes; each kind in the order in which it was found."""
    return tuple(sorted(findings, key=lambda finding: _ORDER[finding.severity]))


class _Walk:
    """A way through a model's settings, part by part, that remembers where it has been."""

    def __init__(self) -> None:
        self.configs: list[Config] = []

    def parts(self, config: Config) -> Iterator[Part]:
        """This part, if it encodes positions itself, and the parts inside it."""
        if len(self.configs) == MOST_PARTS:
            raise ValueError(
                f"the settings name more than {MOST_PARTS} networks, which no model has; give the "
                "config.json that came with the model."
            )
        self.configs.append(config)
        if uses := _uses(config):
            yield Part(name=config.path, model_type=config.model_type, uses=uses)
        declared = config.facts.get("parts", {})
        for key, kind in declared.items():
            if (inner := _sub_config(config, key, kind)) is not None:
                yield from self.parts(inner)
        for key in config.data:
            if key in declared:
                continue
            if (inner := strangers.inside(config, key)) is not None:
                yield from self.parts(inner)


def _sub_config(config: Config, key: str, kind: Mapping[str, Any]) -> Config | None:
    """A sub-config, of the type that its place fixes or that it names itself; None without it."""
    try:
        given = config.mapping(key)
    except Unfit as unfit:
        keep(config.findings, unfit.finding)
        return None
    if given is None and kind.get("optional"):
        return None
    if given is None and key == "text_config" and config.model_type in TEXT_BESIDE:
        return config.renamed(kind["type"])
    return config.part(key, _type(given or {}, kind))


def _type(given: Mapping[str, Any], kind: Mapping[str, Any]) -> str:
    """The model type of a sub-config: the one it names, if its place is open, else its place's."""
    named = given.get("model_type") if kind.get("open") else None
    for model_type in (named, kind["type"]):
        if isinstance(model_type, str) and model_type in facts():
            return model_type
    return ELSEWHERE.get(kind["type"], str(kind["type"]))


def _uses(config: Config) -> tuple[Use, ...]:
    uses: list[Use] = []
    readers = families.readers(config.model_type)
    before = len(config.findings)
    for reader in readers:
        try:
            uses += reader(config.fresh())
        except Unfit as unfit:
            keep(config.findings, unfit.finding)
        except (ValueError, OverflowError) as error:
            # An encoding refuses what the settings make of it.
            config.find(
                "error",
                "unfit-settings",
                "model_type",
                config.model_type,
                f"names a type that its settings do not fit: {error}",
                "Correct the setting that this is about.",
            )
    if readers and not uses and len(config.findings) == before:
        uses.append(Use(kind="none", place="tokens", remarks=(_SWITCHED_OFF,)))
    return tuple(uses)


_SWITCHED_OFF = "Every encoding that this model type can have is switched off by its settings."
