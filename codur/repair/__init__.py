"""Offline repair: searches for the smallest edit that makes the check pass, without a model.

`nodes` imports `engine` and `outcome`.
"""
