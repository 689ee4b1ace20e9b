"""What the page's kernel makes of recipes, in a real browser: the library's numbers, bit by bit."""

import base64
import functools
import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from browsing import differences

import posenc
from posenc import mistakes, precision, spec
from posenc.explorer import recipes
from posenc.explorer.page import HERE

KERNEL = HERE / "static" / "kernel.js"

# Each kind twice, with settings that change every step of it.
WORDS = [
    "sinusoidal:dim=64",
    "sinusoidal:dim=7,odd=pad,layout=half,first=cos,offset=-3",
    "learned:length=5000,dim=6,offset=2",
    "learned:length=4096,dim=5",
    "sinusoidal_axes:dim=64",
    "sinusoidal_axes:dim=28,axes=[2,0,1],rest=leave,layout=interleaved",
    "learned_axes:lengths=[700,9],widths=[3,5]",
    "learned_axes:lengths=[700,9],widths=[4,4],combine=add",
    "fourier_features:dim=12,axes=2",
    "fourier_features:dim=6,axes=1,first=sin,scale=10.0",
    "nerf:octaves=4",
    "nerf:octaves=10,axes=2,pi=true,include_input=false,grouping=axis",
    "rotary:dim=64",
    "rotary:dim=24,rotary_dim=16,layout=interleaved,scaling=yarn(factor=4,original_length=64)",
    "xpos:dim=64",
    "xpos:dim=8,layout=half,scale_base=64.0,gamma=1.0,center=2300",
    "axial_rotary:dim=24,order=alternating",
    "axial_rotary:dim=26,layout=axis_half,rest=leave,axes=[1,0,2]",
    "mixed_rotary:dim=8,heads=3",
    "mixed_rotary:dim=16,heads=2,layout=half,axes=[0,1]",
    "m_rotary:rotary=rotary(dim=16),sections=[2,3,3]",
    "m_rotary:rotary=rotary(dim=8,layout=interleaved),sections=[2,2],order=interleaved",
    "bipe:intra=sinusoidal(dim=4),inter=rotary(dim=8)",
    "bipe:intra=sinusoidal(dim=4),inter=alibi(heads=4),bias_factor=96.0",
    "alibi:heads=12",
    "alibi:heads=3,direction=asymmetric,rule=plain",
    "t5:heads=4",
    "t5:heads=3,bidirectional=false,buckets=8,max_distance=40",
    "kerple:heads=3",
    "kerple:heads=2,form=power,direction=symmetric",
    "fire:heads=3,threshold=8.0",
    "fire:heads=2,direction=symmetric",
    "sandwich:heads=4",
    "sandwich:heads=2,dim=16,start=0,direction=symmetric",
    "swin:heads=3,window=[5,7]",
    "swin:heads=2,window=[12,12]",
    "swin_v2:heads=3,window=[5,7],hidden=10",
    "swin_v2:heads=2,window=[12,12],trained_window=[8,8]",
    "shaw:dim=8,max_distance=4",
    "shaw:dim=64,max_distance=64,ahead=8,values=false",
    "transformer_xl:heads=2,dim=4,model_dim=8,max_distance=16",
    "transformer_xl:heads=2,dim=8,model_dim=64,max_distance=100,ahead=0",
    "deberta:heads=2,dim=8,max_distance=8",
    "deberta:heads=2,dim=8,max_distance=64,buckets=16,terms=[p2c],p2c_index=paper",
    "cope:dim=8,length=6",
    "cope:dim=64,length=64,gate=raw",
    "decomposed:dim=4,grid=[5,7]",
    "decomposed:dim=8,grid=[12,12],key_grid=[6,6]",
]
ASKED = [
    {"start": 0, "count": 64, "head": 0, "grid": None},
    {"start": 2100, "count": 150, "head": 1, "grid": 5},
]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def files():
    """The address of the static files and nothing else."""
    handler = functools.partial(_Quiet, directory=KERNEL.parent)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def tab(browser, files):
    """An empty page that has loaded the kernel."""
    page = browser.new_page()
    page.set_default_timeout(5000)
    page.goto(f"{files}/icon.svg")
    page.evaluate("async () => { globalThis.kernel = await import('/kernel.js'); }")
    yield page
    page.close()


BYTES = """(values) => {
    let text = "";
    for (const byte of new Uint8Array(Float32Array.from(values).buffer)) {
        text += String.fromCharCode(byte);
    }
    return btoa(text);
}"""


def drawn(tab, recipe, span):
    """The picture that the kernel makes, and its lowest and highest number."""
    made = tab.evaluate(
        f"""([recipe, span]) => {{
            const made = kernel.table(recipe, span);
            return {{ ...made, values: ({BYTES})(made.values) }};
        }}""",
        [recipe, span],
    )
    values = np.frombuffer(base64.b64decode(made["values"]), "<f4")
    return values.reshape(made["rows"], made["columns"]), made["lowest"], made["highest"]


def compare(tab, code, asked, mistake=None):
    start, count = asked["start"], asked["count"]
    recipe = recipes.recipe(code, **asked, mistake=mistake)
    got, lowest, highest = drawn(tab, recipe, asked)
    options = {"head": asked["head"], "grid": asked["grid"], "mistake": mistake}
    want = recipes.table(code, start, count, **options)
    assert differences(got, want) == 0
    finite = want[np.isfinite(want)]
    if recipe["kind"] == "waves" and "rates" not in recipe:
        assert (lowest, highest) == (-recipe["scale"], recipe["scale"])
    else:
        assert (lowest, highest) == (finite.min(), finite.max())


def test_each_kind_stands_here_twice():
    kinds = [type(spec.parse(word)) for word in WORDS]
    assert all(kinds.count(kind) >= 2 for kind in spec.ENCODINGS.values())


@pytest.mark.parametrize("word", WORDS)
def test_the_browser_has_the_librarys_numbers(tab, word):
    code = spec.parse(word)
    for asked in ASKED:
        compare(tab, code, asked)


@pytest.mark.parametrize("far", [2**18 - 512, recipes.FARTHEST])
def test_far_positions(tab, far):
    asked = {"start": far, "count": 512, "head": 0, "grid": None}
    for word in ("sinusoidal:dim=128", "rotary:dim=128,base=500000", "alibi:heads=2", "t5:heads=2"):
        compare(tab, spec.parse(word), asked)
    # Its queries shrink to nothing much later than here.
    compare(tab, posenc.XPos(dim=64, center=far, scale_base=4096.0), asked)


@pytest.mark.parametrize("code", [posenc.Sinusoidal(dim=8), posenc.Rotary(dim=8)])
def test_wrong_versions(tab, code):
    for mistake in mistakes.of(code):
        compare(tab, code, ASKED[1], mistake.name)


def test_the_kernel_knows_no_method():
    # Every number of a method is in its recipe: the kernel itself has only 0, 1, 2 and pi.
    code = _without_comments(KERNEL)
    assert set(re.findall(r"(?<![\w.$])\d[\w.]*", code)) <= {"0", "1", "2"}
    assert not [name for name in spec.ENCODINGS if re.search(rf"\b{name}\b", code, re.IGNORECASE)]


def test_no_script_knows_a_base_or_a_method():
    # "rotary" is the name of a family besides; the others are words of English.
    names = "|".join(spec.ENCODINGS.keys() - {"rotary", "learned", "fire", "decomposed"})
    for path in KERNEL.parent.rglob("*.js"):
        found = re.search(rf"\b(10_?000|{names})\b", _without_comments(path))
        assert found is None, path.name


def _without_comments(path):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)


def test_a_picture_can_be_changed_without_harm(tab):
    recipe = recipes.recipe(posenc.Learned(length=8, dim=4), count=8)
    again = tab.evaluate(
        """(recipe) => {
            kernel.table(recipe, {}).values.fill(0);
            return [...kernel.table(recipe, {}).values];
        }""",
        recipe,
    )
    want = recipes.table(posenc.Learned(length=8, dim=4), 0, 8)
    np.testing.assert_array_equal(np.float32(again).reshape(8, 4), want)


def test_old_browsers_read_base64_too(tab):
    recipe = recipes.recipe(posenc.Learned(length=8, dim=4), count=8)
    with_atob = tab.evaluate(
        """(recipe) => {
            const own = Uint8Array.fromBase64;
            delete Uint8Array.fromBase64;
            const { values } = kernel.table(recipe, {});
            if (own) Uint8Array.fromBase64 = own;
            return [...values];
        }""",
        recipe,
    )
    want = recipes.table(posenc.Learned(length=8, dim=4), 0, 8)
    np.testing.assert_array_equal(np.float32(with_atob).reshape(8, 4), want)


# Single numbers


@pytest.mark.parametrize(
    "code",
    [
        posenc.Rotary(dim=16),
        posenc.Rotary(dim=16, layout="interleaved", rotary_dim=12),
        posenc.XPos(dim=16, center=1000),
    ],
)
def test_turning(tab, code):
    recipe, where = recipes.recipe(code), [0, 1, 5, 1000, 2500]
    roles = ("query", "key") if isinstance(code, posenc.XPos) else ("query",)
    for role in roles:
        vector = recipe["example"][role]
        got = tab.evaluate(
            """([recipe, vector, role, positions]) =>
                positions.map((at) => [...kernel.rotate(recipe, vector, at, role)])""",
            [recipe, vector, role, where],
        )
        options = {"role": role} if isinstance(code, posenc.XPos) else {}
        want = code.rotate(np.tile(np.float32(vector), (5, 1)), np.asarray(where), **options)
        np.testing.assert_array_equal(np.float32(got), want)


@pytest.mark.parametrize(
    "code", [posenc.Rotary(dim=16), posenc.AxialRotary(dim=16, layout="axis_half")]
)
def test_turning_by_a_row_of_the_picture(tab, code):
    recipe = recipes.recipe(code, start=40, count=6)
    got = tab.evaluate(
        """(recipe) => {
            const made = kernel.table(recipe, { start: 40, count: 6, head: 0 });
            const [cosines, sines] = kernel.cosinesAndSines(made, 5);
            return [...kernel.turned(recipe.example.query, cosines, sines, recipe.partners)];
        }""",
        recipe,
    )
    where = np.asarray(recipe["places"][5:]) if recipe["places"] else np.asarray([45])
    want = code.rotate(np.float32([recipe["example"]["query"]]), where)
    np.testing.assert_array_equal(np.float32([got]), want)


def test_a_curve_between_positions(tab):
    code = posenc.XPos(dim=8)
    recipe, where = recipes.recipe(code), [0.0, 0.5, 7.25, 300.125]
    got = tab.evaluate(
        """([recipe, positions]) => positions.map((at) =>
            recipe.columns.map((_, column) => kernel.wave(recipe, column, at)))""",
        [recipe, where],
    )
    table = code.table(np.asarray(where), role="query", dtype=np.float64)
    np.testing.assert_allclose(got, np.concatenate(table, axis=-1), rtol=0, atol=1e-12)
    lengths = tab.evaluate(
        "(recipe) => recipe.columns.map((_, at) => kernel.wavelength(recipe, at))", recipe
    )
    np.testing.assert_allclose(lengths, 2 * (2 * np.pi / np.asarray(code.frequencies)).tolist())
    own = recipes.recipe(posenc.Learned(length=80, dim=4))
    assert tab.evaluate("(recipe) => kernel.wavelength(recipe, 3)", own) is None


def test_one_bias(tab):
    got = tab.evaluate(
        """(recipe) => [[9, 2], [2, 9], [511, 0], [512, 0]].map(
            ([query, key]) => kernel.bias(recipe, 1, query, key))""",
        recipes.recipe(posenc.Sandwich(heads=2)),
    )
    want = posenc.Sandwich(heads=2).bias(np.asarray([9, 511]), np.asarray([2, 0]))[1]
    assert got[:3] == [want[0, 0], -np.inf, want[1, 1]]
    assert np.isnan(got[3])  # farther than the recipe tells


# Arithmetic


def test_products_of_rows(tab):
    rows = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    script = "(values) => [...kernel.gram(Float32Array.from(values), 5, 3)]"
    got = np.reshape(tab.evaluate(script, rows.ravel().tolist()), (5, 5))
    want = rows.astype(np.float64) @ rows.astype(np.float64).T
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-15)
    assert (got == got.T).all()


def test_differences(tab):
    got = tab.evaluate(
        """() => [...kernel.difference(
            Float32Array.of(3, -Infinity, 1, -Infinity), Float32Array.of(1, -Infinity, 1, 2))]"""
    )
    assert got == [2, 0, 0, -np.inf]


def test_dot_and_softmax(tab):
    assert tab.evaluate("() => kernel.dot([1, 2, 3], [4, 5, 6])") == 32
    scores = np.asarray([1000.0, 1001.0, 998.0])
    got = tab.evaluate("(scores) => kernel.softmax([...scores, -Infinity])", scores.tolist())
    shares = np.exp(scores - 1001) / np.exp(scores - 1001).sum()
    np.testing.assert_allclose(got, [*shares, 0], rtol=1e-15)
    assert tab.evaluate("() => kernel.softmax([-Infinity, -Infinity])") == [0, 0]


@pytest.mark.parametrize("name", precision.FORMATS)
def test_rounding(tab, name):
    digits, _, largest = precision.FORMATS[name]
    sizes = 2.0 ** np.random.default_rng(0).uniform(-30, 18, 2000)
    halves = np.arange(-520, 520) / 2
    steps = 1 + np.arange(-9, 9) / 2 ** (digits + 1)
    ends = largest * np.asarray([1.0, 1 + 2.0**-53 * 2, 1 + 2.0 ** (-digits - 1), 1.5])
    values = np.concatenate([sizes, -sizes, halves, steps, ends, [0.0]])
    script = "([values, format]) => kernel.rounded(values, format)"
    got = tab.evaluate(script, [values.tolist(), list(precision.FORMATS[name])])
    np.testing.assert_array_equal(np.asarray(got), precision.rounded(values, name))
