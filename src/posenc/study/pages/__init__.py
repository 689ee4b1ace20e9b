"""The pages of the site, a file a kind."""
