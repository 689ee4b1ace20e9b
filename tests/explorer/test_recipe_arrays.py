"""Recipes of every encoding: whole, true to their request, and made of the library's numbers."""

import base64
import json

import numpy as np
import pytest

import posenc
from posenc import grids, mistakes, positions, spec
from posenc.bipe import segments
from posenc.explorer import recipes
from posenc.explorer.recipes import example, weights
from posenc.mrope import positions_of

WORDS = [
    "sinusoidal:dim=8",
    "learned:length=100,dim=6,offset=2",
    "sinusoidal_axes:dim=24",
    "learned_axes:lengths=[40,9],widths=[3,5]",
    "fourier_features:dim=12,axes=2",
    "nerf:octaves=4",
    "rotary:dim=8,scaling=yarn(factor=4,original_length=64)",
    "xpos:dim=8",
    "axial_rotary:dim=24,order=alternating",
    "mixed_rotary:dim=8,heads=3",
    "m_rotary:rotary=rotary(dim=16),sections=[2,3,3]",
    "bipe:intra=sinusoidal(dim=4),inter=rotary(dim=8)",
    "bipe:intra=sinusoidal(dim=4),inter=alibi(heads=4),bias_factor=96.0",
    "alibi:heads=6",
    "t5:heads=4",
    "kerple:heads=3",
    "fire:heads=3,direction=symmetric,threshold=8.0",
    "sandwich:heads=4,dim=16",
    "swin:heads=3,window=[5,7]",
    "swin_v2:heads=3,window=[5,7],hidden=10",
    "shaw:dim=8,max_distance=4",
    "transformer_xl:heads=2,dim=4,model_dim=8,max_distance=16",
    "deberta:heads=2,dim=8,max_distance=8",
    "cope:dim=8,length=6",
    "decomposed:dim=4,grid=[5,7]",
]
KINDS = [spec.parse(word) for word in WORDS]
every_kind = pytest.mark.parametrize("code", KINDS, ids=spec.to_text)


def test_no_kind_is_forgotten():
    assert {type(code) for code in KINDS} == set(spec.ENCODINGS.values())


def numbers(recipe):
    """The array of a recipe, or its numbers for each distance."""
    values = np.frombuffer(base64.b64decode(recipe["values"]), "<f4")
    return values.reshape(recipe["shape"] if recipe["kind"] == "array" else (recipe["heads"], -1))


@every_kind
def test_what_every_recipe_says(code):
    recipe = recipes.recipe(code, count=20)
    assert json.loads(json.dumps(recipe, allow_nan=False)) == recipe
    assert recipes.read(json.dumps(recipe["spec"])) == code
    assert spec.parse(recipe["text"]) == code
    assert eval(recipe["python"], {"posenc": posenc}) == code
    assert recipe["kind"] in ("waves", "bias", "gaps", "array")
    assert recipe["mistake"] is None
    rows, columns = recipes.table(code, 0, 20).shape
    if recipe["kind"] == "array":
        assert recipe["shape"] == [rows, columns]
        np.testing.assert_array_equal(numbers(recipe), recipes.table(code, 0, 20))
    assert len(recipe["places"]) in (0, rows)
    if recipe["family"] in ("bias", "term"):
        assert [recipe["axes"][axis]["name"] for axis in ("row", "column")] == ["query", "key"]
    else:
        assert len(recipe["columns"]) in (0, columns)
        assert all(pick < columns for pick in recipe["picks"])


@pytest.mark.parametrize(
    "word",
    [
        "deberta:heads=2,dim=8,max_distance=8,terms=[c2p]",
        "sinusoidal_axes:dim=8,axes=[0]",
        "rotary:dim=8,layout=interleaved,scaling=linear(factor=4.0)",
        "rotary:dim=4,scaling=longrope(short_factors=[1,1.5],long_factors=[2,4],factor=2.0,"
        "original_length=64)",
        "m_rotary:rotary=rotary(dim=16,scaling=yarn(factor=4,original_length=64)),sections=[2,3,3]",
        "bipe:intra=learned(length=9,dim=4),inter=xpos(dim=8),intra_length=9",
    ],
)
def test_python_makes_nested_encodings(word):
    code = spec.parse(word)
    assert eval(recipes.recipe(code, count=9)["python"], {"posenc": posenc}) == code


@every_kind
def test_a_recipe_depends_on_what_it_says(code):
    first = {"start": 2, "count": 20, "head": 1, "grid": 4}
    recipe = recipes.recipe(code, **first)
    for name, other in {"start": 3, "count": 24, "head": 0, "grid": 5}.items():
        changed = recipes.recipe(code, **first | {name: other})
        assert (changed != recipe) == (name in recipe["depends"]), name


@every_kind
def test_made_up_weights_are_marked(code):
    trained = getattr(code, "weights", {})
    assert bool(trained) == ("from a seed" in recipes.recipe(code, count=9)["note"])
    made = weights.made_up(code)
    assert {name: array.shape for name, array in made.items()} == trained
    assert all(array.dtype == np.float32 for array in made.values())


# The library itself is asked here, in the plainest way.


def same(code, want, **asked):
    got = recipes.table(code, asked.pop("start", 0), asked.pop("count"), **asked)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, np.asarray(want).astype(np.float32))


def wide(code):
    return {name: array.astype(np.float64) for name, array in weights.made_up(code).items()}


def test_vectors():
    learned, *_ = (code for code in KINDS if isinstance(code, posenc.Learned))
    same(learned, learned.encode(np.arange(3, 9), **weights.made_up(learned)), start=3, count=6)
    with pytest.raises(ValueError, match="must lie within -2 .. 99, because the table has 102"):
        recipes.table(learned, 95, 6)
    axes = posenc.SinusoidalAxes(dim=24, axes=(1, 0))
    cells = grids.unravel(np.arange(3, 23), 100, 6)
    same(axes, axes.encode(cells, dtype=np.float64), start=3, count=20, grid=6)
    assert recipes.recipe(axes, start=3, count=20, grid=6)["places"] == cells.tolist()
    own = posenc.LearnedAxes(lengths=(40, 9), widths=(3, 5))
    want = own.encode(grids.unravel(np.arange(20), 9, 8), **weights.made_up(own))
    same(own, want, count=20)  # eight cells in a row unless told otherwise


def test_what_a_row_is_called():
    called = {
        recipes.recipe(code, count=9)["text"]: recipes.recipe(code, count=9) for code in KINDS
    }
    rows = {text.partition(":")[0]: one["axes"]["row"]["name"] for text, one in called.items()}
    assert rows["sinusoidal"] == rows["learned"] == rows["rotary"] == rows["xpos"] == "position"
    assert rows["sinusoidal_axes"] == rows["axial_rotary"] == rows["mixed_rotary"] == "cell"
    assert rows["fourier_features"] == rows["nerf"] == "point"
    assert rows["m_rotary"] == "token"
    assert rows["swin"] == rows["alibi"] == rows["cope"] == "query"


def test_points_lie_between_0_and_1():
    nerf, fourier = posenc.Nerf(octaves=3, axes=2), posenc.FourierFeatures(dim=8, axes=3)
    centres = (positions.grid(5, 4) + 0.5) / (5, 4)
    same(nerf, nerf.encode(centres, dtype=np.float64), count=20, grid=4)
    for code in (nerf, fourier, posenc.Nerf(octaves=3, axes=1)):
        points = np.asarray(recipes.recipe(code, count=20, grid=3)["places"])
        assert points.min() > 0
        assert points.max() < 1
        assert len(np.unique(points, axis=0)) == 20
    matrix = fourier.initial_weights()["matrix"].astype(np.float64)
    points = np.asarray(recipes.recipe(fourier, count=20, grid=3)["places"])
    same(fourier, fourier.encode(points, matrix=matrix, dtype=np.float64), count=20, grid=3)


def cosines_and_sines(table):
    return np.concatenate(table, axis=-1)


def test_turning_on_grids():
    cells = grids.unravel(np.arange(3, 23), 100, 6)
    asked = {"start": 3, "count": 20, "grid": 6}
    axial = posenc.AxialRotary(dim=24, order="alternating")
    same(axial, cosines_and_sines(axial.table(cells, dtype=np.float64)), **asked)
    mixed = posenc.MixedRotary(dim=8, heads=3)
    cos, sin = mixed.table(cells, **wide(mixed), dtype=np.float64)
    for head in range(3):
        same(mixed, cosines_and_sines((cos[head], sin[head])), **asked, head=head)


def test_a_text_with_an_image():
    code = posenc.MRotary(rotary=posenc.Rotary(dim=16), sections=(2, 3, 3))
    where = positions_of([5, (2, 5), 5], start=7)
    same(code, cosines_and_sines(code.table(where, dtype=np.float64)), start=7, count=20, grid=5)
    recipe = recipes.recipe(code, start=7, count=20, grid=5)
    assert recipe["places"] == where.tolist()
    assert recipe["note"] == "5 tokens of text, an image of 2 × 5 cells, 5 of text."
    for count, grid in [(1, 1), (1, 512), (2, 3), (3, 8), (512, 512), (511, 100)]:
        assert recipes.recipe(code, count=count, grid=grid)["shape"] == [count, 16]


def test_a_text_in_sentences():
    ends = np.zeros(100, dtype=bool)
    ends[np.cumsum([7, 4, 9, 5, 12, 7, 4, 9, 5, 12]) - 1] = True
    text = segments(ends)[30:70]
    turning = posenc.Bipe(intra=posenc.Sinusoidal(dim=4), inter=posenc.Rotary(dim=8))
    want = cosines_and_sines(turning.inter.table(text, dtype=np.float64))
    same(turning, want, start=30, count=40)
    bias = posenc.Bipe(
        intra=posenc.Sinusoidal(dim=4), inter=posenc.Alibi(heads=4), bias_factor=96.0
    )
    same(bias, bias.bias(text, text)[2], start=30, count=40, head=2)
    assert [recipes.recipe(code)["family"] for code in (turning, bias)] == ["rotary", "bias"]
    learned = posenc.Bipe(intra=posenc.Learned(length=50, dim=4), inter=posenc.Rotary(dim=8))
    assert recipes.recipe(learned)["values"] == recipes.recipe(turning)["values"]
    assert "made up" not in recipes.recipe(learned)["note"]
    trained = posenc.Bipe(intra=posenc.Sinusoidal(dim=4), inter=posenc.T5(heads=4))
    with pytest.raises(TypeError, match="`inter` must take plain positions.*got T5"):
        recipes.recipe(trained)


@pytest.mark.parametrize(
    "code", [code for code in KINDS if hasattr(code, "bias") and type(code) is not posenc.Bipe]
)
def test_biases(code):
    grid = hasattr(code, "window")
    where = positions.grid(5, 7)[:20] if grid else np.arange(11, 31)
    want = code.bias(where, where, dtype=np.float64, **wide(code))
    for head in range(code.heads):
        same(code, want[head], start=11, count=20, head=head)
    if grid:
        assert recipes.table(code, 0, 64).shape == (35, 35)


@pytest.mark.parametrize("far", [0, 5000, recipes.FARTHEST])
@pytest.mark.parametrize(
    "code", [code for code in KINDS if type(code) in (posenc.T5, posenc.Kerple, posenc.Sandwich)]
)
def test_one_number_for_each_distance(code, far):
    recipe = recipes.recipe(code)
    assert recipe["reach"] == recipes.ROWS - 1
    apart = np.subtract.outer(np.arange(512), np.arange(512))
    for head in range(code.heads):
        by_distance = numbers(recipe)[head][recipe["reach"] + apart]
        np.testing.assert_array_equal(by_distance, recipes.table(code, far, 512, head=head))


def test_terms():
    tokens, count = np.arange(20), 20
    for code in (code for code in KINDS if recipes.recipe(code, count=1)["family"] == "term"):
        heads = getattr(code, "heads", 1)
        queries = np.tile(example.queries(code.dim, count), (heads, 1, 1))
        keys = np.tile(example.keys(code.dim, count), (heads, 1, 1))
        trained = wide(code)
        if isinstance(code, posenc.Decomposed):
            cells = positions.grid(5, 7)[:20]
            want = code.score_term(queries, cells, cells, **trained)
        elif isinstance(code, posenc.Shaw):
            want = code.score_term(queries, tokens, tokens, key_table=trained["key_table"])
        elif isinstance(code, posenc.Cope):
            stops = np.where((tokens + 1) % 6 == 0, 1, -1)[:, None] * keys
            want = code.score_term(queries, stops, tokens, tokens, **trained)
            want = np.where(tokens > tokens[:, None], -np.inf, want)
        else:
            want = code.score_term(queries, keys, tokens, tokens, **trained)
        for head in range(heads):
            got = recipes.table(code, 0, count, head=head)
            # One head alone is another matrix product than all of them at once.
            np.testing.assert_allclose(got, want[head], rtol=1e-6, atol=1e-6)


def test_cells_of_pooled_keys():
    code = posenc.Decomposed(dim=4, grid=(4, 4), key_grid=(2, 2))
    assert recipes.recipe(code, count=64)["shape"] == [16, 4]


def test_the_example_text_grows_at_its_end():
    np.testing.assert_array_equal(example.queries(8, 30)[:20], example.queries(8, 20))


# What turns


TURNING = [
    posenc.Rotary(dim=16, layout="interleaved", rotary_dim=12),
    posenc.XPos(dim=16),
    posenc.AxialRotary(dim=24, layout="half"),
    posenc.AxialRotary(dim=24, layout="interleaved", order="alternating"),
    posenc.AxialRotary(dim=24, layout="axis_half"),
    posenc.AxialRotary(dim=26, layout="axis_half", rest="leave", axes=(1, 0, 2)),
    posenc.AxialRotary(dim=24, widths=(8, 16), axes=(1, 0), layout="axis_half"),
    posenc.MixedRotary(dim=8, heads=2),
    posenc.MRotary(rotary=posenc.Rotary(dim=16, rotary_dim=12), sections=(2, 2, 2)),
]


@pytest.mark.parametrize("code", TURNING)
def test_pairs_that_turn(code):
    recipe = recipes.recipe(code, start=3, count=20, grid=5)
    where = np.asarray(recipe["places"]) if recipe["places"] else np.arange(3, 23)
    cos, sin = np.split(recipes.table(code, 3, 20, grid=5), 2, axis=-1)
    query = np.asarray(recipe["example"]["query"])
    options = {"role": "query"} if isinstance(code, posenc.XPos) else wide(code)
    shape = (code.heads, 20, len(query)) if isinstance(code, posenc.MixedRotary) else None
    want = code.rotate(np.broadcast_to(query, shape or (20, len(query))), where, **options)
    first, second = np.transpose(recipe["partners"])
    got = np.tile(query, (20, 1))
    got[:, first] = query[first] * cos - query[second] * sin
    got[:, second] = query[second] * cos + query[first] * sin
    np.testing.assert_allclose(got, want[0] if shape else want, atol=1e-6)
    angles = _angles(recipe, where)
    if angles is not None and not isinstance(code, posenc.XPos):
        np.testing.assert_allclose(recipe["scale"] * np.cos(angles), cos, atol=1e-6)


@pytest.mark.parametrize(
    "code",
    [
        posenc.SinusoidalAxes(dim=24, layout=layout, axes=axes, spacing=spacing)
        for layout in ("axis_half", "half", "interleaved")
        for axes, spacing in (((0, 1), "paper"), ((1, 0), "endpoint"))
    ]
    + [
        posenc.SinusoidalAxes(dim=20, axes=(0, 1, 2), rest="trim", layout="interleaved"),
        posenc.SinusoidalAxes(dim=28, axes=(0, 1, 2), rest="leave"),
        posenc.SinusoidalAxes(dim=24, widths=(8, 16)),
    ],
)
def test_waves_of_each_column(code):
    recipe = recipes.recipe(code, start=3, count=20, grid=5)
    angles = _angles(recipe, np.asarray(recipe["places"]))
    shapes = {"sin": np.sin, "cos": np.cos, "zero": np.zeros_like}
    want = [shapes[wave](angles[:, pair]) for wave, pair in recipe["columns"]]
    np.testing.assert_allclose(numbers(recipe), np.transpose(want), atol=1e-6)


def _angles(recipe, where):
    if not recipe["frequencies"]:
        return None
    if not recipe["pair_axes"]:
        return where[:, None] * np.asarray(recipe["frequencies"])
    return where[:, recipe["pair_axes"]] * recipe["frequencies"]


def test_a_long_text_turns_by_its_length():
    code = posenc.Rotary(dim=8, scaling=posenc.DynamicNTK(original_length=64, factor=2.0))
    recipe = recipes.recipe(code, start=90, count=10)
    assert recipe["depends"] == ["start", "count"]
    assert recipe["note"] == "Drawn for a text of 100 tokens."
    assert recipe["frequencies"] == list(code.frequencies_at(100))
    want = code.table(np.arange(90, 100), length=100, dtype=np.float64)
    same(code, cosines_and_sines(want), start=90, count=10)


# Mistakes


MISTAKEN = [
    spec.parse(word)
    for word in (
        "sinusoidal:dim=8",
        "rotary:dim=8",
        "rotary:dim=8,layout=interleaved,rotary_dim=6,scaling=yarn(factor=4,original_length=64)",
        "alibi:heads=6",
        "t5:heads=3",
    )
]


@pytest.mark.parametrize(
    ("code", "mistake"),
    [(code, mistake.name) for code in MISTAKEN for mistake in mistakes.of(code)],
)
def test_mistakes(code, mistake):
    # Far and long enough for float16 to lose a position and bfloat16 a distance.
    recipe = recipes.recipe(code, start=3000, count=300, head=1, mistake=mistake)
    wrong = recipes.table(code, 3000, 300, head=1, mistake=mistake)
    np.testing.assert_array_equal(numbers(recipe), wrong)
    right = recipes.table(code, 3000, 300, head=1)
    assert recipe["mistake"]["name"] == mistake
    assert recipe["family"] == recipes.recipe(code)["family"]
    if mistake == "transposed":
        np.testing.assert_allclose(wrong.T, right, atol=1e-6)
        assert recipe["axes"] == {"row": {"name": "feature"}, "column": {"name": "position"}}
        return
    assert wrong.shape == right.shape
    assert not np.allclose(np.nan_to_num(wrong), np.nan_to_num(right), rtol=0, atol=1e-5)


def test_a_mistake_has_the_meaning_of_the_right_picture():
    def table(code, name, head=0):
        return recipes.table(code, 5, 7, head=head, mistake=name)

    rope = posenc.Rotary(dim=8)
    cos, sin = (half.astype(np.float32) for half in rope.table(np.arange(5, 12), dtype=np.float64))
    backwards = np.concatenate([cos, -sin], axis=-1)
    np.testing.assert_allclose(table(rope, "turned backwards"), backwards, atol=1e-6)
    later = recipes.table(rope, 6, 7)
    np.testing.assert_allclose(table(rope, "positions from 1"), later, atol=1e-6)
    alibi = posenc.Alibi(heads=4, direction="symmetric")
    np.testing.assert_array_equal(
        table(alibi, "sign of the bias", 2), -recipes.table(alibi, 5, 7, head=2)
    )
    t5 = posenc.T5(heads=3)
    swapped = recipes.table(t5, 5, 7, head=2).T
    np.testing.assert_array_equal(table(t5, "directions swapped", 2), swapped)


# Refusals


@pytest.mark.parametrize(
    ("word", "asked", "message"),
    [
        ("sinusoidal:dim=4", {"count": 0}, "`count` must lie between 1 and 512"),
        ("sinusoidal:dim=4", {"count": True}, "`count` must be an integer"),
        ("sinusoidal:dim=4", {"start": -1}, "`start` must lie between 0 and 2147482624"),
        ("sinusoidal:dim=4", {"start": 2**31}, "`start` must lie between"),
        ("alibi:heads=4", {"head": 4}, "`head` must lie between 0 and 3; got head=4"),
        ("bipe:intra=sinusoidal(dim=4),inter=alibi(heads=4)", {"head": 4}, "`head` must lie"),
        ("sinusoidal_axes:dim=24", {"grid": 0}, "`grid` must lie between 1 and 512"),
        ("learned_axes:lengths=[4,4],widths=[2,2]", {}, "must lie within 0 .. 3"),
        ("rotary:dim=8", {"mistake": "nothing"}, "`mistake` must be one that is made in Rotary"),
        ("nerf:octaves=2", {"mistake": "degrees"}, "Nerf.*there is none; got 'degrees'"),
        (
            "rotary:dim=1024",
            {"mistake": "degrees"},
            "`count` must be at most 16 to draw a mistake in a rotary encoding of 1024 features",
        ),
        ("m_rotary:rotary=rotary(dim=2000),sections=[400,300,300]", {}, "`dim` must be at most"),
        ("bipe:intra=sinusoidal(dim=2000),inter=rotary(dim=8)", {}, "`dim` must be at most 1024"),
        ("learned:length=1000000,dim=4", {}, "`length` must be at most 4096"),
        ("swin:heads=2,window=[99,5]", {}, "`window` must be at most 32.*window=99"),
        ("deberta:heads=64,dim=1024", {}, "at most 4,194,304 trained numbers; this one has 134,"),
        ("nerf:octaves=64,axes=5", {}, "`axes` must be at most 4"),
        ("learned_axes:lengths=[9,9],widths=[800,800]", {}, "at most 1,024 features.*1,600"),
        ("sinusoidal_axes:dim=20,axes=[0,1,2,3,4],rest=trim", {}, "at most 4 axes.*5"),
        ("sinusoidal:dim=" + "[" * 9 + "4" + "]" * 9, {}, "must be an integer"),
        ("linear:factor=2", {}, "must be an encoding of posenc.*got Linear"),
    ],
)
def test_refused(word, asked, message):
    with pytest.raises((TypeError, ValueError), match=message):
        recipes.recipe(recipes.read(word), **asked)


def test_numbers_without_a_limit_are_taken():
    code = recipes.read("rotary:dim=4,base=100000000000")
    assert recipes.recipe(code)["frequencies"] == list(code.frequencies)


def test_long_lists_are_refused():
    factors = ",".join(["1.0"] * 2000)
    scaling = f"longrope(short_factors=[{factors}],long_factors=[1],original_length=64)"
    with pytest.raises(
        ValueError, match="`short_factors` must have at most 1024 entries; got 2000"
    ):
        recipes.read(f"rotary:dim=4,scaling={scaling}")


@pytest.mark.parametrize("name", ["positions in float16", "angles in float16"])
@pytest.mark.parametrize("word", ["sinusoidal:dim=8", "rotary:dim=8"])
def test_an_overflow_is_said(word, name):
    code = recipes.read(word)
    assert np.isfinite(recipes.table(code, 65_000, 8, mistake=name)).all()
    with pytest.raises(ValueError, match="nothing is left at position 70007: float16 ends"):
        recipes.recipe(code, start=70_000, count=8, mistake=name)
