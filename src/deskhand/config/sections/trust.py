"""When a category may have the next mode, and when it loses it, as written in desk.yaml."""

from pydantic import Field

from deskhand.config.sections.channels import Mode
from deskhand.config.sections.section import Items, Section

COMPLAINT = "complaint"
DAY = 86400.0


class TrustSpec(Section):
    """How trust is earned and lost: `{start: draft}`; `mode` and `modes` are then the most a
    category can reach."""

    start: Mode = "draft"
    """The mode every category begins with, where its `mode` allows as much."""
    promote_at: float = Field(default=0.9, ge=0.5, lt=1)
    """The share of drafts that must be known to leave unchanged before `auto` is justified."""
    alpha: float = Field(default=0.05, gt=0, le=0.2)
    """The risk of ever calling that share reached when it is not."""
    at_least: int = Field(default=30, ge=5)
    """How many judged drafts it takes at least."""
    small_edit: float = Field(default=0.0, ge=0, le=0.3)
    """The share of words a reviewer may change before a draft counts as not good; numbers and
    addresses never."""
    draft_at: float = Field(default=0.5, gt=0, lt=1)
    """The share of shadow replies that must be known to be like what people sent before `draft`
    is justified."""
    alike_within: float = Field(default=0.6, gt=0, lt=1)
    """How much of its words a shadow reply may differ in from what a person sent and still be
    like it."""
    spot_check: float = Field(default=0.05, ge=0.01, le=1)
    """The share of replies in `auto` that a person looks at before they leave; more while there
    is doubt."""
    fall_back_at: float = Field(default=0.8, gt=0, lt=1)
    """The quality that checked replies must not drop to; when they seem to, the category falls
    back to `draft`."""
    returns_at: float = Field(default=0.05, gt=0, le=0.3)
    """The share of replies in `auto` that may come back, as a bounce or a complaint."""
    complaints: Items[str] = (COMPLAINT,)
    """Categories that are complaints about our last reply, when they follow one; `[complaint]`
    if absent."""
    complaint_days: float = Field(default=14, gt=0, le=365)
    """For how many days a complaint is about the reply before it."""

    @property
    def complaint_seconds(self) -> float:
        return self.complaint_days * DAY
