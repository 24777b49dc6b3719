"""Programs that judge candidates within the workspace's own Python.

The texts of this package are handed to a worker (`worker_program`), which imports them under another name: its modules
import the standard library, the workspace's pytest and each other (relatively), and nothing else of Codur.
"""
