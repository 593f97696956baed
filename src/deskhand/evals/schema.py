"""The JSON Schema of a file of golden cases, so that an editor completes and checks it while it
is written."""

from typing import cast

from deskhand.config.schema import DRAFT, Schema, condition_definitions, tidy
from deskhand.evals.case_sections import CasesSection


def cases_schema() -> Schema:
    """It checks what can be seen in the file alone; `deskhand eval` checks names against the
    desk as well."""
    schema = cast(Schema, tidy(CasesSection.model_json_schema(by_alias=True)))
    schema["$defs"] |= condition_definitions()
    expect: Schema = schema["$defs"]["ExpectSection"]["properties"]
    expect["holds"] = {"$ref": "#/$defs/Condition", "description": expect["holds"]["description"]}
    case: Schema = schema["$defs"]["CaseSection"]
    case["oneOf"] = [{"required": ["message"]}, {"required": ["turns"]}]
    turn: Schema = schema["$defs"]["TurnSection"]
    turn["oneOf"] = [{"required": ["customer"]}, {"required": ["reviewer"]}]
    return {"$schema": DRAFT, "title": "Deskhand golden cases", **schema}
