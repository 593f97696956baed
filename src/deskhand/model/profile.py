"""An agent profile: which model works with which tools under which prompt, and how far one run
of it may go."""

from pydantic import Field

from deskhand.model.frozen import Frozen

USUAL_MODEL = "gemini/gemini-3.8-flash"
"""Who answers when neither an intent, nor the profile, nor the stage, nor the desk names a
model."""


class Budget(Frozen):
    """What one run may use; None is no limit."""

    tokens: int | None = Field(default=None, gt=0)
    """Tokens in and out, over all turns."""
    money: float | None = Field(default=None, gt=0)
    """In the currency of the providers' prices."""


class ProfileSpec(Frozen):
    """What makes one tool-using agent what it is."""

    name: str
    system_prompt: str
    is_template: bool = False
    """Whether the prompt is a Jinja2 template over what the run knows; else it is sent as it
    stands."""
    tools: tuple[str, ...] = ()
    """Exact names; what is absent is denied."""
    model: str | None = None
    """`provider/model`; None leaves it to the stage's role and the desk's default."""
    model_for: dict[str, str] = Field(default_factory=dict)
    """The `provider/model` for messages of an intent or category that an earlier stage found."""
    max_tokens: int = Field(default=8192, gt=0)
    temperature: float | None = Field(default=None, ge=0, le=2)
    """None leaves it to the model: many current ones refuse any other."""
    max_iterations: int = Field(default=10, gt=0, le=100)
    budget: Budget = Field(default_factory=Budget)
    context_tokens: int = Field(default=100_000, gt=0)
    """What the model's window holds; old tool results are shortened before a conversation
    outgrows it."""
    without_model: str | None = None
    """The flow that works this profile's messages where no model can be asked."""
    preprocess: str | None = None
    """What reads a message before the agent does, where its routing rule names nothing else."""

    def choose_model(self, intent: str | None, role: str | None, usual: str | None) -> str:
        """Intent, then profile, then the stage's role, then the desk's default; `role` and
        `usual` are model names."""
        return self.model_for.get(intent or "") or self.model or role or usual or USUAL_MODEL

    def models(self, usual: str | None) -> tuple[str, ...]:
        """Every model this profile may ask, apart from a stage's own role."""
        return tuple(dict.fromkeys((self.model or usual or USUAL_MODEL, *self.model_for.values())))
