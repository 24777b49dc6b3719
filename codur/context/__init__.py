"""What a model is shown of a workspace: ranked, cut to a size, nothing that was asked for left out.

`agents`, `planning` and `nodes` import it.
"""
