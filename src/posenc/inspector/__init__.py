"""Which positions a model uses: read from its own files, checked, reported."""

from posenc.inspector.reading import (
    Finding as Finding,
    Part as Part,
    Reading as Reading,
    Use as Use,
    Value as Value,
)
from posenc.inspector.settings.parts import read_settings as read_settings
from posenc.inspector.sources.given import read as read
