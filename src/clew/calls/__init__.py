"""What every call to a language model needs around it, the same for all models: kept replies, retries,
limits, a budget, a ledger, and JSON that is checked. :class:`clew.calls.caller.ModelCaller` is the way in.
"""
