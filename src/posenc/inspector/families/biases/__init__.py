"""What is added to attention scores, or meets queries there."""
