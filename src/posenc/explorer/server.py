"""Sends the page and the recipes to this machine's browser, and nothing else."""

# ruff: noqa: TID253  only `posenc.explorer.serve` imports this module

from __future__ import annotations

import contextlib
import os
import socket
import webbrowser
from collections.abc import Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from posenc import _checks
from posenc.explorer import asked, naming, page, reading
from posenc.explorer.rooms import ROOMS

HOST = "127.0.0.1"

_HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' blob: data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'; object-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}


def application(beside: Sequence[BaseRoute] = ()) -> Starlette:
    """The routes of the explorer, and others `beside` them, as an ASGI application.

    /, /<room>             the front page; a room
    /data/recipe           the numbers of a picture
    /data/table            the same as the library makes it, float32
    /data/answer/<room>    what only the library can say
    /data/read             what a model's settings say, sent as bytes with POST
    /data/name             which encoding made a table, sent likewise
    """
    made = Starlette(
        routes=[
            Route("/", _page),
            Route("/data/recipe", _recipe),
            Route("/data/table", _table),
            Route("/data/answer/{room}", _answer),
            Route("/data/read", _read, methods=["POST"]),
            Route("/data/name", _name, methods=["POST"]),
            Route("/static/maths.woff", _font),
            Mount("/static", StaticFiles(directory=page.HERE / "static")),
            *beside,
            Route("/{room}", _page),
        ],
        middleware=[
            Middleware(_Headers),
            Middleware(GZipMiddleware),
            Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"]),
        ],
        exception_handlers=dict.fromkeys(asked.REFUSED, _refused),
    )
    made.state.lessons = bool(beside)
    return made


def serve(*, port: int, open_browser: bool, beside: Sequence[BaseRoute] = ()) -> None:
    """Serve the explorer until Ctrl-C; see `posenc.explorer.serve`."""
    with contextlib.closing(_listen(port)) as listening:
        address = f"http://{HOST}:{listening.getsockname()[1]}"
        print(f"posenc explorer: {address}  (Ctrl-C stops it)", flush=True)
        if open_browser:
            webbrowser.open(address)
        config = uvicorn.Config(
            application(beside),
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
    name = request.path_params.get("room", "")
    lessons = request.app.state.lessons
    if name and name not in ROOMS:
        return PlainTextResponse(f"there is no room {name!r}; there are {', '.join(ROOMS)}.", 404)
    return HTMLResponse(page.render(name, lessons=lessons))


def _font(request: Request) -> Response:
    return Response(page.font(), media_type="font/woff")


def _recipe(request: Request) -> Response:
    return JSONResponse(asked.recipe(request.query_params))


def _table(request: Request) -> Response:
    values = asked.table(request.query_params)
    return Response(values.astype("<f4").tobytes(), media_type="application/octet-stream")


def _answer(request: Request) -> Response:
    return JSONResponse(asked.answer(request.path_params["room"], request.query_params))


async def _read(request: Request) -> Response:
    body = await _body(request, reading.HEADER)
    return JSONResponse(await run_in_threadpool(asked.read, request.query_params, body))


async def _name(request: Request) -> Response:
    body = await _body(request, naming.MOST)
    return JSONResponse(await run_in_threadpool(asked.named, request.query_params, body))


async def _body(request: Request, most: int) -> bytes:
    """What was sent, and no more of it than shows that it is too much."""
    # Pages elsewhere may post plain text to this machine without asking, but not bytes.
    if request.headers.get("content-type") != "application/octet-stream":
        raise ValueError("what is to be read must come as application/octet-stream.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            break
    return bytes(body)


def _refused(request: Request, error: Exception) -> Response:
    status = 413 if isinstance(error, reading.TooLarge | naming.TooLarge) else 400
    return PlainTextResponse(str(error.args[0] if error.args else error), status)


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
