"""Settings from the Hugging Face Hub, through huggingface_hub, its cache and its offline mode."""

from __future__ import annotations

import re
from pathlib import Path

_WORD = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_NAME = re.compile(rf"(?P<name>{_WORD}(/{_WORD})?)(@(?P<revision>{_WORD}(/{_WORD})*))?")
_FILES = (".json", ".gguf", ".safetensors", ".bin", ".pt", ".pth")


def is_name(text: str) -> bool:
    """Whether a text can be the name of a model on the hub: gpt2, org/name, org/name@revision.

    Example:
        >>> is_name("org/name@refs/pr/1"), is_name("models/config.json"), is_name("./model")
        (True, False, False)
    """
    return _NAME.fullmatch(text) is not None and not text.lower().endswith(_FILES)


def config_file(text: str) -> Path:
    """Where the config.json of a model lies in the cache; nothing else is downloaded.

    Args:
        text: "org/name" or "org/name@revision"; the main branch where no revision is named.
    Raises:
        ModuleNotFoundError: huggingface_hub is not installed.
        OSError: there is no such model, revision or file, or it cannot or may not be reached.
    """
    try:
        import huggingface_hub
        from huggingface_hub import errors
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{text!r} is no file or folder here, and to look it up on the Hugging Face Hub needs "
            f"huggingface_hub: pip install 'posenc[hub]'"
        ) from error
    match = _NAME.fullmatch(text)
    name, revision = (match["name"], match["revision"]) if match else (text, None)
    try:
        lost = _lost(name, revision)
        found = huggingface_hub.hf_hub_download(
            name, "config.json", revision=revision, local_files_only=lost
        )
        return Path(found)
    except errors.GatedRepoError as error:
        raise PermissionError(
            f"{name} is gated, so its config.json is for those who were granted access: ask for "
            f"it on the page of the model, then log in with `hf auth login`."
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise FileNotFoundError(
            f"{name!r} is no file or folder here, and no model of the Hugging Face Hub that you "
            f"may see: check the name, or log in with `hf auth login` if it is private."
        ) from error
    except errors.RevisionNotFoundError as error:
        raise FileNotFoundError(
            f"{name} has no revision {revision!r} on the Hugging Face Hub: name a branch, a tag "
            f"or a commit after the @."
        ) from error
    except errors.LocalEntryNotFoundError as error:
        raise ConnectionError(_unreached(text, offline=_offline(error))) from error
    except errors.EntryNotFoundError as error:
        raise FileNotFoundError(
            f"{text} holds no config.json; if it holds GGUF files, download one and give its path."
        ) from error
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise OSError(f"cannot read {text} from the Hugging Face Hub: {reason}") from error


def _lost(name: str, revision: str | None) -> bool:
    """Whether the hub cannot be reached; asked once, for a download would try for half a minute."""
    import huggingface_hub
    from huggingface_hub import constants, errors

    if constants.HF_HUB_OFFLINE:
        return False  # the download knows, and says so
    url = huggingface_hub.hf_hub_url(name, "config.json", revision=revision)
    try:
        huggingface_hub.get_hf_file_metadata(url)
    except errors.HfHubHTTPError:
        return False  # an answer all the same, of which the download makes an error
    except Exception:  # whatever the library's HTTP client raises
        return True
    return False


def _offline(error: BaseException) -> bool:
    """Whether the offline mode, and no lost connection, is behind an error."""
    from huggingface_hub.errors import OfflineModeIsEnabled

    return isinstance(error.__cause__, OfflineModeIsEnabled)


def _unreached(text: str, *, offline: bool) -> str:
    reason = (
        "the offline mode of huggingface_hub is on: unset HF_HUB_OFFLINE"
        if offline
        else "the Hugging Face Hub cannot be reached: check the connection"
    )
    return (
        f"{text!r} is no file or folder here and not in the cache of huggingface_hub, and {reason}."
    )
