"""The study site as files for a web host."""

import posixpath
import re

from posenc.explorer.rooms import ROOMS
from posenc.study import copied, site

OTHERS = {"index.html", *(f"{room}.html" for room in ROOMS)}


def test_every_link_leads_to_a_file():
    files = copied.files()
    found = 0
    for place, content in files.items():
        if not place.endswith(".html"):
            continue
        for link in re.findall(r'(?:href|src|data-room)="([^"#]+)', content.decode()):
            if link.startswith("https://"):
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(place), link))
            assert target in files or target in OTHERS or target.startswith("static/"), (
                place,
                link,
            )
            found += 1
    assert found > 1000


def test_every_page_is_there():
    files = copied.files()
    for address in site.built().pages:
        assert files[copied.place(address)].startswith(b"<!doctype html>")
    assert files["study/maths.woff"][:4] == b"wOFF"
    assert {"study/quiz.js", "study/study.css", "cards/posenc.txt", "cards/posenc.apkg"} <= {*files}
