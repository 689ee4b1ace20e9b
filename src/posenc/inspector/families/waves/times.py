"""Types that encode a time: a step of diffusion or flow, a delay, a duration."""

from __future__ import annotations

import math

from posenc.fourier import FourierFeatures
from posenc.inspector.families.waves import waves
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.sinusoidal import Sinusoidal

_TIME = "It tells a time, not where a token stands."


def flow_head(config: Config) -> list[Use]:
    """A flow head is told where its step starts and ends; one trained by drifting is not."""
    head = config.part("flow_head_config", "")
    if (head.word("flow_type") or waves.assumed(head, "flow_type", "lsd")) != "lsd":
        return []
    width = "frequency_embedding_size"
    dim = head.integer(width, name="dim") or waves.assumed(head, "dim", 256)
    base = head.number("max_period", name="base", above=0.0)
    base = base or waves.assumed(head, "base", 10_000.0)
    encoding = waves.encoding(head, width, waves.COSINES, dim=dim, base=base)
    return [_time("start and end of a flow step", encoding, head)]


def phonon(config: Config) -> list[Use]:
    """A flow head, and by how much the speech should be longer."""
    times = flow_head(config.fresh())
    width = "duration_delta_embedding_dim"
    dim = config.integer(width, name="dim", required=True) or 0
    base = config.number("duration_delta_max_period", name="base", above=0.0, required=True)
    scale = config.number("duration_delta_scale", name="position_scale", required=True)
    encoding = waves.encoding(config, width, _PHONON, dim=dim, base=base or 1.0)
    return [*times, _time("duration to add", encoding, config, scale=scale or 0.0)]


_PHONON = Sinusoidal(dim=2, layout="half", spacing="endpoint", first="cos")


def vibevoice_diffusion(config: Config) -> list[Use]:
    """A diffusion head that is told its step."""
    width = "frequency_embedding_size"
    dim = config.integer(width, name="dim", required=True) or 0
    base = config.number("diffusion_max_period", name="base", above=0.0, required=True)
    encoding = waves.encoding(config, width, waves.COSINES, dim=dim, base=base or 1.0)
    return [_time("diffusion step", encoding, config)]


def voxtral_realtime(config: Config) -> list[Use]:
    """A decoder that is told how many tokens its text lags behind the audio."""
    text = waves.part(config, "text_config", "voxtral_realtime_text")
    dim = text.integer("hidden_size", name="dim", required=True) or 0
    encoding = waves.encoding(text, "hidden_size", waves.COSINES, dim=dim)
    return [_time("tokens of delay", encoding, text)]


def qwen_dit(config: Config) -> list[Use]:
    """A diffusion transformer that makes speech; its time runs from 0 to 1."""
    dim = waves.assumed(config, "dim", 256)
    scale = waves.assumed(config, "position_scale", 1000.0)
    encoding = waves.encoding(config, "", waves.WHISPER, dim=dim)
    return [_time("flow time", encoding, config, scale=scale)]


def pi0(config: Config) -> list[Use]:
    """An action expert whose wavelengths run from min_period to max_period of a flow time."""
    action = waves.part(config, "dit_config", "gemma")
    dim = action.integer("hidden_size", name="dim", required=True) or 0
    shortest = config.number("min_period", above=0.0, required=True) or 1.0
    longest = config.number("max_period", above=0.0, required=True) or 1.0
    base = config.derive("base", longest / shortest, "max_period", "min_period")
    scale = config.derive("position_scale", 2 * math.pi / shortest, "min_period")
    config.taken += action.taken
    encoding = waves.encoding(action, "hidden_size", waves.WHISPER, dim=dim, base=base)
    return [_time("flow time", encoding, config, scale=scale)]


def esmfold2(config: Config) -> list[Use]:
    """Noise level in random waves, cos(2 pi (frequency t + phase)), drawn once and saved."""
    module = config.inside("structure_head").inside("diffusion_module")
    dim = module.integer("fourier_dim") or waves.assumed(config, "fourier_dim", 256)
    use = Use(
        kind="Fourier features",
        place="noise level",
        encoding=FourierFeatures(dim=2 * dim, axes=2),
        values=tuple(config.taken),
        remarks=(
            _TIME,
            "Its point is (t, 1), t = ln(noise / sigma_data) / 4: the matrix holds a frequency "
            "and a phase in each row; only the cosines, the first half, are used.",
        ),
    )
    return [use]


def _time(place: str, encoding: Sinusoidal, config: Config, *, scale: float = 1.0) -> Use:
    scaled = f"It is multiplied by {scale:g} before it is encoded."
    return Use(
        kind="sinusoidal",
        place=place,
        encoding=encoding,
        values=tuple(config.taken),
        remarks=(_TIME,) if scale == 1.0 else (_TIME, scaled),
    )
