"""Words that every failure has: a status 400 with these alone says nothing of its reason."""

from __future__ import annotations

UNTELLING = frozenset(
    (
        "a ai an and anthropicexception any api apicallerror apierror apistatuserror are as at "
        "axioserror b bad badrequest badrequesterror bedrockexception body by call calling capierror "
        "cause chat check client code completion completions detail details empty err error errors "
        "exception execution failed failure false for from geminiexception got has http https "
        "httpstatuserror httpx i id ids if in information into invalid invalid_request_error "
        "invalidrequesterror is it json line litellm llm message messages model more msg no none null "
        "object occurred of on openai openaiexception or param please post provider ran reason received "
        "recoverable request response result retry retrying returned server status statuscode success "
        "text the think this to transient true type undefined unexpected unknown url v1 sorry your attempt in openrouter try tried again reason later "
        "vertex_aiexception vertexaiexception was when while with you"
    ).split()
)
