"""What stands behind the `posenc` command: reading its words, printing its answers."""
