"""What waits go by: the time, sleep, and the chance that spreads them."""

import time

from codur.lazy import late

random = late("random")


class Clock:
    """The real ones; replayed runs and tests bring their own."""

    def now(self) -> float:
        """The Unix time, in seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()

    def random(self) -> float:
        """A uniform number from 0 to 1."""
        number: float = random.random()
        return number

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        import asyncio  # noqa: PLC0415 - lazy: this module is loaded for runs that ask no model

        await asyncio.sleep(seconds)
