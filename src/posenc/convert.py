"""Weights and tables from one layout of feature pairs to the other, "half" or "interleaved".

Pairs of features turn alike wherever they lie in a head. So a model trained with one layout runs
with the other after the features of its queries and keys are put in another order: the rows of
both projections, their biases, and the gains of a norm between projection and rotation. Values
and the output projection stay as they are. Scores, and so the model, do not change; the spec
follows with `dataclasses.replace(rope, layout=...)`.

Nothing in an array says which layout it has, so converting it twice cannot be noticed.
"""

from __future__ import annotations

from collections.abc import Sequence

from posenc import _arrays, _checks
from posenc._arrays import Array, Num
from posenc.rotary import Layout
from posenc.sinusoidal import Odd


def order(dim: int, *, to: Layout, rotary_dim: int | None = None) -> tuple[int, ...]:
    """Where each feature of a converted head comes from: new feature i is old feature order[i].

    0, 2, 4, ..., 1, 3, 5, ...                to="half"
    0, dim / 2, 1, dim / 2 + 1, ...           to="interleaved"

    Args:
        dim: width of a head.
        to: the new layout; the features come in the other one.
        rotary_dim: how many leading features turn, all by default. The others stay.
    Returns:
        A permutation of range(dim). In a head of 4 it is its own inverse, so a head that small
        does not show a conversion in the wrong direction.
    Raises:
        TypeError: `dim` or `rotary_dim` is no integer.
        ValueError: features do not pair up, `rotary_dim` exceeds `dim`, or `to` is unknown.
    Example:
        >>> order(8, to="half")
        (0, 2, 4, 6, 1, 3, 5, 7)
        >>> order(8, to="interleaved", rotary_dim=6)
        (0, 3, 1, 4, 2, 5, 6, 7)

    Source: transformers, models/llama/convert_llama_weights_to_hf.py, permute (to "half");
    llama.cpp, convert_hf_to_gguf.py, LlamaModel.permute (to "interleaved").
    """
    if rotary_dim is None:
        _checks.even("dim", dim)
        rotary_dim = dim
    _checks.integer("dim", dim, at_least=2)
    _checks.even("rotary_dim", rotary_dim)
    if rotary_dim > dim:
        raise ValueError(
            "`rotary_dim` must not exceed `dim`, because it counts features of a head; "
            f"got rotary_dim={rotary_dim}, dim={dim}."
        )
    return _order(dim, rotary_dim, to)


def features(
    x: Num[Array, "*shape"], *, dim: int, to: Layout, rotary_dim: int | None = None, axis: int = 0
) -> Num[Array, "*shape"]:
    """The features of every head along one axis, put in the order of the other layout.

    For the weights, biases and norm gains of queries and of keys; never for values. Heads are
    counted by their width, which queries and keys share however few key heads there are.

    Args:
        x: heads side by side along `axis`: a weight (heads * dim, inputs) or a bias
            (heads * dim,) as PyTorch keeps them, a gain (dim,), or the features themselves.
        dim: width of a head.
        to: the new layout; `x` comes in the other one.
        rotary_dim: how many leading features of a head turn, all by default.
        axis: the axis of the features; -1 for JAX kernels (inputs, heads * dim), for queries and
            for caches of unturned keys.
    Returns:
        Shape and dtype of `x`.
    Raises:
        TypeError: `x` is no array.
        ValueError: `axis` does not hold whole heads, or a width or `to` is not valid.
    Example:
        >>> import numpy as np
        >>> features(np.arange(8), dim=4, to="half").tolist()    # two heads
        [0, 2, 1, 3, 4, 6, 5, 7]

    Source: transformers, models/llama/convert_llama_weights_to_hf.py, permute.
    """
    size, new = _size(x, axis), order(dim, to=to, rotary_dim=rotary_dim)
    if size % dim:
        raise ValueError(
            f"`x` must hold whole heads of `dim` features along axis {axis}; got {size} entries "
            f"there, which {dim} does not divide, in shape {tuple(x.shape)}."
        )
    return _take(x, _units([True] * (size // dim), new), axis)


def fused_blocks(
    x: Num[Array, "*shape"],
    *,
    dim: int,
    heads: int,
    kv_heads: int,
    to: Layout,
    rotary_dim: int | None = None,
) -> Num[Array, "*shape"]:
    """A fused projection that holds all queries, then all keys, then all values.

    [q0 q1 ... | k0 k1 ... | v0 v1 ...]    Phi-3, DBRX; with one head of keys, Falcon-7B

    Args:
        x: weight ((heads + 2 kv_heads) * dim, inputs), or bias without the second axis.
        dim: width of a head.
        heads: heads of queries.
        kv_heads: heads of keys, as many as of values.
        to: the new layout; `x` comes in the other one.
        rotary_dim: how many leading features of a head turn, all by default.
    Returns:
        Shape and dtype of `x`. The values stay.
    Raises:
        TypeError: `x` is no array, or a count is no integer.
        ValueError: the first axis does not hold these heads, or a width or `to` is not valid.
    Example:
        >>> import numpy as np
        >>> fused_blocks(np.arange(16), dim=4, heads=2, kv_heads=1, to="half").tolist()
        [0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 13, 14, 15]

    Source: transformers, models/phi3/modeling_phi3.py, Phi3Attention.
    """
    new = order(dim, to=to, rotary_dim=rotary_dim)
    _holds(x, dim, heads, kv_heads)
    return _take(x, _units([True] * (heads + kv_heads) + [False] * kv_heads, new), 0)


def fused_groups(
    x: Num[Array, "*shape"],
    *,
    dim: int,
    heads: int,
    kv_heads: int,
    to: Layout,
    rotary_dim: int | None = None,
) -> Num[Array, "*shape"]:
    """A fused projection that holds, group by group, the queries of a key, the key, the value.

    [q0 q1 ... k0 v0 | ... k1 v1 | ...]    Megatron-LM, InternLM2, Falcon-40B
    [q0 k0 v0 | q1 k1 v1 | ...]            GPT-NeoX: as many heads of keys as of queries

    Args:
        x: weight ((heads + 2 kv_heads) * dim, inputs), or bias without the second axis.
        dim: width of a head.
        heads: heads of queries, a multiple of `kv_heads`.
        kv_heads: heads of keys, as many as of values; one to a group.
        to: the new layout; `x` comes in the other one.
        rotary_dim: how many leading features of a head turn, all by default.
    Returns:
        Shape and dtype of `x`. The values stay.
    Raises:
        TypeError: `x` is no array, or a count is no integer.
        ValueError: the first axis does not hold these heads, or a width or `to` is not valid.
    Example:
        >>> import numpy as np
        >>> fused_groups(np.arange(24), dim=4, heads=2, kv_heads=2, to="half").tolist()
        [0, 2, 1, 3, 4, 6, 5, 7, 8, 9, 10, 11, 12, 14, 13, 15, 16, 18, 17, 19, 20, 21, 22, 23]

    Source: transformers, models/gpt_neox/modeling_gpt_neox.py, GPTNeoXAttention;
    models/falcon/modeling_falcon.py, FalconAttention.
    """
    new = order(dim, to=to, rotary_dim=rotary_dim)
    _holds(x, dim, heads, kv_heads)
    group = [True] * (heads // kv_heads + 1) + [False]
    return _take(x, _units(group * kv_heads, new), 0)


def table(x: Num[Array, "*shape"], *, to: Layout, odd: Odd = "refuse") -> Num[Array, "*shape"]:
    """A table whose rows hold pairs, such as sinusoidal vectors, in the other layout.

    Cosines and sines with one entry a pair, as `Rotary.table` gives them, belong to both layouts.
    Those that hold each entry twice, as Hugging Face's, are converted here too.

    Args:
        x: features last.
        to: the new layout; `x` comes in the other one.
        odd: what became of an odd width: "refuse" it, "trim" (a last sine without its cosine) or
            "pad" (a last zero, which stays); the field of the same name of `Sinusoidal`.
    Returns:
        Shape and dtype of `x`.
    Raises:
        TypeError: `x` is no array.
        ValueError: the width is odd and `odd` is "refuse", or `to` or `odd` is unknown.
    Example:
        >>> import numpy as np
        >>> table(np.asarray([[10, 20, 11, 21]]), to="half").tolist()    # sines 1_, cosines 2_
        [[10, 11, 20, 21]]

    Source: tensor2tensor, layers/common_attention.py, for the layout [sin | cos].
    """
    _checks.one_of("odd", odd, ("refuse", "trim", "pad"))
    width = _size(x, -1)
    if width % 2 and odd == "refuse":
        raise ValueError(
            "`x` must have an even width, or `odd` must say what became of its last pair "
            f"('trim' or 'pad'); got width {width}."
        )
    return _take(x, _order(width, width - width % 2 if odd == "pad" else width, to), -1)


def _order(width: int, paired: int, to: Layout) -> tuple[int, ...]:
    """The order of `width` features of which the first `paired` form pairs."""
    _checks.one_of("to", to, ("half", "interleaved"))
    half = (*range(0, paired, 2), *range(1, paired, 2), *range(paired, width))
    if to == "half":
        return half
    return tuple(sorted(range(width), key=half.__getitem__))  # the inverse permutation


def _units(turning: Sequence[bool], new: tuple[int, ...]) -> list[int]:
    """Rows of heads side by side, those that turn in their new order."""
    dim = len(new)
    return [
        head * dim + row
        for head, turns in enumerate(turning)
        for row in (new if turns else range(dim))
    ]


def _size(x: Array, axis: int) -> int:
    _arrays.namespace(x)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"`axis` must be an axis of `x`; got {axis} for shape {tuple(x.shape)}.")
    return x.shape[axis]


def _holds(x: Array, dim: int, heads: int, kv_heads: int) -> None:
    """Refuse a fused array that does not hold just these heads."""
    _checks.integer("kv_heads", kv_heads, at_least=1)
    _checks.multiple("heads", heads, kv_heads, why="each head of keys serves as many queries")
    if _size(x, 0) != (heads + 2 * kv_heads) * dim:
        raise ValueError(
            f"`x` must have (heads + 2 kv_heads) * dim = {(heads + 2 * kv_heads) * dim} rows; "
            f"got {x.shape[0]} for heads={heads}, kv_heads={kv_heads}, dim={dim}."
        )


def _take(x: Array, rows: Sequence[int], axis: int) -> Array:
    xp = _arrays.namespace(x)
    return xp.take(x, _arrays.constant(list(rows), like=x, dtype=xp.int32), axis=axis)
