"""What was read, in words, numbers and pictures."""
