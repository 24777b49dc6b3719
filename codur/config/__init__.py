"""Settings, agents and prompts: what can be set, where it comes from, what a project may set itself.

A new setting is a field in `settings`.
"""
