"""Plans: their text, their rules, their order."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.planning.plans import full_plan, plan_file

__all__ = ["full_plan", "plan_file"]
__getattr__ = parts_of(__name__)
