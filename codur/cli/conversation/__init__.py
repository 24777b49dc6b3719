"""A conversation at a terminal: what a line asks for, how it is completed, what holds from one task to the next.

`conversation.py` leads it; a slash command is a row of `slash_commands.py`; what came before is read by
`earlier_tasks.py`, for `codur --continue TASK` as well.
"""
