"""Who carries out the work of a batch: a worker process here, or the machines of a Ray cluster.

An engine is made of a setup, work, a keeper and a watch; `batch_run` makes and runs it, and knows no other difference.
A new one needs `run` and `stop` (`batch_run.Engine`), and a name in `cli.actions.batch.solve`.
"""
