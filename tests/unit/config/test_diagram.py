"""A flow drawn and written down."""

from deskhand.config.diagram import flow_mermaid, flow_text
from tests.unit.config.conftest import INBOX, Load

ODD = """\
desk: odd
flows:
  odd:
    stages:
      graph:
        service: dispatch
        routes:
          - {when: {subject: {contains: 'a "b" <c> #1'}}, to: end}
          - {when: {x: 1}, outcome: confirm}
          - {when: {x: 2}, outcome: clarify, ask: Which?}
          - {when: {x: 3}, outcome: error}
          - {when: {x: 4}, outcome: terminate}
          - {when: {x: 5}, outcome: skip}
        resume_at: subgraph
        next: subgraph
      subgraph: {service: dispatch, loop_to: graph, max_visits: 1}
"""


def test_the_picture_labels_its_edges_with_the_conditions_words(load: Load) -> None:
    lines = [line.strip() for line in flow_mermaid(load(INBOX).flows["inbox"]).splitlines()]
    assert lines[0] == "graph TD"
    assert 'begin(["start"]) --> stage_classify' in lines
    assert 'stage_classify -->|"category is spam and confidence at least 0.95"| finish' in lines
    assert 'stage_classify -->|"otherwise"| stage_retrieve' in lines
    assert 'stage_execute_tools -->|"complete is false: replan"| stage_decide' in lines
    assert 'stage_decide -.->|"on error"| stage_review' in lines
    assert "stage_dispatch --> finish" in lines
    assert 'finish(["end"])' in lines


def test_the_picture_survives_reserved_words_and_odd_signs(load: Load) -> None:
    picture = flow_mermaid(load(ODD).flows["odd"])
    assert (
        'stage_graph -->|"subject contains #quot;a \\#quot;b\\#quot; #lt;c#gt; #35;1#quot;"| finish'
        in picture
    )
    assert 'stage_subgraph -.->|"to go back"| stage_graph' in picture
    assert 'stage_graph -->|"x is 1: confirm"| wait0' in picture
    assert 'wait0(["a reviewer\'s decision"])' in picture
    assert 'stage_graph -->|"x is 3: error"| wait2' in picture
    assert 'wait2(["a person"])' in picture


def test_the_outline_reads_top_down(load: Load) -> None:
    flow = load(ODD).flows["odd"]
    assert flow_text(flow) == (
        f"odd: starts with graph, at most 50 hops, version {flow.version}\n"
        "  1. graph: service dispatch\n"
        '     subject contains "a \\"b\\" <c> #1" → end\n'
        "     x is 1: confirm → a reviewer's decision\n"
        "     x is 2: clarify, then subgraph → the customer's answer\n"
        "     after the answer → subgraph\n"
        "     x is 3: error → a person\n"
        "     x is 4: terminate → end\n"
        "     x is 5: skip → subgraph\n"
        "     otherwise → subgraph\n"
        "  2. subgraph: service dispatch, at most 1 visit\n"
        "     to go back → graph\n"
        "     → end\n"
    )
