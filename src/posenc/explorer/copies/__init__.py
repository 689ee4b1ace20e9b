"""The explorer as files that work without a server: what they hold, and how it is packed."""
