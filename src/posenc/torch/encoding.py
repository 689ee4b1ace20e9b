"""An encoding as a module: its spec in plain numbers, its trained arrays as parameters."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, ClassVar

import torch


class Encoding(torch.nn.Module):
    """An encoding of posenc as a PyTorch module, constructed from the spec's own arguments.

    What follows from settings (frequencies, tables, slopes) is kept as plain numbers in `spec` and
    never as a buffer: nothing stands in the state_dict, a cast cannot narrow it, and a module built
    on the meta device is right as soon as its parameters are loaded. Trained arrays are parameters
    under the names of `spec.weights`.

    Args:
        device: of the parameters.
        dtype: of the parameters; float32 by default. Results are computed in float32 or wider.
        fields: those of the spec.
    Raises:
        TypeError: a field is unknown or has the wrong type.
        ValueError: a field has no valid value.
    """

    kind: ClassVar[type]
    """The dataclass of posenc that this module wraps."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in cls.__dict__:
            cls.__signature__ = _signature(cls)  # pyright: ignore[reportAttributeAccessIssue]
            _MODULES[cls.kind] = cls

    def __init__(self, *, device: Any = None, dtype: Any = None, **fields: Any) -> None:
        super().__init__()
        self.spec = self.kind(**fields)
        for name, shape in getattr(self.spec, "weights", {}).items():
            empty = torch.empty(shape, device=device, dtype=dtype)
            self.register_parameter(name, torch.nn.Parameter(empty))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew as the encoding's authors do, by PyTorch's random numbers."""
        if all(parameter.is_meta for parameter in self.parameters()):
            return
        seed = int(torch.randint(2**31, ()))
        with torch.no_grad():
            for name, array in self.spec.initial_weights(seed).items():
                self.get_parameter(name).copy_(torch.from_numpy(array))

    @property
    def trained(self) -> dict[str, torch.Tensor]:
        """The parameters by the names that the spec's own functions take."""
        return dict(self.named_parameters(recurse=False))

    def extra_repr(self) -> str:
        """The spec, for print(model)."""
        return repr(self.spec)


def _signature(cls: type[Encoding]) -> inspect.Signature:
    """The spec's fields, then the options of the module, for help() and editors."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    options = {
        name: parameter
        for part in cls.__mro__
        if issubclass(part, Encoding)
        for name, parameter in inspect.signature(part.__init__).parameters.items()
        if parameter.kind == keyword
    }
    own = inspect.signature(cls.kind).parameters
    return inspect.Signature([*own.values(), *options.values()])


def fields(spec: Any) -> dict[str, Any]:
    """The arguments that make `spec` anew.

    Example:
        >>> import posenc
        >>> fields(posenc.T5(heads=2))["buckets"]
        32
    """
    return {f.name: getattr(spec, f.name) for f in dataclasses.fields(spec) if f.init}


_MODULES: dict[type, type[Encoding]] = {}


def module(spec: Any, **options: Any) -> Encoding:
    """The module of any encoding.

    Args:
        spec: an encoding of posenc.
        options: those of the module: `device` and `dtype` of its parameters, `length_axis` ...
    Returns:
        A module of the same name as the spec.
    Raises:
        TypeError: `spec` is no encoding, or the module has no such option.
    Example:
        >>> import posenc, posenc.torch
        >>> module(posenc.T5(heads=2)).table.shape
        torch.Size([32, 2])
    """
    if type(spec) not in _MODULES:
        raise TypeError(
            "`spec` must be an encoding of posenc, for example posenc.Rotary(dim=128); "
            f"got {type(spec).__name__}."
        )
    return _MODULES[type(spec)](**fields(spec), **options)
