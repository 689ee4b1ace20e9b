"""Another scaling for the encodings of a loaded model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posenc import AxialRotary, spec
from posenc.inspector import Part, Reading, Use
from posenc.inspector.report.what_if import rescaled
from posenc.scaling import Scaling
from posenc.torch.transformers.tables import Found

Rule = Scaling | str | None

KEEP: Any = "keep"
"""The value of `scaling` that leaves every encoding as it is."""


def scaled(found: list[Found], scaling: Any) -> list[dict[str, Use]]:
    """The encodings of each rotary module under another rule, by layer type."""
    if scaling is KEEP:
        return [dict(table.uses) for table in found]
    if isinstance(scaling, Mapping):
        kinds = sorted({use.layer_type for table in found for use in table.uses.values()})
        if unknown := sorted(scaling.keys() - set(kinds)):
            raise ValueError(f"`scaling` must name layer types among {kinds}; got {unknown}.")
        return [
            {
                kind: _under(scaling[use.layer_type], [{kind: use}])[0][kind]
                if use.layer_type in scaling and not isinstance(use.encoding, AxialRotary)
                else use
                for kind, use in table.uses.items()
            }
            for table in found
        ]
    return _under(scaling, [table.uses for table in found])


def _under(rule: Rule, uses: list[Mapping[str, Use]]) -> list[dict[str, Use]]:
    """All these under one rule, as `posenc inspect --scaling` would have it."""
    if rule is not None and not isinstance(rule, str) and type(rule) not in spec.SCALINGS.values():
        raise TypeError(
            "`scaling` must be a rule such as posenc.Linear(factor=4.0), a text such as "
            f"'yarn:factor=4', or None; got {rule!r}."
        )
    if not isinstance(rule, str):
        # Text leaves out what is None: the original length is then that of the model.
        rule = "none" if rule is None else spec.to_text(rule)
    parts = tuple(Part(name="", model_type="", uses=tuple(part.values())) for part in uses)
    try:
        changed, _ = rescaled(Reading(source="", model_type="", parts=parts), rule)
    except ValueError as error:
        raise ValueError(str(error).replace("--scaling", "`scaling`")) from error
    return [
        dict(zip(before, part.uses, strict=True))
        for before, part in zip(uses, changed.parts, strict=True)
    ]
