"""Queries and keys that turn."""
