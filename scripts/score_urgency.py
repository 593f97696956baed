"""Score which short messages the shipped triage desk calls critical.

    python scripts/score_urgency.py lines.jsonl

A line holds `lang`, `plan`, `text` and `critical`.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from deskhand import wiring
from deskhand.agents.triage.issue_reading import concerns_in_ticket
from deskhand.agents.triage.supervising import urgency_of
from deskhand.config.sections.triage import TriageSection
from deskhand.language.ticket_facts import department_of
from deskhand.model.ticket_state import UrgencyLevel


def is_called_critical(spec: TriageSection, line: dict[str, Any]) -> bool:
    facts = {
        "plan": line["plan"],
        "concerns": list(concerns_in_ticket(spec, line["text"])),
        "ticket_type": department_of(line["text"]),
    }
    return urgency_of(spec, facts) is UrgencyLevel.CRITICAL


def main(lines: list[dict[str, Any]]) -> None:
    spec = wiring.read_desk("triage").spec.triage
    if spec is None:
        raise SystemExit("the desk has no `triage:`")
    called: Counter[bool] = Counter()
    total: Counter[bool] = Counter()
    for line in lines:
        critical = is_called_critical(spec, line)
        called[line["critical"]] += critical
        total[line["critical"]] += 1
        if critical != line["critical"]:
            sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
    sys.stdout.write(
        f"critical ones called so: {called[True]} of {total[True]}; "
        f"others called so: {called[False]} of {total[False]}\n"
    )


if __name__ == "__main__":
    rows = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    main([json.loads(row) for row in rows if row.strip()])
