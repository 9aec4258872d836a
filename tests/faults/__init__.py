"""Faults: what may happen to files while the janitor works, made to happen on purpose.

Every fault is run on memfas and, as the control, on the janitor that everybody writes first
(`naive`): a harness that does not catch the naive one proves nothing about ours.
"""
