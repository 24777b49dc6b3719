"""What each command does, under the command's own name; `commands` imports them when one is called."""
