"""From YAML and variables to checked values: shapes, limits, references, merging."""

from typing import TYPE_CHECKING

from codur.lazy import parts_of

if TYPE_CHECKING:
    from codur.config.reading import agent_files, setting_rules, values, yaml_source

__all__ = ["agent_files", "setting_rules", "values", "yaml_source"]
__getattr__ = parts_of(__name__)
