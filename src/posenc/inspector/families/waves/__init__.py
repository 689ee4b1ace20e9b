"""Sines and cosines that are added."""
