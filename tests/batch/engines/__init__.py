"""Engines of batches. Their clusters stay on loopback: Ray reads this when it is loaded, by whichever of the tests."""

import os

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
