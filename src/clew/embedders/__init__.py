"""Clew."""
