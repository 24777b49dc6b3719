"""Engines of batches. Their clusters stay on loopback: Ray reads this when it is loaded, by whichever of the tests."""

import os

os.environ["RAY_AUTH_MODE"] = "disabled"  # a token would be in the home of the tests, and commands have others
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
