"""The reference of the public names: complete, linked, readable."""

import importlib
import inspect
import posixpath
import re
import subprocess
import sys
import types

import pytest
from axe_playwright_python.sync_playwright import Axe

import posenc
from posenc import spec
from posenc.study import site
from posenc.study.links import Links
from posenc.study.reference import docstrings, reference

PAGES = {page: text for page, text in site.built().pages.items() if page.startswith("reference/")}
PACKAGES = ["explanations", "goldens", "identification", "mistakes", "properties"]

WITHOUT_TORCH = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "jax", "transformers", "jaxtyping", "numba"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
from posenc.study.reference import reference
print(reference().places["torch.transformers.replace"])
"""


def ids(page):
    return re.findall(r' id="([^"]+)"', PAGES[page])


def plain(page):
    """The words of a page without its marks."""
    return re.sub("<[^>]*>", "", PAGES[page]).replace("&#34;", '"').replace("&gt;", ">")


def test_every_public_name_has_an_entry():
    places = reference().places
    names = [name for name in posenc.__all__ if name != "__version__"]
    names += [
        f"{package}.{name}"
        for package in PACKAGES
        for name in importlib.import_module(f"posenc.{package}").__all__
        if name not in posenc.__all__
    ]
    names += [f"torch.{kind.__name__}" for kind in spec.ENCODINGS.values()]
    assert [name for name in names if name not in places] == []


def test_every_public_name_of_posenc_torch_has_an_entry():
    torch = pytest.importorskip("posenc.torch")
    offered = [name for name, value in vars(torch).items() if not name.startswith("_")]
    offered = [name for name in offered if not isinstance(vars(torch)[name], types.ModuleType)]
    assert {f"torch.{name}" for name in offered} - {*reference().places} == set()


@pytest.mark.parametrize("kind", spec.ENCODINGS.values(), ids=lambda kind: kind.__name__)
def test_every_method_and_argument_is_there(kind):
    page, _, at = reference().places[kind.__name__].partition("#")
    [entry] = [one for one in reference().pages[page]["entries"] if one.id == at]
    shown = re.sub("<[^>]*>", "", entry.signature)
    for name in inspect.signature(kind).parameters:
        assert re.search(rf"\b{name}: ", shown), name
    methods = [
        name
        for name, member in vars(kind).items()
        if inspect.isfunction(member) and member.__doc__ and not name.startswith("_")
    ]
    assert {one.called for one in entry.methods} >= {*methods}


def test_a_signature_shows_its_shapes():
    words = plain("reference/rotary")
    assert 'x: Float[Array, "*batch dim"],' in words
    assert ') -> tuple[Float[Array, "*tokens half"], Float[Array, "*tokens half"]]' in words
    assert "base: float = 10_000.0," in words
    assert 'Float[Array, "*batch heads queries keys"]' in plain("reference/alibi")


def test_a_module_of_pytorch_shows_the_arguments_of_its_encoding():
    torch = pytest.importorskip("posenc.torch")
    [entry] = [
        one for one in reference().pages["torch"]["entries"] if one.called == "posenc.torch.Rotary"
    ]
    shown = re.findall(r'"argument">(\w+)<', entry.signature)
    assert shown == [*inspect.signature(torch.Rotary).parameters]


def test_a_formula_keeps_its_lines():
    formula = "logits[h, i, j] = (queries[h, i] . keys[h, j]\n                   + queries[h, i]"
    assert f'<pre class="signs" tabindex="0"><code>{formula}' in PAGES["reference/deberta"]
    prose = "The sum falls with distance ** 2. It is *not* trained."
    assert docstrings.written(f"A.\n\n{prose}", docstrings.plain) == ("A.", f"<p>{prose}</p>")


def test_no_link_is_dead():
    known = site.built().pages
    found = 0
    for page, text in PAGES.items():
        for link in re.findall(r'href="([^"]+)"', text):
            address, _, fragment = link.partition("#")
            target = posixpath.join(posixpath.dirname(page), address) if address else page
            target = posixpath.normpath(target) + ("/" if target.endswith("/") else "")
            if target.startswith(("static/", "study/")) or target == "./":
                continue
            assert target in known, (page, link)
            if fragment:
                assert f' id="{fragment}"' in known[target], (page, link)
            found += 1
    assert found > 1500


def test_a_link_of_a_lesson():
    links = Links(names={"api": reference().places})
    assert links.address("api", "Rotary.rotate") == "reference/rotary#posenc.Rotary.rotate"
    assert links.address("api", "positions") == "reference/positions"
    with pytest.raises(LookupError, match="there is no api 'Rotary.turn'"):
        links.address("api", "Rotary.turn")


def test_ids_are_unique():
    assert all(len(ids(page)) == len({*ids(page)}) for page in PAGES)


def test_formula_pages_and_reference_lead_to_each_other():
    assert 'href="../reference/rotary#posenc.Rotary"' in site.built().pages["formulas/rotary"]
    assert 'href="../formulas/rotary"' in PAGES["reference/rotary"]
    assert 'href="../sources/#su2021"' in PAGES["reference/rotary"]
    assert 'href="../reference/torch#posenc.torch.Rotary"' in PAGES["reference/rotary"]


def test_nothing_is_inline():
    for page, text in PAGES.items():
        assert not re.search(r'<style|style="|<script(?![^>]*src=)| on\w+="', text), page


def test_without_torch():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_TORCH], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == (
        "torch-transformers#posenc.torch.transformers.replace\n",
        "",
    )


@pytest.mark.parametrize(("page", "theme"), [("", "dark"), ("rotary", "light")])
def test_accessibility(read, page, theme):
    tab = read(f"reference/{page}", theme=theme)
    violations = Axe().run(tab).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == []


def test_on_a_phone(read):
    tab = read("reference/rotary", width=390)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_deep_link(read):
    tab = read("reference/torch#posenc.torch.rotary.Turning.forward")
    assert tab.locator(":target").inner_text() == "forward"
    assert tab.locator(":target").bounding_box()["y"] < 100


def test_names_are_found_by_keyboard(read):
    tab = read("reference/")
    tab.get_by_label("Find a name").focus()
    tab.keyboard.type("from_mask")
    shown = tab.locator("[data-name]:visible").all_inner_texts()
    assert [text.split("\n")[0] for text in shown] == [
        "posenc.positions.from_mask",
        "posenc.grids.from_mask",
    ]
    assert tab.get_by_role("status").inner_text().startswith("2 of ")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/reference/positions#posenc.positions.from_mask")
