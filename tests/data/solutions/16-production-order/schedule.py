"""Puts the tasks of tasks.txt into an order in which the workshop can do them, one after the other."""

from dataclasses import dataclass
from pathlib import Path

TASKS = Path(__file__).with_name("tasks.txt")
BEGIN = 7 * 60


@dataclass(frozen=True)
class Task:
    name: str
    minutes: int
    needs: tuple


def read_tasks(text):
    """Return the tasks in the order of the file; lines that begin with # are comments."""
    tasks = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        name, minutes, needs = line.split(":")
        wanted = tuple(need.strip() for need in needs.split(",") if need.strip())
        tasks.append(Task(name.strip(), int(minutes), wanted))
    return tasks


def in_order(tasks):
    """Return the tasks so that each comes after all it needs, otherwise as in the file, and those that are blocked."""
    placed = []
    done = set()
    waiting = list(tasks)
    while waiting:
        ready = next((task for task in waiting if done.issuperset(task.needs)), None)
        if ready is None:
            break
        waiting.remove(ready)
        placed.append(ready)
        done.add(ready.name)
    return placed, waiting


def clock(minutes):
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def main():
    now = BEGIN
    placed, blocked = in_order(read_tasks(TASKS.read_text(encoding="utf-8")))
    for number, task in enumerate(placed, start=1):
        print(f"{number}. {clock(now)} {task.name} ({task.minutes} min)")
        now += task.minutes
    print(f"Done at {clock(now)}")
    if blocked:
        print("Blocked: " + ", ".join(sorted(task.name for task in blocked)))


if __name__ == "__main__":
    main()
