"""The function that turns queries and keys, replaced for one model and not for its class."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from posenc.torch.transformers.forms import Form
from posenc.torch.transformers.ways import CALLS, HEADS, WAYS, Way


def turning(cls: type) -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """Each method of a class that calls a function that turns: its name, and the function.

    Example:
        >>> from transformers.models.llama.modeling_llama import LlamaAttention
        >>> [(method, function) for method, function, _ in turning(LlamaAttention)]
        [('forward', 'apply_rotary_pos_emb')]
    """
    for method in dir(cls):
        found = inspect.getattr_static(cls, method)
        if not inspect.isfunction(found):
            continue
        inner = inspect.unwrap(found)
        for name in inner.__code__.co_names:
            function = inner.__globals__.get(name)
            if name.startswith("apply") and callable(function) and _tables(function):
                yield method, name, function


def _tables(function: Callable[..., Any]) -> bool:
    """Whether a function is given a table."""
    names = inspect.signature(function).parameters
    return "freqs_cis" in names or {"cos", "sin"} <= names.keys()


def replaced(name: str, cls: type, table: Form) -> tuple[dict[str, Way], dict[str, Any]]:
    """The functions that turn in the methods of a class, and those methods with ours instead.

    Args:
        name: of a module of this class, for errors.
        cls: of modules that are given tables.
        table: their form.
    Returns:
        How each function turns, and each method that calls one, not yet bound to a module.
    Raises:
        ValueError: a function turns as none here does.
    """
    ways: dict[str, Way] = {}
    methods: dict[str, Any] = {}
    for method, function, theirs in turning(cls):
        where = f"{name} ({cls.__name__}.{method}, {function})"
        ways[function], ours = prove(where, theirs, table)
        methods[method] = rebound(methods.get(method, getattr(cls, method)), function, ours)
    return ways, methods


def prove(name: str, function: Callable[..., Any], table: Form) -> tuple[Way, Callable[..., Any]]:
    """How a model's own function turns, and ours that does the same.

    Args:
        name: of the function, and of where it is called.
        function: the model's own.
        table: the form in which it is given the table.
    Raises:
        ValueError: it does what no function here does.
    """
    parameters = inspect.signature(function).parameters
    signature = tuple(f"{n}?" if p.default is None else n for n, p in parameters.items())
    if signature not in CALLS:
        raise ValueError(
            f"cannot replace {name}, because it is called in a way that posenc does not know: "
            f"({', '.join(signature)}). Nothing was changed."
        )
    for way in WAYS:
        ours = CALLS[signature](table, way)
        if _agree(ours, function, table, told="unsqueeze_dim" in signature):
            return way, ours
    raise ValueError(
        f"cannot replace {name}, because it turns random queries and keys otherwise than posenc "
        "does in any layout. Nothing was changed."
    )


def _agree(
    ours: Callable[..., Any], theirs: Callable[..., Any], table: Form, *, told: bool
) -> bool:
    """Whether two functions turn alike whatever the first one accepts, and it accepts something."""
    answers = 0
    for arguments in _arguments(theirs, table, told=told):
        try:
            expected = theirs(**arguments)
        except (RuntimeError, ValueError, AttributeError, TypeError):  # not so wide, not so long
            continue
        if not _shaped(expected, arguments):
            continue  # it met tokens for heads, and spread them out
        answers += 1
        try:
            got = ours(**arguments)
        except (RuntimeError, ValueError):
            return False
        if not _same(got, expected):
            return False
    return answers > 0


def _arguments(theirs: Callable[..., Any], table: Form, *, told: bool) -> Iterator[dict[str, Any]]:
    """Random heads, as wide as what turns and wider, heads before tokens and after them."""
    random = torch.Generator().manual_seed(0)

    def numbers(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=random)

    names = list(inspect.signature(theirs).parameters)
    # Those of pictures have no axis for a batch, and are not told where the heads are.
    batch = () if tuple(names) == ("q", "k", "cos", "sin") else (2,)
    whole = table.give(numbers(*batch, 5, 4), numbers(*batch, 5, 4))
    order = ("sin", "cos") if table.sine_first else ("cos", "sin")
    given: dict[str, Any] = {"freqs_cis": whole}
    if "freqs_cis" not in names:
        given = dict(zip(order, whole, strict=True))
    heads = [name for name in names if name in HEADS]
    for axis in (1, 2):
        for width in (8, 12):
            for short in (0, 3):
                arguments = dict(given)
                for count, name in enumerate(heads, start=1):
                    tokens = 5 - short if count == 1 else 5
                    shape = (count, tokens) if axis == 1 else (tokens, count)
                    arguments[name] = numbers(*batch, *shape, width)
                arguments |= {"unsqueeze_dim": axis} if told else {}
                yield arguments
                if "k" in heads:  # keys that another layer has turned already
                    yield arguments | {"k": None}


def _shaped(turned: Any, arguments: Mapping[str, Any]) -> bool:
    """Whether heads came out in the shapes in which they went in."""
    out = [turned] if isinstance(turned, torch.Tensor) else [t for t in turned if t is not None]
    heads = [x for name, x in arguments.items() if name in HEADS and x is not None]
    return [x.shape for x in out] == [x.shape for x in heads]


def _same(got: Any, expected: Any) -> bool:
    if expected is None:
        return got is None
    if isinstance(expected, torch.Tensor):
        return isinstance(got, torch.Tensor) and (
            got.shape == expected.shape and bool((got - expected).abs().max() < 1e-5)
        )
    return (
        isinstance(got, tuple)
        and len(got) == len(expected)
        and all(_same(one, two) for one, two in zip(got, expected, strict=True))
    )


def rebound(method: Callable[..., Any], function: str, ours: Callable[..., Any]) -> Any:
    """A method in whose eyes a function of its file is ours; the file itself is not changed.

    Decorators that it stands in are kept. Its globals are a copy without `__name__`:
    torch.compile would look that up and read the globals of the file instead.
    """
    if not inspect.isfunction(method):
        return method
    wrapped = getattr(method, "__wrapped__", None)
    if wrapped is None:
        scope = {key: value for key, value in method.__globals__.items() if key != "__name__"}
        return _copied(method, scope | {function: ours}, method.__closure__)
    inner = rebound(wrapped, function, ours)
    cells = tuple(
        types.CellType(inner) if cell.cell_contents is wrapped else cell
        for cell in method.__closure__ or ()
    )
    copied = _copied(method, method.__globals__, cells)
    copied.__dict__["__wrapped__"] = inner
    return copied


def _copied(method: types.FunctionType, scope: dict[str, Any], cells: Any) -> types.FunctionType:
    copied = types.FunctionType(method.__code__, scope, method.__name__, method.__defaults__, cells)
    copied.__kwdefaults__ = method.__kwdefaults__
    copied.__dict__.update(method.__dict__)
    copied.__module__, copied.__qualname__ = method.__module__, method.__qualname__
    return copied
