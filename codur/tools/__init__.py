"""The operations on a workspace that models and plans may call. A new tool is a row of `TOOLS` in its module."""
