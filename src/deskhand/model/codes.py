"""Stable error codes: what a dashboard groups by, an eval compares and a client translates.
Never rename one."""

from enum import StrEnum


class ErrorCode(StrEnum):
    # the message
    MESSAGE_TOO_LARGE = "message_too_large"
    MESSAGE_UNREADABLE = "message_unreadable"
    AUTOMATIC_MAIL = "automatic_mail"
    REPLY_BOUNCED = "reply_bounced"
    TOO_MANY_REPLIES = "too_many_replies"
    ANSWERED_BEFORE = "answered_before"
    PERSON_WANTED = "person_wanted"
    # the flow
    FLOW_CHANGED = "flow_changed"
    HOP_LIMIT = "hop_limit"
    LOOP_LIMIT = "loop_limit"
    STAGE_FAILED = "stage_failed"
    STAGE_TIMEOUT = "stage_timeout"
    OUTPUT_MISSING_FIELDS = "output_missing_fields"
    OUTPUT_INVALID_FIELDS = "output_invalid_fields"
    PLAN_MISSING = "plan_missing"
    PLAN_INVALID = "plan_invalid"
    PROMPT_INVALID = "prompt_invalid"
    HOOK_FAILED = "hook_failed"
    # the model
    MODEL_UNAVAILABLE = "model_unavailable"
    MODEL_REFUSED = "model_refused"
    MODEL_ANSWER_INVALID = "model_answer_invalid"
    MODEL_ANSWER_EMPTY = "model_answer_empty"
    # tools
    TOOL_UNKNOWN = "tool_unknown"
    TOOL_DENIED = "tool_denied"
    TOOL_HELD = "tool_held"
    TOOL_REJECTED = "tool_rejected"
    TOOL_ARGUMENTS_INVALID = "tool_arguments_invalid"
    TOOL_FAILED = "tool_failed"
    TOOL_TIMEOUT = "tool_timeout"
    TOOL_RESULT_INVALID = "tool_result_invalid"
    TOOL_RESULT_WITHHELD = "tool_result_withheld"
    NOT_FOUND = "not_found"
    EFFECT_UNKNOWN = "effect_unknown"
    SANDBOX_SEALED = "sandbox_sealed"
    # requests to the API
    REQUEST_INVALID = "request_invalid"
    REQUEST_TIMEOUT = "request_timeout"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    CONFLICT = "conflict"
    OVERLOADED = "overloaded"
    # storage and dispatch
    STORE_UNAVAILABLE = "store_unavailable"
    FENCED = "fenced"
    CRASHED_REPEATEDLY = "crashed_repeatedly"
    TAKEN_OVER = "taken_over"
    INTERNAL = "internal"
