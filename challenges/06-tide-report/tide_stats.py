"""Figures drawn from a list of tides."""


def surge(tide):
    """How much higher than the forecast the water stood, in metres."""
    return tide.measured - tide.forecast


def span(tides):
    """Difference between the highest and the lowest measured tide."""
    heights = [tide.measured for tide in tides]
    return max(heights) - min(heights)


def notable(tides, limit=0.3):
    """Tides that missed their forecast by more than the limit."""
    return [tide for tide in tides if abs(surge(tide)) > limit]
