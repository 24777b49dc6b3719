"""Short statistics of a web server's access log, read from standard input."""

import re
import sys
from collections import Counter

LINE = re.compile(r'^(?P<host>\S+) \S+ (?P<user>\S+) \[(?P<when>[^\]]+)\] "(?P<request>[^"]*)" (?P<status>\d{3}) (?P<size>\S+)$')


class Stats:
    """What has been counted so far."""

    def __init__(self):
        self.hits = 0
        self.sent = 0
        self.skipped = 0
        self.bad = 0
        self.paths = Counter()
        self.methods = Counter()
        self.families = Counter()

    def add(self, record):
        """Count one record as `parse` returns it."""
        self.hits += 1
        self.sent += record["size"]
        self.families[record["status"] // 100] += 1
        self.paths[record["path"]] += 1
        self.methods[record["method"]] += 1


def split_request(request):
    """Return method and path of a request."""
    method, path, _ = request.split()
    return method, path


def parse(line):
    """Return the fields of a log line as a dict, or None if it is no log line."""
    match = LINE.match(line)
    if match is None:
        return None
    method, path = split_request(match["request"])
    return {
        "host": match["host"],
        "method": method,
        "path": path,
        "status": int(match["status"]),
        "size": int(match["size"]),
    }


def collect(lines):
    """Read all lines that are not empty into Stats."""
    stats = Stats()
    for line in lines:
        if not line.strip():
            continue
        record = parse(line.rstrip("\n"))
        if record is None:
            stats.skipped += 1
        else:
            stats.add(record)
    return stats


def main():
    stats = collect(sys.stdin)
    print(f"requests {stats.hits}, bad {stats.bad}, skipped {stats.skipped}, {stats.sent} bytes")
    for family, count in sorted(stats.families.items()):
        print(f"{family}xx {count}")
    for method, count in sorted(stats.methods.items()):
        print(f"{method:<5} {count}")
    for path, count in sorted(stats.paths.items(), key=lambda item: (-item[1], item[0])):
        print(f"{count} {path}")


if __name__ == "__main__":
    main()
