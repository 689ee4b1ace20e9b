"""The `posenc` command: read words, call one function, print."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import posenc
from posenc import plot as plots, spec, tables

app = typer.Typer(
    name="posenc",
    help="Positional encodings for Transformers: every encoding, exact, fast, explained.",
    epilog="Write an encoding as kind:field=value,..., for example sinusoidal:dim=4,base=10000 "
    "or rotary:dim=128,scaling=linear(factor=4).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Encoding = Annotated[
    str,
    typer.Argument(
        metavar="ENCODING",
        help="kind:field=value,... or JSON, for example sinusoidal:dim=4,base=10000",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write to this file instead of printing."),
]


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        print(posenc.__version__)
        raise typer.Exit


@app.command(epilog="Example: posenc explain sinusoidal:dim=4 --position 2")
def explain(
    encoding: Encoding,
    position: Annotated[
        int | None, typer.Option("--position", "-p", help="The position to work through.")
    ] = None,
    key: Annotated[
        int | None, typer.Option("--key", help="The position of the key, where there is one.")
    ] = None,
    length: Annotated[
        int | None, typer.Option("--length", "-n", help="Tokens in the text, for dynamic scalings.")
    ] = None,
    digits: Annotated[int, typer.Option("--digits", min=0, max=50, help="Decimals to show.")] = 4,
    as_json: Json = False,
) -> None:
    """Work an encoding through by hand, step by step."""
    explanation = posenc.explain(_encoding(encoding), position=position, key=key, length=length)
    print(_json(explanation.to_data(digits=digits)) if as_json else explanation.text(digits=digits))


@app.command(epilog="Example: posenc table sinusoidal:dim=4 --positions 0:8 --format csv")
def table(
    encoding: Encoding,
    positions: Annotated[
        str,
        typer.Option("--positions", "-p", help="Single ones and ranges: 5 or 0:8 or 0:64:2,100."),
    ] = "0:8",
    form: Annotated[
        str, typer.Option("--format", "-f", help="text, csv, json or npy (npy needs --output).")
    ] = "text",
    output: Output = None,
) -> None:
    """Print the numbers: vectors, cosines and sines of pairs, or the bias of each head."""
    if form not in tables.FORMATS:
        raise ValueError(f"--format must be one of {', '.join(tables.FORMATS)}; got {form!r}.")
    with _working("computing the table"):
        written = tables.FORMATS[form](tables.table(_encoding(encoding), _positions(positions)))
    _write(written, output)


@app.command(epilog="Example: posenc plot sinusoidal:dim=128 --picture waves -o waves.png")
def plot(
    encoding: Encoding,
    picture: Annotated[
        str, typer.Option("--picture", help="waves, matrix, similarity or decay.")
    ] = "matrix",
    length: Annotated[int, typer.Option("--length", "-n", help="How many positions.")] = 128,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The picture: .png, .svg or .pdf.")
    ] = Path("posenc.png"),
) -> None:
    """Draw an encoding in colours that survive print and colour blindness."""
    _check_picture("--output", output)
    plots.figure(_encoding(encoding), picture, length=length).savefig(output)  # pyright: ignore[reportArgumentType]  figure() checks the word
    print(f"wrote {output}")


@app.command(epilog="Example: posenc check rotary:dim=128 --length 4096")
def check(
    encoding: Encoding,
    length: Annotated[
        int | None, typer.Option("--length", "-n", help="The length it was trained for.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute what an encoding keeps: bounded, distinct, relative, decaying, ..."""
    with _working("computing the properties"):
        board = posenc.check(_encoding(encoding), length=length)
    print(_json(board.to_data()) if as_json else board)


@app.command(epilog="Example: posenc identify table.npy")
def identify(
    file: Annotated[Path, typer.Argument(help="A table as .npy, .csv or .safetensors.")],
    tensor: Annotated[
        str | None, typer.Option("--tensor", "-t", help="Which tensor of a .safetensors file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Name the encoding that made a table, and any known mistake in it.

    Exit status 1 says that a mistake was found, or that no known encoding fits.
    """
    with _working("comparing with every known encoding and mistake"):
        identity = posenc.identify(file, tensor=tensor)
    print(_json(identity.to_data()) if as_json else identity)
    raise typer.Exit(0 if identity.right else 1)


@app.command(epilog="Example: posenc golden rotary:dim=64 -o rotary.json")
def golden(
    encoding: Annotated[
        str | None, typer.Argument(metavar="ENCODING", help="As for the other commands.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this .json or .npz file.")
    ] = None,
    verify: Annotated[
        Path | None,
        typer.Option("--verify", help="Compute this file anew; exit 1 if a number differs."),
    ] = None,
) -> None:
    """Write whole arrays of exact values, for whoever ports an encoding."""
    if (encoding is None) == (verify is None):
        raise ValueError("golden needs either an ENCODING or --verify FILE, and not both.")
    if verify is not None:
        with _working("computing the numbers anew"):
            differences = posenc.Golden.load(verify).differences()
        print("\n".join(differences) or f"{verify}: every number is the same here")
        raise typer.Exit(1 if differences else 0)
    with _working("computing exact numbers"):
        vectors = posenc.golden(_encoding(str(encoding)))
    if output is None:
        print(vectors.to_json())
    else:
        vectors.save(output)
        print(f"wrote {output}")


@app.command(epilog="Example: posenc inspect config.json --context 40000")
def inspect(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="config.json, a folder with it, a .gguf file, a hub name (org/name), or - for "
            "standard input.",
            show_default=False,
        ),
    ],
    context: Annotated[
        str | None,
        typer.Option("--context", "-c", metavar="N", help="What happens at N tokens?"),
    ] = None,
    scaling: Annotated[
        str | None,
        typer.Option("--scaling", metavar="RULE", help="What if? yarn:factor=4, none, ..."),
    ] = None,
    diff: Annotated[
        str | None, typer.Option("--diff", metavar="OTHER", help="Compare with another model.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--plot", metavar="PICTURE", help="Draw the wavelengths: .png, .svg or .pdf."),
    ] = None,
    every_value: Annotated[
        bool, typer.Option("--all", help="Show where each value came from.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say which positions a model uses, from its own files.

    Exit status 1 says that errors or warnings were found, or that two models differ.
    """
    from posenc.inspector.report import answer

    if scaling is not None and diff is not None:
        raise ValueError("--scaling and --diff are two questions: ask them one after the other.")
    if every_value and (scaling or diff) is not None:
        raise ValueError("--all is about one model as it is: leave out --diff and --scaling.")
    if picture is not None:
        _check_picture("--plot", picture)
    tokens = None if context is None else _tokens(context)
    reading = posenc.read(file)
    if diff is not None:
        said = answer.beside(reading, posenc.read(diff), context=tokens)
    elif scaling is not None:
        said = answer.with_scaling(reading, scaling, context=tokens)
    else:
        said = answer.about(reading, context=tokens, every_value=every_value)
    if picture is not None:
        from posenc.inspector.report import picture as pictures

        pictures.figure(*said.readings, context=tokens).savefig(picture)
        print(f"wrote {picture}", file=sys.stderr)
    if as_json:
        print(_json(said.data))
    else:
        _show(said.lines)
    raise typer.Exit(0 if said.sound else 1)


@app.command(epilog="Example: posenc explore --port 9000")
def explore(
    port: Annotated[int, typer.Option("--port", help="The port to listen on.")] = 8765,
) -> None:
    """Serve the explorer and the lessons on http://127.0.0.1, for this machine only."""
    from posenc import study

    study.serve(port=port)


@app.command(epilog="Examples: posenc export explorer.html; posenc export public/explorer")
def export(
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET",
            help="A name that ends in .html for one file, which opens from disk; any other for a "
            "folder of files, for a web host.",
            show_default=False,
        ),
    ],
) -> None:
    """Write the explorer as files that work without posenc and without a network.

    They hold a few values of each setting; a folder also has the lessons. An earlier export is
    replaced; anything else is not.
    """
    from rich.console import Console

    from posenc import study

    with Console(stderr=True).status("writing ...") as shown:
        size = study.export(target, progress=lambda words: shown.update(f"writing {words} ..."))
    print(f"wrote {target} ({size / 1e6:.1f} MB)")


@app.command(epilog="Example: posenc bench --quick --only bfloat16")
def bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="Only the most important, in a minute or two.")
    ] = False,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="WORDS", help="Cases with these words: turn half 4096, ..."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", metavar="N", help="Use so many threads.")
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", help="Also write .md, .txt, .json, .png, .svg or .pdf; repeatable."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure how fast and how exact posenc is here, beside the other libraries installed.

    All of it takes some minutes, and wants a machine at rest.

    Ctrl-C ends it with what was measured until then, and exit status 130.
    """
    from rich.console import Console

    from posenc import bench

    settings = bench.Settings(quick=quick, only=only, threads=threads)
    bench.check_files(settings, output or ())
    with Console(stderr=True).status("measuring ...") as shown:
        result = bench.run(settings, progress=lambda words: shown.update(f"{words} ..."))
    for file in bench.write(result, output or ()):
        print(f"wrote {file}", file=sys.stderr)
    print(_json(result.to_data()) if as_json else bench.text(result))
    raise typer.Exit(0 if result.complete else 130)


def main() -> None:
    """Run the command; bad input gives one line on standard error and exit status 2."""
    status = None
    try:
        status = app(standalone_mode=False)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (ValueError, TypeError, ModuleNotFoundError, ArithmeticError) as error:
        _fail(str(error))
    except MemoryError:
        _fail("this needs more memory than there is; ask for fewer positions or features.")
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        _fail(error.format_message())  # pyright: ignore[reportAttributeAccessIssue]  a usage error of the command line
    sys.exit(status)


@contextmanager
def _working(what: str) -> Iterator[None]:
    """Show that work goes on, where somebody is watching: a spinner on standard error."""
    from rich.console import Console

    with Console(stderr=True).status(f"{what} ..."):
        yield


def _write(content: str | bytes, output: Path | None) -> None:
    if output is None:
        if isinstance(content, bytes):
            raise ValueError("a binary table needs a file: add --output NAME.npy.")
        print(content, end="" if content.endswith("\n") else "\n")
        return
    output.write_bytes(content.encode() if isinstance(content, str) else content)
    print(f"wrote {output}")


def _check_picture(option: str, file: Path) -> None:
    if file.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"{option} must end in .png, .svg or .pdf; got {file.name!r}.")


def _tokens(text: str) -> int:
    """A number of tokens, as people write it: 40000, 40,000 or 40_000."""
    digits = text.replace(",", "").replace("_", "")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 10) or not (
        1 <= int(digits) <= 2**31
    ):
        raise ValueError(
            f"--context must be a number of tokens from 1 to {2**31:,}, for example 40000; "
            f"got {text[:40]!r}."
        )
    return int(digits)


# A word or a sign says the same as each colour does.
_STYLES: dict[str, dict[str, Any]] = {
    "title": {"bold": True},
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow"},
    "note": {"fg": "cyan"},
    "one": {"fg": "red"},
    "other": {"fg": "green"},
}


def _show(lines: Iterable[tuple[str, str]]) -> None:
    """Print lines, each with what it is; in colour on a terminal."""
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for text, role in lines:
        print(typer.style(text, **_STYLES[role]) if colour and role else text)


def _json(data: Any) -> str:
    return json.dumps(data, indent=2, allow_nan=False)


def _fail(message: str) -> None:
    if message:  # there is none where help was printed instead
        print(f"posenc: {message}", file=sys.stderr)
    sys.exit(2)


# More would keep the command busy for minutes, or fill the memory; the library has no such bounds.
_MOST = {"dim": 16_384, "model_dim": 16_384, "heads": 1_024, "octaves": 1_024}


def _encoding(text: str) -> Any:
    """The encoding that a text describes, if it is of a size to work with here."""
    data = spec.read(text)
    _modest(data)
    return spec.from_data(data)


def _modest(data: Any) -> None:
    if not isinstance(data, dict):
        return
    for name, value in data.items():
        _modest(value)
        if isinstance(value, int) and value > _MOST.get(name, value):
            raise ValueError(f"`{name}` must be at most {_MOST[name]:,} here; got {value:,}.")


def _positions(text: str) -> np.ndarray:
    """Positions from "5", "0:8", "0:64:2" and such, separated by commas."""
    positions: list[int] = []
    for part in text.split(","):
        try:
            numbers = [int(number) for number in part.split(":")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:
            raise ValueError(
                f"--positions must be single ones and ranges, for example 5 or 0:8 or 0:64:2,100; "
                f"got {part!r}."
            )
        if any(abs(number) >= 2**31 for number in numbers):
            raise ValueError(f"--positions must lie within 2**31 of 0; got {part!r}.")
        wanted = numbers if len(numbers) == 1 else range(*numbers)
        if len(positions) + len(wanted) > 1_000_000:
            raise ValueError(
                f"--positions must be at most 1,000,000 numbers; got more in {part!r}."
            )
        positions.extend(wanted)
    return np.asarray(positions, dtype=np.int64)


if __name__ == "__main__":
    main()
