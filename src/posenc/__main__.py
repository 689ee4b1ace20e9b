"""The `posenc` command: read words, call one function, print."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import posenc
from posenc import plot as plots, tables
from posenc.command import printing, words

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
    explanation = posenc.explain(
        words.encoding(encoding), position=position, key=key, length=length
    )
    print(
        printing.as_json(explanation.to_data(digits=digits))
        if as_json
        else explanation.text(digits=digits)
    )


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
    with printing.working("computing the table"):
        written = tables.FORMATS[form](
            tables.table(words.encoding(encoding), words.positions(positions))
        )
    printing.write(written, output)


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
    words.check_picture("--output", output)
    plots.figure(words.encoding(encoding), picture, length=length).savefig(output)  # pyright: ignore[reportArgumentType]  figure() checks the word
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
    with printing.working("computing the properties"):
        board = posenc.check(words.encoding(encoding), length=length)
    print(printing.as_json(board.to_data()) if as_json else board)


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
    with printing.working("comparing with every known encoding and mistake"):
        identity = posenc.identify(file, tensor=tensor)
    print(printing.as_json(identity.to_data()) if as_json else identity)
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
        with printing.working("computing the numbers anew"):
            differences = posenc.Golden.load(verify).differences()
        print("\n".join(differences) or f"{verify}: every number is the same here")
        raise typer.Exit(1 if differences else 0)
    with printing.working("computing exact numbers"):
        vectors = posenc.golden(words.encoding(str(encoding)))
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
        words.check_picture("--plot", picture)
    tokens = None if context is None else words.tokens(context)
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
        print(printing.as_json(said.data))
    else:
        printing.show(said.lines)
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

    They hold a few values of each setting; a folder also has the lessons and the reference. An
    earlier export is replaced; anything else is not.
    """
    from posenc import study

    with printing.working("writing") as tell:
        size = study.export(target, progress=lambda part: tell(f"writing {part}"))
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
    from posenc import bench

    settings = bench.Settings(quick=quick, only=only, threads=threads)
    bench.check_files(settings, output or ())
    with printing.working("measuring") as tell:
        result = bench.run(settings, progress=tell)
    for file in bench.write(result, output or ()):
        print(f"wrote {file}", file=sys.stderr)
    print(printing.as_json(result.to_data()) if as_json else bench.text(result))
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


def _fail(message: str) -> None:
    if message:  # there is none where help was printed instead
        print(f"posenc: {message}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
