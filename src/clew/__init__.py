"""Clew turns notes into a knowledge graph in one file and answers questions from it."""

__version__ = "0.1.0"
