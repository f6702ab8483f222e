"""Retrieval as other projects publish it, written anew from their descriptions, on Clew's own passages.

Each method is a class with ``__init__(material)`` and ``rank(question, k)``. None has a language model here:
what its authors take from one (entities, triples, the filter of triples) comes from Clew's own mentions,
so that the comparison is of retrieval alone. Each module says what that changes.
"""
