"""Types that encode a time: a step of diffusion or flow, a delay, a duration."""

from __future__ import annotations

import math

from posenc.fourier import FourierFeatures
from posenc.inspector.families.shared import Reader, use
from posenc.inspector.families.waves import wave_tables
from posenc.inspector.reading import Use
from posenc.inspector.settings.config import Config
from posenc.sinusoidal import Sinusoidal

_PHONON = Sinusoidal(dim=2, layout="half", spacing="endpoint", first="cos")

_TIME = "It tells a time, not where a token stands."


def _flow_head(config: Config) -> list[Use]:
    """A flow head is told where its step starts and ends; one trained by drifting is not."""
    head = config.part("flow_head_config", "")
    if (head.word("flow_type") or head.assume("flow_type", "lsd")) != "lsd":
        return []
    width = "frequency_embedding_size"
    dim = head.integer(width, name="dim") or head.assume("dim", 256)
    base = head.number("max_period", name="base", above=0.0)
    base = base or head.assume("base", 10_000.0)
    encoding = wave_tables.encoding(head, width, wave_tables.COSINES, dim=dim, base=base)
    return [_time("start and end of a flow step", encoding, head)]


def _phonon(config: Config) -> list[Use]:
    """A flow head, and by how much the speech should be longer."""
    times = _flow_head(config.fresh())
    width = "duration_delta_embedding_dim"
    dim = config.integer(width, name="dim", required=True)
    base = config.number("duration_delta_max_period", name="base", above=0.0, required=True)
    scale = config.number("duration_delta_scale", name="position_scale", required=True)
    encoding = wave_tables.encoding(config, width, _PHONON, dim=dim, base=base)
    return [*times, _time("duration to add", encoding, config, scale=scale)]


def _vibevoice_diffusion(config: Config) -> list[Use]:
    """A diffusion head that is told its step."""
    width = "frequency_embedding_size"
    dim = config.integer(width, name="dim", required=True)
    base = config.number("diffusion_max_period", name="base", above=0.0, required=True)
    encoding = wave_tables.encoding(config, width, wave_tables.COSINES, dim=dim, base=base)
    return [_time("diffusion step", encoding, config)]


def _voxtral_realtime(config: Config) -> list[Use]:
    """A decoder that is told how many tokens its text lags behind the audio."""
    text = config.part("text_config", "voxtral_realtime_text")
    dim = text.integer("hidden_size", name="dim", required=True)
    encoding = wave_tables.encoding(text, "hidden_size", wave_tables.COSINES, dim=dim)
    return [_time("tokens of delay", encoding, text)]


def _qwen_dit(config: Config) -> list[Use]:
    """A diffusion transformer that makes speech; its time runs from 0 to 1."""
    dim = config.assume("dim", 256)
    scale = config.assume("position_scale", 1000.0)
    encoding = wave_tables.encoding(config, "", wave_tables.WHISPER, dim=dim)
    return [_time("flow time", encoding, config, scale=scale)]


def _pi0(config: Config) -> list[Use]:
    """An action expert whose wavelengths run from min_period to max_period of a flow time."""
    action = config.part("dit_config", "gemma")
    dim = action.integer("hidden_size", name="dim", required=True)
    shortest = config.number("min_period", above=0.0, required=True)
    longest = config.number("max_period", above=0.0, required=True)
    base = wave_tables.ratio(config, longest, shortest, "max_period", "min_period")
    scale = config.derive("position_scale", 2 * math.pi / shortest, "min_period")
    config.taken += action.taken
    encoding = wave_tables.encoding(action, "hidden_size", wave_tables.WHISPER, dim=dim, base=base)
    return [_time("flow time", encoding, config, scale=scale)]


def _esmfold2(config: Config) -> list[Use]:
    """Noise level in random waves, cos(2 pi (frequency t + phase)), drawn once and saved."""
    module = config.inside("structure_head").inside("diffusion_module")
    dim = module.integer("fourier_dim") or config.assume("fourier_dim", 256)
    remark = (
        "Its point is (t, 1), t = ln(noise / sigma_data) / 4: the matrix holds a frequency "
        "and a phase in each row; only the cosines, the first half, are used."
    )
    return [
        use(
            config,
            "Fourier features",
            FourierFeatures(dim=2 * dim, axes=2),
            place="noise level",
            remarks=(_TIME, remark),
        )
    ]


def _time(place: str, encoding: Sinusoidal, config: Config, *, scale: float = 1.0) -> Use:
    scaled = f"It is multiplied by {scale:g} before it is encoded."
    remarks = (_TIME,) if scale == 1.0 else (_TIME, scaled)
    return use(config, "sinusoidal", encoding, place=place, remarks=remarks)


READERS: dict[str, Reader] = {
    "esmfold2": _esmfold2,
    "gradium_phonon_tts": _phonon,
    "pi0": _pi0,
    "pocket_tts": _flow_head,
    "qwen2_5_omni_dit": _qwen_dit,
    "vibevoice_diffusion": _vibevoice_diffusion,
    "voxtral_realtime": _voxtral_realtime,
}
