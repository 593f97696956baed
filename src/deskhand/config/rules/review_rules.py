"""What makes a canned reply wrong (a placeholder that nothing would ever fill), word to
reviewers, an expiry, or the conditions of trust (a fall before the rise)."""

from urllib.parse import urlsplit

from deskhand.config.rules.finding import ConfigFinding, ConfigFindings, DeskDraft
from deskhand.config.rules.reply_text_rules import texts_at
from deskhand.config.sections.expiry import ExpirySection
from deskhand.config.suggestions import did_you_mean
from deskhand.config.yaml import YamlPlace
from deskhand.model.placeholders import PLACEHOLDERS, SLOT, placeholders_in


def review_findings(draft: DeskDraft) -> ConfigFindings:
    yield from _canned(draft)
    yield from _notify(draft)
    yield from _expiry(draft)


def _expiry(draft: DeskDraft) -> ConfigFindings:
    reviews = draft.desk.reviews
    if reviews.expire is not None and reviews.expire_after is not None:
        problem = "`expire` and `expire_after` say the same thing twice"
        yield ConfigFinding(
            ("reviews", "expire_after"), problem, "keep `expire: {after: 3 days, then: end}`"
        )
    if reviews.expire is not None:
        yield from expiry_findings(("reviews", "expire"), reviews.expire)


def expiry_findings(place: YamlPlace, expire: ExpirySection) -> ConfigFindings:
    """Something given to nobody, or a name that nothing is done with."""
    if expire.then == "assign" and expire.to is None:
        yield ConfigFinding(
            (*place, "then"), "nobody is named who gets what expires", "add `to: NAME`"
        )
    if expire.then != "assign" and expire.to is not None:
        yield ConfigFinding(
            (*place, "to"), f"`to` does nothing with `then: {expire.then}`", "write `then: assign`"
        )


def _notify(draft: DeskDraft) -> ConfigFindings:
    """Word that would go nowhere, over an open line, or unsigned."""
    digest, webhook = draft.desk.reviews.notify.digest, draft.desk.reviews.notify.webhook
    place, channels = ("reviews", "notify"), draft.names_at("channels")
    if digest is not None and digest.channel not in channels:
        fix = did_you_mean(digest.channel, channels, otherwise="add this channel")
        yield ConfigFinding(
            (*place, "digest", "channel"), f"there is no channel `{digest.channel}`", fix
        )
    if webhook is None:
        return
    host = urlsplit(webhook.url).hostname
    if webhook.url.startswith("http://") and host not in ("localhost", "127.0.0.1", "::1"):
        yield ConfigFinding(
            (*place, "webhook", "url"), "the webhook would go over an open line", "write https://"
        )
    if (webhook.secret_file is None) == (webhook.secret_env is None):
        fix = "add `secret_file: secrets/hook` or `secret_env: NAME`, one of the two"
        yield ConfigFinding(
            (*place, "webhook"), "nothing says which secret the webhook is signed with", fix
        )


def _canned(draft: DeskDraft) -> ConfigFindings:
    slots = [f"{SLOT}{slot}" for slot in draft.names_at("slots")]
    fillable = [*PLACEHOLDERS, *slots]
    for name, written in draft.desk.reviews.canned.items():
        for text in texts_at(draft, ("reviews", "canned", name), written):
            for placeholder in placeholders_in(text.text):
                if placeholder not in fillable:
                    fix = did_you_mean(placeholder, fillable, otherwise="write it without braces")
                    problem = f"nothing fills `{{{placeholder}}}` in the canned reply `{name}`"
                    yield text.finding(f"{{{placeholder}", problem, fix)


def trust_findings(draft: DeskDraft) -> ConfigFindings:
    trust = draft.desk.trust
    if trust is None:
        return
    if trust.fall_back_at >= trust.promote_at:
        problem = f"`fall_back_at` must be below `promote_at` ({trust.promote_at:g})"
        yield ConfigFinding(
            ("trust", "fall_back_at"),
            problem,
            f"write {max(0.05, trust.promote_at - 0.1):.2g}, say",
        )
    categories = {*draft.categories()}
    written = trust.complaints if "complaints" in trust.model_fields_set else ()
    for number, category in enumerate(written):
        if categories and category not in categories:
            fix = did_you_mean(
                category, sorted(categories), otherwise="name a category of the desk"
            )
            yield ConfigFinding(
                ("trust", "complaints", number), f"no stage gives the category `{category}`", fix
            )
