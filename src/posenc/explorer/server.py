"""Sends the page and the recipes to this machine's browser, and nothing else."""

# ruff: noqa: TID253  only `posenc.explorer.serve` imports this module

from __future__ import annotations

import contextlib
import os
import socket
import webbrowser

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from posenc import _checks
from posenc.explorer import page, recipes
from posenc.explorer.methods import METHODS

HOST = "127.0.0.1"

_HEADERS = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}


def application() -> Starlette:
    """The routes of the explorer as an ASGI application.

    /, /<kind>       the page of a method        /<kind>.json   its content as data
    /recipe?spec=    the numbers of a picture    /table?spec=   the library's own table, float32
    """
    return Starlette(
        routes=[
            Route("/", _page),
            Route("/recipe", _recipe),
            Route("/table", _table),
            Mount("/static", StaticFiles(directory=page.HERE / "static")),
            Route("/{kind}.json", _content),
            Route("/{kind}", _page),
        ],
        middleware=[
            Middleware(_Headers),
            Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"]),
        ],
    )


def serve(*, port: int, open_browser: bool) -> None:
    """Serve the explorer until Ctrl-C; see `posenc.explorer.serve`."""
    with contextlib.closing(_listen(port)) as listening:
        address = f"http://{HOST}:{listening.getsockname()[1]}"
        print(f"posenc explorer: {address}  (Ctrl-C stops it)", flush=True)
        if open_browser:
            webbrowser.open(address)
        config = uvicorn.Config(
            application(),
            log_level="warning",
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    _checks.integer("port", port, at_least=0)
    if port > 65_535:
        raise ValueError(f"`port` must be at most 65535; got port={port}.")
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise OSError(
            f"cannot listen on port {port}: {os.strerror(error.errno or 0).lower()}; choose "
            f"another one: posenc explore --port {port + 1 if 1024 <= port < 65_535 else 8765}"
        ) from error


async def _page(request: Request) -> Response:
    kind = request.path_params.get("kind", next(iter(METHODS)))
    return HTMLResponse(page.render(kind)) if kind in METHODS else _missing(kind)


async def _content(request: Request) -> Response:
    kind = request.path_params["kind"]
    return JSONResponse(page.page(kind)) if kind in METHODS else _missing(kind)


def _missing(kind: str) -> Response:
    return PlainTextResponse(f"there is no page {kind!r}; there are {', '.join(METHODS)}", 404)


def _recipe(request: Request) -> Response:
    try:
        return JSONResponse(recipes.recipe(recipes.read(_asked(request, "spec"))))
    except _REFUSED as error:
        return PlainTextResponse(str(error), 400)


def _table(request: Request) -> Response:
    try:
        encoding = recipes.read(_asked(request, "spec"))
        start, count, head = (int(_asked(request, name)) for name in ("start", "count", "head"))
        values = recipes.table(encoding, start, count, head=head)
    except _REFUSED as error:
        return PlainTextResponse(str(error), 400)
    return Response(values.astype("<f4").tobytes(), media_type="application/octet-stream")


_REFUSED = (TypeError, ValueError, OverflowError)


def _asked(request: Request, name: str) -> str:
    if name not in request.query_params:
        raise ValueError(f"the request lacks `{name}`.")
    return request.query_params[name]


class _Headers:
    """Puts the same headers on every answer, refusals included."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self.app(scope, receive, sending)
