"""What is to be done, decided before it is done: rules, classification, plans, retries.

Pure but for the calls to models.
"""
