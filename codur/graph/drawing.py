"""The compiled graph as data and as Mermaid text."""

from codur.graph.build import build_graph


def drawn_edges() -> dict[str, tuple[str, ...]]:
    """Targets by node, as the compiled graph has them; START and END are `start` and `end`."""
    edges: dict[str, list[str]] = {}
    for edge in build_graph().get_graph().edges:
        edges.setdefault(_plain(edge.source), []).append(_plain(edge.target))
    return {source: tuple(sorted(targets)) for source, targets in edges.items()}


def mermaid_text() -> str:
    """The compiled graph as a Mermaid diagram."""
    return build_graph().get_graph().draw_mermaid()


def _plain(name: str) -> str:
    return name.strip("_") if name.startswith("__") else name
