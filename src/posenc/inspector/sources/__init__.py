"""What a user has in hand: files, folders, GGUF, names on the hub."""
