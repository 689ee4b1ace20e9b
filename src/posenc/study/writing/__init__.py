"""What may be written in a page: words, numbers, blocks, programs, rooms. Each is checked."""
