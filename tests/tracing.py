"""The same answer under every tracer, and the right slope, for any function of arrays."""

import numpy as np

from frameworks import numpy


def normal(*shapes):
    """One random array for each shape, the same in every run."""
    random = np.random.default_rng(0)
    return [random.standard_normal(shape) for shape in shapes]


def check_traced(function, *arrays, atol=1e-5):
    """jax.jit, torch.compile and torch.export give what NumPy gives, without a break."""
    import jax
    import torch

    want = function(*arrays)
    inputs = [torch.asarray(array) for array in arrays]

    class Module(torch.nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    torch._dynamo.reset()
    compiled = torch.compile(function, fullgraph=True, backend="eager")(*inputs)
    exported = torch.export.export(Module(), tuple(inputs)).module()(*inputs)
    narrow = [a.astype(np.int32) if a.dtype == np.int64 else a for a in arrays]
    jitted = jax.jit(function)(*narrow)
    for got in compiled, exported, jitted:
        np.testing.assert_allclose(numpy(got), want, rtol=0, atol=atol)


def check_any_length(function, *arrays, axes):
    """A program exported from one length serves others; `axes` says where an array has tokens."""
    import torch

    class Module(torch.nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    inputs = [torch.asarray(array) for array in arrays]
    tokens = torch.export.Dim("tokens", min=2, max=1 << 20)
    dynamic = [None if axis is None else {axis: tokens} for axis in axes]
    program = torch.export.export(Module(), tuple(inputs), dynamic_shapes=(tuple(dynamic),))
    longer = [
        tensor if axis is None else torch.cat([tensor, tensor.flip(axis)], axis)
        for tensor, axis in zip(inputs, axes, strict=True)
    ]
    got, want = program.module()(*longer), function(*longer)
    assert got.shape == want.shape
    torch.testing.assert_close(got, want, rtol=0, atol=1e-6)


def check_gradients(function, *arrays):
    """PyTorch's gradients agree with differences, and JAX's with PyTorch's, for every array."""
    import jax
    import torch

    inputs = [torch.asarray(array).double().requires_grad_() for array in arrays]
    torch.autograd.gradcheck(function, inputs)
    weights = np.cos(np.arange(function(*inputs).numel()))

    def loss(*inputs, xp):
        return (xp.reshape(function(*inputs), (-1,)) * xp.asarray(weights)).sum()

    loss(*inputs, xp=torch).backward()
    with jax.enable_x64(True):
        wanted = tuple(range(len(arrays)))
        wide = [jax.numpy.asarray(array, dtype="float64") for array in arrays]
        slopes = jax.jit(jax.grad(lambda *x: loss(*x, xp=jax.numpy), argnums=wanted))(*wide)
        for got, tensor in zip(slopes, inputs, strict=True):
            assert float(abs(got).max()) > 0
            np.testing.assert_allclose(np.asarray(got), tensor.grad.numpy(), atol=1e-9)
