"""Questions about a flow's shape: what can be reached, and which loops nothing limits."""

from collections import deque
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

Edges = Mapping[str, Sequence[str]]
"""Where a run may go from each stage."""


def reachable(edges: Edges, start: str) -> set[str]:
    seen = {start}
    waiting = deque([start])
    while waiting:
        for target in edges.get(waiting.popleft(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def endless_loops(edges: Edges, limited: AbstractSet[str]) -> list[list[str]]:
    """Loops that go through no limited stage, as `[a, b, a]`: for each stage the shortest, each
    loop once."""
    loops: dict[frozenset[str], list[str]] = {}
    for stage in edges:
        loop = None if stage in limited else _way_back(edges, stage, limited)
        if loop:
            loops.setdefault(frozenset(loop), loop)
    return list(loops.values())


def _way_back(edges: Edges, stage: str, avoiding: AbstractSet[str]) -> list[str] | None:
    came_from: dict[str, str] = {}
    waiting = deque([stage])
    while waiting:
        here = waiting.popleft()
        for target in edges.get(here, ()):
            if target == stage:
                way = [stage, here]
                while way[-1] != stage:
                    way.append(came_from[way[-1]])
                return way[::-1] if here != stage else [stage, stage]
            if target in edges and target not in came_from and target not in avoiding:
                came_from[target] = here
                waiting.append(target)
    return None
