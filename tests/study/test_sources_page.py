"""The page of sources: each once, the easier ones first."""

from types import SimpleNamespace
from typing import Any

from posenc.study import sources
from posenc.study.pages import sources as reading

MATERIAL: Any = SimpleNamespace(
    sources=sources.entries("sources", []),
    lessons=sources.every("lessons"),
    formulas=sources.every("formulas"),
    title=lambda source, otherwise="": source.head.get("title", otherwise),
)
GROUPS = list(reading.groups(MATERIAL))


def test_every_source_stands_once():
    listed = [source["id"] for group in GROUPS for source in group["sources"]]
    assert sorted(listed) == sorted(MATERIAL.sources)
    by_year = [source["id"] for _, some in reading.years(MATERIAL) for source in some]
    assert sorted(by_year) == sorted(MATERIAL.sources)


def test_a_source_stands_where_it_is_first_read():
    where = {source["id"]: group["page"] for group in GROUPS for source in group["sources"]}
    for name in "press2021", "su2021", "alammar2018":
        readers = [page for page in MATERIAL.lessons if name in page.head.get("reading", [])]
        assert where[name] == f"learn/{readers[0].name}"


def test_easier_ones_come_first():
    order = ["first look", "explanation", "derivation", "paper", "code"]
    for group in GROUPS:
        levels = [order.index(source["level"]) for source in group["sources"]]
        assert levels == sorted(levels), group["title"]
    years = [year for year, _ in reading.years(MATERIAL)]
    assert years == sorted(set(years))


def test_what_is_read_first():
    assert [source["id"] for source in reading.first(MATERIAL)][:2] == [
        "alammar2018",
        "kazemnejad2019",
    ]
    assert len(reading.first(MATERIAL)) == 5


def test_sources_that_no_page_reads_stand_with_the_claims():
    bare: Any = SimpleNamespace(**vars(MATERIAL) | {"lessons": [], "formulas": []})
    [group] = reading.groups(bare)
    assert group["page"] == "claims/"
    assert len(group["sources"]) == len(MATERIAL.sources)
