"""Every model type of transformers: compared, made of others, or not yet reproduced and why."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from types import ModuleType

import torch

from oracles import Outcome
from posenc.inspector import families
from posenc.inspector.settings.config import facts

SCHEMES = (
    "alibi",
    "boxes",
    "buckets",
    "convolution",
    "coordinates",
    "distance_vectors",
    "grids",
    "image_waves",
    "multimodal",
    "none",
    "patches",
    "patches_own",
    "pieces",
    "rotary",
    "sinusoidal",
    "speech_distances",
    "tokens",
    "windows",
)
"""The files here that compare: each has CHECKS, and may have NOT_YET."""

_CELL = re.compile(r"\| `([^`]+)`")


@functools.cache
def checks() -> dict[str, list[Callable[[], list[Outcome]]]]:
    """For each model type, what compares it: one function for each scheme it has."""
    found: dict[str, list[Callable[[], list[Outcome]]]] = {}
    for module in _modules():
        for model_type, check in module.CHECKS.items():
            found.setdefault(model_type, []).append(check)
    return found


@functools.cache
def reasons() -> dict[str, str]:
    """Model types of which something is not reproduced yet, and why."""
    found: dict[str, str] = {}
    for module in _modules():
        found |= getattr(module, "NOT_YET", {})
    return found


def model_types() -> list[str]:
    """Every model type that the pinned transformers has."""
    return [model_type for model_type in facts() if model_type]


def checked_types() -> list[str]:
    """Those that are compared, in alphabetical order."""
    return sorted(checks(), key=str.lower)


def parts(model_type: str) -> list[str]:
    """The model types that a model is made of, by default."""
    return [part["type"] for part in facts()[model_type].get("parts", {}).values()]


def made_of_others(model_type: str) -> bool:
    """Whether a model type has no positions beside those of its parts."""
    if families.readers(model_type):
        return False
    return model_type in NAMED_IN_THE_FILE or bool(parts(model_type))


NAMED_IN_THE_FILE = ("rag",)
"""Model types whose parts only the file names."""

WITHOUT_TOKENS = (
    "EsmFold2AtomEncoderConfig",
    "EsmFold2ConfidenceHeadConfig",
    "EsmFold2LmEncoderConfig",
    "EsmFold2MsaEncoderConfig",
    "FunAsrNanoAdaptorConfig",
    "GradiumPhononTTSFlowHeadConfig",
    "Nemotron3DiarizationHeadConfig",
    "Nemotron3DiarizationStreamingConfig",
    "PPDocLayoutV2ReadingOrderConfig",
    "PocketTTSFlowHeadConfig",
)
"""Parts without a model type, whose positions are read with the model they belong to."""


def outcomes(model_type: str) -> list[Outcome]:
    """The comparisons of one model type; random weights are the same every time."""
    torch.manual_seed(0)
    return [outcome for check in checks()[model_type] for outcome in check()]


def page(found: dict[str, list[Outcome]]) -> str:
    """The page of the documentation, from the outcomes of every model type."""
    release = facts()[""]["transformers"]
    together = sorted(t for t in model_types() if made_of_others(t))
    return "\n".join(
        [
            "# Model types",
            "",
            f"What posenc reads for each model type of transformers {release}, compared with the",
            "model's own modules. `make models` writes this page; `make slow` compares anew.",
            "",
            f"{len(found)} model types are compared, {len(together)} are made of those, and of",
            f"{len(reasons())} something is not reproduced yet.",
            "",
            "## Compared",
            "",
            "The difference is the largest one of any number that was compared.",
            "",
            "| model type | scheme | pairs | compared how | difference |",
            "| --- | --- | --- | --- | --- |",
            *(row for model_type, rows in found.items() for row in _rows(model_type, rows)),
            "",
            "## Not yet, because",
            "",
            "| model type | what is missing |",
            "| --- | --- |",
            *(f"| `{model_type}` | {_sentence(why)} |" for model_type, why in _sorted(reasons())),
            "",
            "## Made of others",
            "",
            "| model type | its parts, by default |",
            "| --- | --- |",
            *(f"| `{model_type}` | {_parts(model_type)} |" for model_type in together),
            "",
        ]
    )


def on_page(text: str) -> set[str]:
    """The model types that stand in the tables of a page."""
    return {match[1] for line in text.splitlines() if (match := _CELL.match(line))}


def _modules() -> list[ModuleType]:
    return [importlib.import_module(f"oracles.{scheme}") for scheme in SCHEMES]


def _rows(model_type: str, outcomes: list[Outcome]) -> list[str]:
    """One row for each scheme: how it was compared, and the largest difference of all."""
    schemes: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        schemes.setdefault((outcome.kind, outcome.layout), []).append(outcome)
    return [
        f"| `{model_type}` | {kind} | {layout} | {'; '.join(dict.fromkeys(o.how for o in same))} "
        f"| {max(o.difference for o in same):.1e} |"
        for (kind, layout), same in schemes.items()
    ]


def _parts(model_type: str) -> str:
    return ", ".join(f"`{part}`" for part in parts(model_type)) or "named in the file"


def _sentence(text: str) -> str:
    first = text if text.startswith("posenc") else text[0].upper() + text[1:]
    return first.rstrip(".") + "."


def _sorted(table: dict[str, str]) -> list[tuple[str, str]]:
    return sorted(table.items(), key=lambda item: item[0].lower())
