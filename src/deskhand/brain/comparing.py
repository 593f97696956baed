"""What embeddings alone can say: which candidate a text belongs to, which sentences are its
gist, what it is like."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from deskhand.brain.task_inputs import Fields, newest, question_of
from deskhand.language.identify import identify
from deskhand.model.tasks import Task
from deskhand.ports import Embeds

MATCH_AT = 0.6
_CLEAR = 0.008
"""Two candidates closer than this are not told apart."""
_SENTENCE = re.compile(r"[^.!?…\n]+(?:[.!?…]+[\"'”»)]*|(?=\n)|$)")
_MOST_SENTENCES = 40
_GIST = 3
_SIMILAR = 0.88


# --- match


def match(embedder: Embeds, task: Task) -> Fields:
    """The candidate that means the same matter, by a margin; None when it is none of them or not
    clear which."""
    candidates = _candidates(task)
    text = question_of(task)
    if not candidates or not text.strip():
        return {"match": None, "confidence": 0.0, "reason": "there is nothing to compare"}
    query = embedder.embed([text], "query")[0]
    scores = embedder.embed(list(candidates.values()), "passage") @ query
    order = sorted(range(len(scores)), key=lambda index: -float(scores[index]))
    best, names = float(scores[order[0]]), list(candidates)
    margin = best - float(scores[order[1]]) if len(order) > 1 else 0.02
    confidence = _sigmoid(60 * (best - 0.82) + 40 * min(margin, 0.04) - 1.3) if query.any() else 0.0
    if margin < _CLEAR:
        confidence = min(confidence, 0.5)
    chosen = names[order[0]] if confidence >= MATCH_AT else None
    return {
        "match": chosen,
        "confidence": round(confidence, 4),
        "best": names[order[0]],
        "similarity": round(best, 4),
        "margin": round(margin, 4),
    }


def _candidates(task: Task) -> dict[str, str]:
    """Identifier to text; a candidate is a mapping with `id`, or just a name among the choices."""
    given = newest(task, "candidates")
    candidates: dict[str, str] = {}
    for candidate in given if isinstance(given, list) else ():
        if isinstance(candidate, dict) and candidate.get("id") is not None:
            fields = cast(Fields, candidate)
            words = [
                str(value)
                for key, value in fields.items()
                if key != "id" and isinstance(value, str)
            ]
            candidates[str(fields["id"])] = "\n".join(words)
        elif isinstance(candidate, str):
            candidates[candidate] = candidate
    if not candidates:
        candidates = {choice: choice.replace("_", " ") for choice in task.choices}
    return {
        name: text for name, text in candidates.items() if not task.choices or name in task.choices
    }


# --- summarise


def summarise(embedder: Embeds, task: Task) -> Fields:
    """The sentences nearest to what all of them say, word for word and in their order."""
    sentences = sentences_in(task.text)
    if len(sentences) <= _GIST:
        text = " ".join(sentences)
        return {"text": text, "confidence": 0.9 if text else 0.0, "extractive": True}
    read = (
        [*sentences[: _MOST_SENTENCES - 10], *sentences[-10:]]
        if len(sentences) > _MOST_SENTENCES
        else sentences
    )
    vectors = embedder.embed(read, "query")
    nearness = vectors @ vectors.mean(axis=0)
    length = [
        min(1.0, len(sentence) / 40) for sentence in read
    ]  # `Hello.` is like everything and says nothing
    scores = [float(near) * weight for near, weight in zip(nearness, length, strict=True)]
    chosen = sorted(sorted(range(len(read)), key=lambda index: -scores[index])[:_GIST])
    return {
        "text": " ".join(read[index] for index in chosen),
        "confidence": 0.5,
        "extractive": True,
    }


def sentences_in(text: str) -> list[str]:
    """Sentences and lines, verbatim, without quoted history."""
    sentences = (sentence.strip() for sentence in _SENTENCE.findall(text))
    return [
        sentence
        for sentence in sentences
        if any(map(str.isalnum, sentence)) and not sentence.startswith(">")
    ]


# --- judge


def judge(embedder: Embeds, task: Task) -> Fields:
    """Checks what can be checked: `contains`, `not_contains`, `language`, `similar_to`,
    `max_words`, `min_words`."""
    criteria = _criteria(task)
    if not criteria:
        return _unjudged("there are no criteria")
    for name, wanted in criteria:
        check = _CHECKS.get(name)
        if check is None:
            return _unjudged(f"without an LLM nobody can judge {name!r}")
        try:
            problem = check(embedder, task.text, wanted)
        except (TypeError, ValueError):
            return _unjudged(f"the criterion {name} cannot be {str(wanted)[:60]!r}")
        if problem:
            return {"passed": False, "reason": problem, "confidence": 0.95}
    names = [name for name, _ in criteria]
    sure = 0.7 if "similar_to" in names else 0.95
    return {"passed": True, "reason": f"all {len(criteria)} criteria hold", "confidence": sure}


def _unjudged(reason: str) -> Fields:
    return {"passed": False, "reason": reason, "judged": False, "confidence": 0.0}


def _criteria(task: Task) -> list[tuple[str, Any]]:
    given = newest(task, "criteria")
    if given is None:
        given = (task.inputs.get("metadata") or {}).get("criteria")
    if given is None:
        return []
    criteria: list[tuple[str, Any]] = []
    for criterion in given if isinstance(given, list) else [given]:
        if isinstance(criterion, Mapping):
            criteria += [(str(name), wanted) for name, wanted in criterion.items()]
        else:
            criteria.append((str(criterion), None))
    return criteria


def _contains(embedder: Embeds, text: str, wanted: Any) -> str | None:
    missing = [word for word in _words(wanted) if word.casefold() not in text.casefold()]
    return f"it does not contain {missing[0]!r}" if missing else None


def _contains_not(embedder: Embeds, text: str, wanted: Any) -> str | None:
    there = [word for word in _words(wanted) if word.casefold() in text.casefold()]
    return f"it contains {there[0]!r}" if there else None


def _words(wanted: Any) -> Sequence[str]:
    words = [wanted] if isinstance(wanted, str) else wanted
    if (
        not isinstance(words, list)
        or not words
        or not all(isinstance(word, str) and word for word in words)
    ):
        raise ValueError
    return words


def _language(embedder: Embeds, text: str, wanted: Any) -> str | None:
    if not isinstance(wanted, str):
        raise ValueError
    language = identify(text)
    return (
        None
        if language.code == wanted
        else f"its language is {language.code or 'not clear'}, not {wanted}"
    )


def _similar(embedder: Embeds, text: str, wanted: Any) -> str | None:
    other, least = (
        (wanted.get("text"), wanted.get("at_least", _SIMILAR))
        if isinstance(wanted, Mapping)
        else (wanted, _SIMILAR)
    )
    if not isinstance(other, str) or not isinstance(least, int | float):
        raise ValueError
    own_vector, other_vector = embedder.embed([text, other], "query")
    nearness = float(own_vector @ other_vector)
    return None if nearness >= least else f"its similarity is {nearness:.3f}, below {least:g}"


def _at_most(embedder: Embeds, text: str, wanted: Any) -> str | None:
    count = len(text.split())
    return None if count <= int(wanted) else f"it has {count} words, more than {wanted}"


def _at_least(embedder: Embeds, text: str, wanted: Any) -> str | None:
    count = len(text.split())
    return None if count >= int(wanted) else f"it has {count} words, fewer than {wanted}"


_CHECKS = {
    "contains": _contains,
    "not_contains": _contains_not,
    "language": _language,
    "similar_to": _similar,
    "max_words": _at_most,
    "min_words": _at_least,
}


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, value))))
