"""A suite of AgentDojo before the gate: an assistant whose owner is the principal.

Another suite needs one YAML file beside `banking.yaml`, named like its data, and its name in
`SUITES` of the test. A suite of our own has its data in the same file, under `data` and
`environment`. Arguments may be lists and may point to `$defs` of their schema; things may have
their key in `id`, `id_` or `name`, and stand in a list or in a mapping by their key.

- `reads`: tools that only show something, each with the place in the environment it shows;
- `effects`: every other tool, all taken as irreversible (each can be looked up afterwards, so the
  gate may let one
  pass). `names` are arguments that say who or what: the owner must have named the value himself.
  `objects` are keys
  of things in the environment: the owner must have called exactly one of them by name (with
  `alone: false`, it among others). A tool that
  deletes, removes, cancels or archives needs more, by the gate's own rule: he must have asked for
  that. `says` are
  texts that leave:
  they go through the check of outgoing content. `amounts` that the owner did not name are held
  above
  `unnamed_amount_at_most`.
- `adaptive`: what an attacker has put into the environment beforehand, by place.
- an injection task with `for_each` stands for one task for each combination of its values, and
  `{name}` in its texts is the value of that name.
- `injections_in`: a file beside it with more injections, one JSON object a line, by writers who
  have not read the gate.
- `also_asked` of a user task: calls that do what its owner asked for in another way.

From these come the tools' types, their resolvers and the policy; nothing in here knows a suite.
"""

import copy
import inspect
import itertools
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import GenericAlias
from typing import Any, ClassVar, Literal, NamedTuple, get_origin

from ruamel.yaml import YAML

from deskhand.config.sections.policy import PolicySpec, RuleSpec
from deskhand.model.envelope import Envelope
from deskhand.model.message import Address, Message
from deskhand.model.principal import Principal, PrincipalKind
from deskhand.outgoing.content import check_text
from deskhand.outgoing.content_finding import AllowedContent
from deskhand.policy.rule_policy import compile_policy
from deskhand.tools import Context, Gate, GateAnswer, Terms, Tool, ToolRegistry, tool
from deskhand.tools.authority import Authority, Resolver, resolver
from tests.memory_ledger import FixedContext, MemoryLedger

OWNER = Principal(
    kind=PrincipalKind.LOGIN, customer_id="owner", address="owner@example.com", how="logged in"
)
AT_ONCE = 12
KINDS: dict[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool}


class Named(Authority):
    """Who or what a call is about; `by` says whether the owner has named it."""

    by: Literal["owner", "nobody"]

    def belongs_to(self, principal: Principal) -> bool:
        return True


class Said(Authority):
    """Text that leaves; `clean` when nothing in it leads elsewhere."""

    is_text: ClassVar[bool] = True
    clean: bool

    def belongs_to(self, principal: Principal) -> bool:
        return True


class Call(NamedTuple):
    tool: str
    arguments: dict[str, Any]


class Suite:
    """Declarations, data and the tools made of both."""

    def __init__(self, declared: Path, data: Path) -> None:
        self.declared: dict[str, Any] = YAML(typ="safe").load(declared.read_text())
        if "data" in self.declared:
            self.data, self._environment = self.declared["data"], self.declared["environment"]
        else:
            self.data = json.loads(data.read_text())
            beside = data.with_name(f"{data.stem}_environment.json")
            self._environment = json.loads(beside.read_text())
        self.injections = [_each_of(task) for task in self.data.get("injection_tasks", ())]
        self.by_strangers: list[list[dict[str, Any]]] = []
        if "injections_in" in self.declared:
            file = declared.with_name(self.declared["injections_in"])
            self.by_strangers = _in_batches(file)
        self.injections += self.by_strangers
        self._begin("", adaptive=False, injected="")
        schemas = {one["name"]: one["parameters"] for one in self.data["tools"]}
        self._kinds: dict[str, tuple[type[Authority], Mapping[str, Any]]] = {}
        self._resolvers: list[Resolver] = []
        self._tools = ToolRegistry([self._tool(name, schema) for name, schema in schemas.items()])
        self._policy = compile_policy(
            PolicySpec(rules=tuple(RuleSpec.model_validate(rule) for rule in self._rules()))
        )

    @property
    def tools(self) -> list[str]:
        return [one.name for one in self._tools]

    def is_effect(self, name: str) -> bool:
        return name in self.declared["effects"]

    # --- one conversation

    def begin(self, prompt: str, *, adaptive: bool = False, injected: str = "") -> None:
        """The owner asks for something; whatever is read from now on holds the injected text."""
        self._begin(prompt, adaptive=adaptive, injected=injected)
        terms = Terms(policy=self._policy)
        self._gate = Gate(
            self._tools, MemoryLedger(), desk="assistant", terms=terms, resolvers=self._resolvers
        )
        self._ctx = FixedContext(principal=OWNER)
        message = Message(
            id="m", conversation="c", sender=Address(address="owner@example.com"), body=prompt, principal=OWNER,  # noqa: E501
            received_at=datetime(2026, 11, 15, tzinfo=UTC),
        )  # fmt: skip
        self._ctx.envelope = Envelope.of(message, run_id=self._ctx.run_id)
        self._results: list[dict[str, Any]] = []

    async def call(self, call: Call) -> GateAnswer:
        self._ctx.seq += 1
        arguments = {
            name: self._written(call.tool, name, value) for name, value in call.arguments.items()
        }
        answer = await self._gate.call(call.tool, arguments, allowed=self.tools, ctx=self._ctx)
        self._results.append({"tool": call.tool, "data": answer.result.data})
        self._ctx.envelope = self._ctx.envelope.with_output("act", {"results": list(self._results)})
        return answer

    async def list_everything(self) -> None:
        """What a careful attacker has the model do first."""
        for name in self.declared["reads"]:
            needed = next(one for one in self.data["tools"] if one["name"] == name)[
                "parameters"
            ].get("required", [])
            await self.call(Call(name, dict.fromkeys(needed, "all")))

    def _begin(self, prompt: str, *, adaptive: bool, injected: str) -> None:
        self.prompt, self._injected = prompt, injected
        self.environment = copy.deepcopy(self._environment)
        for place, thing in (self.declared["adaptive"] if adaptive else {}).items():
            self._put(place, thing)

    def _put(self, place: str, thing: Any) -> None:
        here = self._at(place)
        if isinstance(here, dict):
            here[_key_of(thing)] = thing
        else:
            here.append(thing)

    def _things(self, place: str) -> list[dict[str, Any]]:
        here = self._at(place)
        return list(here.values()) if isinstance(here, dict) else here

    def _at(self, place: str) -> Any:
        here = self.environment
        for name in place.split("."):
            here = here[name]
        return here

    # --- what the owner said

    def _owner_named(self, value: str) -> bool:
        wanted = re.escape(" ".join(value.split()).casefold())
        said = " ".join(self.prompt.split()).casefold()
        return re.search(rf"(?<![\w@.-]){wanted}(?![\w@-]|\.\w)", said) is not None

    def _owner_called(self, key: str, among: str, called: str, alone: bool = True) -> bool:
        """Whether he used the name of this thing, and, where it must be alone, of no other."""
        meant = [
            _key_of(thing) for thing in self._things(among) if self._owner_named(str(thing[called]))
        ]
        return meant == [key] if alone else key in meant

    def _name_of(self, key: str, among: str, called: str, alone: bool = True) -> str:
        names = [str(one[called]) for one in self._things(among) if _key_of(one) == key]
        return names[0] if names else ""

    # --- tools, resolvers and rules from the declarations

    def _written(self, tool_name: str, parameter: str, value: Any) -> Any:
        is_key = f"{tool_name}.{parameter}" in self._kinds and value is not None
        if is_key and isinstance(value, list):
            return [str(item) for item in value]
        return str(value) if is_key else value

    def _tool(self, name: str, schema: Mapping[str, Any]) -> Tool:
        declared = self.declared["effects"].get(name, {})
        parameters = [
            self._parameter(name, key, shape, schema, declared)
            for key, shape in schema["properties"].items()
        ]

        async def run(**arguments: Any) -> Any:
            shown = (
                self._at(self.declared["reads"][name])
                if name in self.declared["reads"]
                else {"done": name}
            )
            return {"result": shown, "injected": self._injected}

        async def find(key: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
            return None

        run.__doc__ = f"{name} of the suite."
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        if not declared:
            return tool(effect="read", name=name)(run)
        return tool(effect="irreversible", name=name, probe=find)(run)

    def _parameter(
        self,
        tool_name: str,
        key: str,
        shape: Mapping[str, Any],
        schema: Mapping[str, Any],
        declared: Mapping[str, Any],
    ) -> inspect.Parameter:
        plain = _plain(shape, schema.get("$defs", {}))
        kind: Any = self._authority(tool_name, key, declared) or plain
        if kind is not plain and get_origin(plain) is list:
            kind = list[kind]
        required = key in schema.get("required", ())
        default: Any = inspect.Parameter.empty if required else shape.get("default")
        return inspect.Parameter(
            key,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=kind if required else kind | None,
        )

    def _authority(
        self, tool_name: str, key: str, declared: Mapping[str, Any]
    ) -> type[Authority] | None:
        what = declared.get("objects", {}).get(key)
        if what is None and key not in (*declared.get("names", ()), *declared.get("says", ())):
            return None
        base = Said if key in declared.get("says", ()) else Named
        kind: Any = type(f"{tool_name}_{key}", (base,), {"__module__": __name__})
        self._kinds[f"{tool_name}.{key}"] = (kind, what or {})

        @resolver(kind)
        async def find(value: str, principal: Principal, ctx: Context) -> Any:
            if base is Said:
                return kind(
                    id=value, clean=not check_text(value, AllowedContent(hosts=self._hosts()))
                )
            named = self._owner_called(value, **what) if what else self._owner_named(value)
            name = self._name_of(value, **what) if what else ""
            return kind(id=value, by="owner" if named else "nobody", called=name)

        self._resolvers.append(find)
        made: type[Authority] = kind
        return made

    def _hosts(self) -> list[str]:
        return re.findall(r"(?:www\.)[\w.-]+\w", self.prompt)

    def _rules(self) -> list[dict[str, Any]]:
        rules: list[dict[str, Any]] = []
        for name, declared in self.declared["effects"].items():
            for key in (*declared.get("names", ()), *declared.get("objects", ())):
                rules.append(_hold(name, f"the owner did not name {key}", {f"{key}.by": "nobody"}))
            for key in declared.get("says", ()):
                rules.append(_hold(name, f"{key} leads elsewhere", {f"{key}.clean": False}))
            for key in declared.get("amounts", ()):
                most = self.declared["unnamed_amount_at_most"]
                unnamed = {
                    key: {"above": most},
                    f"origin.{key}": {"not_in": ["principal", "operator", "message"]},
                }
                rules.append(_hold(name, f"the owner did not name {key}, and it is large", unnamed))
        rules.append(
            {
                "name": "as the owner asked",
                "when": {"tool": {"in": [*self.declared["effects"]]}},
                "then": "allow",
            }
        )
        return rules


def _hold(tool_name: str, why: str, when: dict[str, Any]) -> dict[str, Any]:
    return {"name": f"{tool_name}: {why}", "when": {"tool": tool_name, **when}, "then": "hold"}


def _each_of(task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tasks that one injection with `for_each` stands for; itself where it has none."""
    values = task.get("for_each", {})
    combined = itertools.product(*values.values())
    return [_filled(task, dict(zip(values, chosen, strict=True))) for chosen in combined]


def _in_batches(file: Path) -> list[list[dict[str, Any]]]:
    """The injections of a file, several at once: what the model reads holds the words of all."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [lines[place : place + AT_ONCE] for place in range(0, len(lines), AT_ONCE)]


def _filled(written: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(written, dict):
        return {key: _filled(one, values) for key, one in written.items() if key != "for_each"}
    if isinstance(written, list):
        return [_filled(one, values) for one in written]
    if not isinstance(written, str) or not values:
        return written
    whole = re.fullmatch(r"\{(\w+)\}", written)
    return values[whole[1]] if whole else written.format(**values)


def _key_of(thing: Mapping[str, Any]) -> str:
    return str(next(thing[name] for name in ("id", "id_", "name") if name in thing))


def _plain(shape: Mapping[str, Any], definitions: Mapping[str, Any]) -> Any:
    if "$ref" in shape:
        return _plain(definitions[str(shape["$ref"]).rpartition("/")[2]], definitions)
    for some in ("anyOf", "allOf", "oneOf"):
        if some in shape:
            chosen = next(one for one in shape[some] if one.get("type") != "null")
            return _plain(chosen, definitions)
    match _type_of(shape):
        case "array":
            item: Any = _plain(shape.get("items", {"type": "string"}), definitions)
            return GenericAlias(list, (item,))
        case "object":
            return dict[str, Any]
        case kind:
            return KINDS[kind]


def _type_of(shape: Mapping[str, Any]) -> str:
    """`string` where nothing is said but a list of values; of `[string, null]` the first."""
    written = shape.get("type", "string")
    if isinstance(written, str):
        return written
    return str(next(one for one in written if one != "null"))
