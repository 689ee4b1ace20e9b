"""A model's settings, as config.json has them: looked up, checked, read part by part."""
