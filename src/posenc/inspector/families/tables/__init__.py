"""Tables that are looked up."""
