"""Words that every failure has: a status 400 with these alone says nothing of its reason."""

from __future__ import annotations

UNTELLING = frozenset(
    (
        "a an and any api apierror apistatuserror are as at axioserror bad badrequest badrequesterror body by call "
        "cause chat code completion completions detail details empty err error errors exception failed failure false "
        "for from got has http https i if in into invalid invalid_request_error invalidrequesterror is it json line "
        "litellm llm message messages model msg no none null object occurred of on openai openaiexception or param "
        "please post provider ran reason received recoverable request response result retry retrying returned server "
        "status statuscode success text the think this to transient true type undefined unexpected unknown url v1 was "
        "when while with you calling apicallerror ai"
    ).split()
)
