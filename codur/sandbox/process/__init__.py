"""One program that runs: its streams, its end, what it may write. Loaded when one is started."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.sandbox.process import channel, child, disk_quota, output, output_stream, process_result

__all__ = ["channel", "child", "disk_quota", "output", "output_stream", "process_result"]
__getattr__ = parts_of(__name__)
