"""The study site beside the explorer, on the same server."""

# ruff: noqa: TID253  only the server imports this module

from __future__ import annotations

import mimetypes

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from posenc.study import site


def routes() -> list[BaseRoute]:
    """What is answered: /<folder>/, /<folder>/<page>, and the files of the pages."""
    return [
        Route("/study/maths.woff", _font),
        Mount("/study", StaticFiles(directory=site.HERE / "static")),
        Route("/{folder}/", _page),
        Route("/{folder}/{name}", _page),
    ]


def _font(request: Request) -> Response:
    return Response(site.font(), media_type="font/woff")


def _page(request: Request) -> Response:
    address = "/".join((request.path_params["folder"], request.path_params.get("name", "")))
    built = site.built()
    if address in built.pages:
        return HTMLResponse(built.pages[address])
    if address in built.files:
        kind = mimetypes.guess_type(address)[0] or "application/octet-stream"
        return Response(built.files[address], media_type=kind)
    return PlainTextResponse(f"there is no page {address!r}.", 404)
