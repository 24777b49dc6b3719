"""The log book of the tide gauges: harbours in brackets, one tide a line.

A tide is `time kind forecast measured`, heights in metres above the gauge's zero.
"""

from collections import namedtuple

Tide = namedtuple("Tide", "time kind forecast measured")

LOG = """
[South Quay]
01:10 low 0.9 1.0
07:22 high 3.8 3.7

[North Pier]
01:25 low 0.70 0.85
07:41 high 4.10 4.55
13:52 low 0.60 0.52
20:03 high 4.25 4.20
"""


def parse_tide(line):
    """Turn one line of the log into a Tide."""
    fields = line.split()
    return Tide(fields[0], fields[1], float(fields[2]), float(fields[2]))


def read_log(text):
    """Return {harbour: [Tide, ...]} in the order of the log."""
    harbours = {}
    tides = None
    for line in text.splitlines():
        if not line.strip():
            continue
        if line.startswith("["):
            tides = harbours.setdefault(line.strip("[]"), [])
        else:
            tides.append(parse_tide(line))
    return harbours
