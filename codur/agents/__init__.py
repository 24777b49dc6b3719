"""The agents: who does a step, with which instructions and tools.

`nodes` asks them; a new kind of agent is a module here.
"""
