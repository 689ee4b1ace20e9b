"""GGUF files: their metadata, as llama.cpp means it."""

from posenc.inspector.sources.gguf_files.read import read_gguf as read_gguf
