"""Templates of the site, and what every page of it has in common."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from posenc import __version__
from posenc.study.writing import numbers

HERE = Path(__file__).parent
ROOT = "../"
"""From a page to the root of the site: every page stands in a folder."""

TITLES = {
    "learn": "Learn",
    "formulas": "Formulas",
    "reference": "Reference",
    "mistakes": "Mistakes",
    "questions": "Questions and answers",
    "cards": "Cards",
    "glossary": "Glossary",
    "claims": "Claims",
    "sources": "Sources",
}


def render(template: str, **content: Any) -> str:
    """A page as HTML, from one of the templates."""
    return (
        _templates()
        .get_template(template)
        .render(root=ROOT, version=__version__, titles=TITLES, **content)
    )


@functools.cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"short": numbers.short, "whole": numbers.whole}
    made.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False).replace(
        "<", "\\u003c"
    )
    return made
