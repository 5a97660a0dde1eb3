"""The protocols as pure state machines: standard library only, and independent of ``fdcomm``.

Each model restates its TLA+ spec action by action; ``tests/verify/v2_model.py`` holds the two labelled transition
graphs equal. ``python -m models`` explores a model, shows a counterexample, or judges a recorded trace.
"""
