"""What an exception's type says where nothing else does: the last part of its name, lower case."""

from __future__ import annotations

from continuity_core.model.cause import CauseKind


def _rows(kind: CauseKind, *names: str) -> dict[str, CauseKind]:
    return dict.fromkeys(names, kind)


CANCELLATIONS = frozenset(
    {"cancellederror", "keyboardinterrupt", "apiuseraborterror", "cancelled", "cancellationexception"}
)
"""Types that only a caller's own stop raises."""
ABORTS = frozenset({"aborterror"})
"""A browser's or Node's abort: the caller's stop unless the text speaks of a timeout or a broken transport."""

PROGRAM_FAULTS = frozenset(
    (
        "typeerror valueerror keyerror indexerror attributeerror nameerror referenceerror rangeerror zerodivisionerror "
        "recursionerror syntaxerror importerror modulenotfounderror filenotfounderror notimplementederror "
        "unicodedecodeerror assertionerror memoryerror"
    ).split()
)
"""Types that a mistake in a program raises: words that only stand together are not believed beside them."""

NEVER_A_PROVIDER = frozenset(
    (
        "keyerror indexerror attributeerror nameerror referenceerror zerodivisionerror recursionerror importerror "
        "modulenotfounderror filenotfounderror notimplementederror assertionerror"
    ).split()
)
"""Of these the types whose message quotes a name of the program, never a provider."""

OF_TOOLS = frozenset(
    (
        "toolexception toolerror toolexecutionerror toolinvocationerror toolcallexception toolretryerror mcperror "
        "calledprocesserror subprocesserror playwrighterror duckduckgosearchexception"
    ).split()
)
"""Types that a tool raises, or the program that runs it."""

EXCEPTION_NAMES: dict[str, CauseKind] = {
    **_rows(
        CauseKind.RATE_LIMIT,
        "ratelimiterror",
        "ratelimitexceedederror",
        "toomanyrequests",
        "toomanyrequestserror",
        "throttlingexception",
        "resourceexhausted",
        "ratelimitexception",
        "modelratelimiterror",
    ),
    **_rows(
        CauseKind.TRANSIENT,
        "apiconnectionerror",
        "apitimeouterror",
        "apiconnectiontimeouterror",
        "timeout",
        "timeouterror",
        "connectionerror",
        "connectionreseterror",
        "connectionabortederror",
        "connectionrefusederror",
        "brokenpipeerror",
        "connecterror",
        "connecttimeout",
        "readerror",
        "readtimeout",
        "writeerror",
        "writetimeout",
        "pooltimeout",
        "networkerror",
        "transporterror",
        "remoteprotocolerror",
        "localprotocolerror",
        "protocolerror",
        "proxyerror",
        "closeerror",
        "streamerror",
        "clientconnectorerror",
        "clientconnectionerror",
        "clientpayloaderror",
        "clientoserror",
        "serverdisconnectederror",
        "serverconnectionerror",
        "servertimeouterror",
        "sockettimeout",
        "sockettimeouterror",
        "connectiontimeouterror",
        "incompleteread",
        "remotedisconnected",
        "chunkedencodingerror",
        "newconnectionerror",
        "maxretryerror",
        "readtimeouterror",
        "connecttimeouterror",
        "endpointconnectionerror",
        "connectionclosederror",
        "responsestreamingerror",
        "eventstreamerror",
        "sslerror",
        "ssleoferror",
        "gaierror",
        "internalservererror",
        "serviceunavailable",
        "serviceunavailableerror",
        "servererror",
        "overloadederror",
        "deadlineexceeded",
        "deadlineexceedederror",
        "gatewaytimeout",
        "badgateway",
        "unavailable",
        "aborted",
        "connectionclosed",
        "incompletemessage",
        "jsondecodeerror",
        "apiresponsevalidationerror",
        "conflicterror",
        "responseerror",
        "eofexception",
        "ioexception",
        "streamresetexception",
        "connectionshutdownexception",
        "endofstreamexception",
        "prematurecloseexception",
        "timeoutexception",
        "httprequestexception",
        "websocketexception",
        "channelexception",
    ),
    **_rows(
        CauseKind.PERMANENT,
        "authenticationerror",
        "permissiondeniederror",
        "permissiondenied",
        "permissionerror",
        "notfounderror",
        "notfound",
        "unprocessableentityerror",
        "unauthenticated",
        "unauthorized",
        "forbidden",
        "invalidargument",
        "invalidrequesterror",
        "contentpolicyviolationerror",
        "contentfilterfinishreasonerror",
        "budgetexceedederror",
        "nocredentialserror",
        "unsupportedparamserror",
        "defaultcredentialserror",
        "refresherror",
        "rejectedrequesterror",
        "contentfiltererror",
        "usererror",
    ),
    **_rows(
        CauseKind.CONTEXT_OVERFLOW,
        "contextwindowexceedederror",
        "contextoverflowerror",
        "contextwindowoverflowexception",
        "requesttoolargeerror",
    ),
    **_rows(
        CauseKind.LENGTH, "lengthfinishreasonerror", "maxtokensreachedexception", "incompleteoutputexception"
    ),
}


_KEYWORDS: tuple[tuple[str, CauseKind], ...] = (
    ("ratelimit", CauseKind.RATE_LIMIT),
    ("noresponse", CauseKind.TRANSIENT),
    ("throttl", CauseKind.RATE_LIMIT),
    ("limitexceeded", CauseKind.RATE_LIMIT),
    ("throughputexceeded", CauseKind.RATE_LIMIT),
    ("toomanyrequests", CauseKind.RATE_LIMIT),
    ("contextwindow", CauseKind.CONTEXT_OVERFLOW),
    ("contextlength", CauseKind.CONTEXT_OVERFLOW),
    ("contextoverflow", CauseKind.CONTEXT_OVERFLOW),
    ("authentication", CauseKind.PERMANENT),
    ("permissiondenied", CauseKind.PERMANENT),
    ("credentials", CauseKind.PERMANENT),
    ("unauthorized", CauseKind.PERMANENT),
    ("modelnotfound", CauseKind.PERMANENT),
    ("notsupported", CauseKind.PERMANENT),
    ("forbidden", CauseKind.PERMANENT),
    ("apikey", CauseKind.PERMANENT),
    ("insufficient", CauseKind.PERMANENT),
    ("quotaexceeded", CauseKind.RATE_LIMIT),
    ("contentpolicy", CauseKind.PERMANENT),
    ("timeout", CauseKind.TRANSIENT),
    ("gateway", CauseKind.TRANSIENT),
    ("connection", CauseKind.TRANSIENT),
    ("disconnect", CauseKind.TRANSIENT),
    ("unavailable", CauseKind.TRANSIENT),
    ("overloaded", CauseKind.TRANSIENT),
    ("internalserver", CauseKind.TRANSIENT),
    ("socket", CauseKind.TRANSIENT),
    ("network", CauseKind.TRANSIENT),
    ("midstream", CauseKind.TRANSIENT),
)
"""Parts of names that no table lists."""


def kind_of_exception(name: str) -> CauseKind | None:
    """What an exception of this name (its last part, in lower case) is, or None where the name does not say."""
    kind = EXCEPTION_NAMES.get(name)
    return kind or next((kind for part, kind in _KEYWORDS if part in name), None)
