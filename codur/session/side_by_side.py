"""What runs that go on side by side in one process have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codur.config.prompts import PromptLibrary
    from codur.llm.rate_limits.shared_limits import SharedModels
    from codur.sandbox.processor_turns import SharedPrograms


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Made once for all of them; safe to use from several threads.

    Attributes:
        programs: starts their programs, and bounds how many run at the same time.
        models: their budget, and their waits for a busy service.
        prompts: the texts of prompts.
    """

    programs: SharedPrograms
    models: SharedModels
    prompts: PromptLibrary
