"""How fast, how exact and how greedy: posenc beside the others, measured in one run.

>>> from posenc import bench
>>> result = bench.run(bench.Settings(quick=True, only="turn bfloat16"))    # doctest: +SKIP
>>> print(bench.text(result))    # doctest: +SKIP
"""

from posenc.bench.files import check_files as check_files, write as write
from posenc.bench.picture import figure as figure
from posenc.bench.report import markdown as markdown, text as text
from posenc.bench.result import Result as Result
from posenc.bench.running import Settings as Settings, run as run
