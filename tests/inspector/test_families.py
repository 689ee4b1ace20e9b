"""Every model type of the pinned transformers, read by posenc and judged by its own modules."""

from __future__ import annotations

import pytest

from oracles import coverage


@pytest.mark.slow
@pytest.mark.parametrize("model_type", coverage.checked_types())
def test_the_reading_is_what_the_model_does(model_type) -> None:
    outcomes = coverage.outcomes(model_type)

    assert outcomes
    for outcome in outcomes:
        assert outcome.difference <= 1e-6, outcome
