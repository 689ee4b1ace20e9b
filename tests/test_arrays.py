"""The door to the libraries: what it says of arrays, and that it opens no library by itself."""

import subprocess
import sys

import numpy as np
import pytest

from frameworks import numpy
from posenc import _arrays


def test_import_loads_no_framework():
    code = (
        "import sys, posenc; "
        "heavy = {'torch', 'jax', 'matplotlib', 'starlette', 'typer', 'jaxtyping', 'scipy'}; "
        "sys.exit(', '.join(heavy & set(sys.modules)) or None)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_kinds(framework):
    array = framework.array
    assert _arrays.is_integer(array([1]))
    assert not _arrays.is_integer(array([True]))
    assert _arrays.is_bool(array([True]))
    assert _arrays.is_floating(array([0.5]))
    assert not _arrays.is_floating(array([1]))
    assert _arrays.has_float64(array([1])) == (framework.name != "jax")
    assert _arrays.readable(array([1]))


def test_working_dtype_is_never_narrow(framework):
    xp = framework.xp
    assert _arrays.working_dtype(framework.array([0.5], "float32")) == xp.float32
    assert _arrays.working_dtype(framework.array([1])) == xp.float32
    if framework.name != "jax":
        assert _arrays.working_dtype(framework.array([0.5], "float64")) == xp.float64


def test_half_precision():
    import jax.numpy as jnp
    import torch

    halves = [np.float16, torch.float16, torch.bfloat16, torch.float8_e4m3fn, jnp.bfloat16]
    assert all(_arrays.half_precision(np.dtype(d) if d is np.float16 else d) for d in halves)
    wide = [np.dtype("float32"), np.dtype("float64"), torch.float32, torch.float64, torch.int16]
    wide.append(np.dtype(np.longdouble))
    assert not any(map(_arrays.half_precision, wide))


def test_constant_goes_where_the_array_is(framework):
    like = framework.array([1])
    made = _arrays.constant([1, 2], like=like, dtype=framework.xp.float32)
    assert framework.is_own(made)
    assert _arrays.device(made) == _arrays.device(like)
    np.testing.assert_array_equal(numpy(made), [1, 2])


def test_constant_goes_to_a_device_without_memory():
    import torch

    like = torch.zeros(1, device="meta")
    assert _arrays.constant([1.0], like=like, dtype=torch.float32).device.type == "meta"


def test_mixed_libraries_are_refused():
    import torch

    with pytest.raises(TypeError, match="from one library .* got Tensor, ndarray"):
        _arrays.namespace(np.zeros(1), torch.zeros(1))
    with pytest.raises(TypeError, match="got list"):
        _arrays.namespace([1, 2])


def test_values_are_not_read_while_traced():
    import jax
    import jax.numpy as jnp
    import torch

    seen = []
    jax.jit(lambda x: seen.append(_arrays.readable(x)) or x)(jnp.zeros(1))
    torch.vmap(lambda x: seen.append(_arrays.readable(x)) or x)(torch.zeros(1))
    assert seen == [False, False]
    assert not _arrays.readable(torch.zeros(1, device="meta"))


def test_running_sum(framework):
    got = _arrays.running_sum(framework.array(np.asarray([[1, 2, 3], [4, 0, 5]])))
    assert numpy(got).tolist() == [[1, 3, 6], [4, 4, 9]]


def test_matmul(framework):
    one = framework.array([[1.0, 2.0]])
    got = _arrays.matmul(one, framework.array([[3.0], [4.0]]))
    assert framework.is_own(got)
    assert numpy(got).tolist() == [[11.0]]


def test_no_gradient_passes():
    import jax
    import torch

    x = torch.ones(1, requires_grad=True)
    assert not _arrays.without_gradient(x).requires_grad
    assert jax.grad(lambda y: y * _arrays.without_gradient(y))(3.0) == 3.0
    assert _arrays.without_gradient(np.ones(1)).tolist() == [1.0]


@pytest.mark.parametrize(("source", "destination"), [(0, -1), (-1, 0), (1, 2), (2, 1), (-2, -3)])
def test_moveaxis(framework, source, destination):
    x = np.arange(24).reshape(2, 3, 4)
    got = _arrays.moveaxis(framework.array(x), source, destination)
    np.testing.assert_array_equal(numpy(got), np.moveaxis(x, source, destination))
