"""Who speaks in a text that came from no provider: a tool, a program's source, a display, a person."""

from __future__ import annotations

import re

_TOOL = (
    r"\b(?:tool|mcp|hook|command|bash|shell|terminal|subprocess|npm|pip|git|pytest|sandbox|subagent"
    r"|webfetch|browser|web[_ -]?search|web[_ -]fetch|grep|glob|docker|kubectl|eslint|tsc|cargo|playwright"
    r"|mcp__\w{1,60})\b(?!_)"
)
_TOOL_FAILED = re.compile(
    rf"(?:[^\w]{{0,4}}\b\w{{1,24}}+\b){{0,3}}?[^\w]{{0,4}}{_TOOL}[^.;!?]{{0,40}}?\b(?:error|failed|failure|timed"
    r"|exceeded (?:the |its )?max\w{0,5}|timeout|returned|threw|exited|errored|result|err|fatal|rejected"
    r"|[45]\d\d)\b"
    rf"|[^\w]{{0,4}}(?:error|failed|failure) (?:during|in|while|executing|running|calling|to (?:run|call))"
    rf" (?:\w{{1,24}}+ ){{0,2}}?{_TOOL}"
)
_MODEL_SPEAKS = re.compile(
    r"\b(?:model|tool_use|tool_choice|messages?|parameter|parse|schema|supported|validation|provider|litellm|llm|stream"
    r"|tokens|choice|arguments|generation|unknown|anthropic|openai|concurrency)\b"
)
_LEAD_LENGTH = 48
"""Characters of the beginning that tell who speaks."""

_FILE = (
    r"[`'\"]?[\w./~-]{1,200}"
    r"\.(?:py|js|ts|tsx|jsx|md|json|txt|rs|go|java|kt|rb|php|cs|c|h|cpp|yaml|yml|toml|log|sh|html|css|sql)\b"
)
_TOOLS = re.compile(
    r"[^\w]{0,4}(?:"
    # a dotted name of a method (slack.message.post failed)
    r"(?!(?:api|client|openai|anthropic|gemini|litellm|bedrock)\.)[a-z]\w{1,30}"
    r"(?:\.(?!(?:com|net|org|io|ai|dev|chat|completions|responses|embeddings|models|internal|local|svc|lan)\b)"
    r"[a-z]\w{1,30}){1,3} (?:failed|error|errored|returned|timed out)\b"
    # a name that begins with what the tool does (fetch_url error)
    r"|(?:fetch|read|search|list|create|write|browse|open|web|load|download|scrape|edit|delete|grep|glob"
    r"|browser|execute|exec|computer|terminal|file|shell|notebook|todo|task|apply|replace|insert|str)"
    r"(?:_(?!model|llm|request|response|message|chat|stream|timeout|error|limit)[a-z]{2,20}){1,3}"
    r" (?:failed|error|errored|returned|timed out)\b"
    # what a tool shows of a file (Read tests/limits.py: ...)
    rf"|(?:read|edit|write|update|view|cat|open|grep|search|create)[ (:]{{1,2}}{_FILE}"
    # what stands before a tool's answer (WebFetch: 429)
    r"|(?:webfetch|web_fetch|websearch|web_search|bash|shell|terminal|grep|glob)(?:\([^()]{0,120}\))?: "
    r"|<?tool_result\b"
    r"|(?:calling )?function (?:call )?[`'\"]?\w{1,60}[`'\"]? (?:returned|failed)\b"
    # programs that agents run
    r"|(?:gh|ssh|scp|rsync|kubectl|terraform|aws|gcloud|az|make|docker|podman|helm|brew|apt|yarn|pnpm|npx|cargo|go|mvn"
    r"|gradle|psql|mysql|redis-cli|ffmpeg|adb): "
    r"|fatal: (?:unable to access|could not read from remote|repository|not a git)"
    r"|(?:timeouterror: )?(?:page|locator|frame|browser|elementhandle)\.\w{2,30}: "
    r"|(?:puppeteer|playwright|selenium)\b"
    r"|lsp\b"
    # services that tools call
    r"|(?:slack|notion|jira|linear|gmail|google (?:drive|calendar|sheets|docs|search)|stripe|twilio|discord"
    r"|telegram|confluence|asana|trello|salesforce|hubspot|airtable|figma|sentry|datadog|zendesk|shopify|dropbox)"
    r"(?: api)?(?: error)?(?: \(\d{3}\))?:"
    r"|(?:failed|unable|error|could not|cannot)(?: to)?"
    r" (?:read|write|writ|open|load|edit|save|sav|apply|fetch|download|clone|clon|scrape|scrap)(?:ing)?"
    r"(?: the| your| a)?"
    r" (?:file|config|patch|diff|settings|directory|page|web ?page|website|repo|repository)\b"
    # a call as a terminal shows it (Fetch(https://...) Error: ...)
    r"|(?:web ?)?(?:fetch|search|read|edit|write|update|bash|glob|grep|task)\([^()]{0,160}\)"
    r"[\s:|-]{0,4}(?:error|failed)\b"
    r"|(?:\d{1,5} )?tests? (?:timed out|failed|exceeded)\b"
    r"|(?:工具|命令|终端|脚本|执行命令|读取文件|写入文件|ツール|コマンド|도구|명령)[^,，。:：]{0,12}?"
    r"(?:失败|错误|超时|出错|失敗|エラー|실패|오류)"
    # files of this machine
    r"|(?:error: )?(?:eacces|eperm|enospc|emfile|eisdir|enotdir|eexist|erofs): "
    r")"
)
_SOURCE = re.compile(
    r"[^\w]{0,4}(?:"
    r"(?:fix|feat|chore|docs|test|tests|refactor|perf|ci|build|style|revert)(?:\([\w./, -]{1,40}\))?!?: "
    r"|todo\b|fixme\b|if [\w.()]{1,60} (?:==|===|!=|>=?|<=?) "
    r"|except [\w., ()]{3,80}(?: as \w{1,20})?:$"
    r"|raise [\w.]{3,60}\(|throw new |assert [\w(\"']|expect\(|(?:it|describe|test)\(['\"`]"
    r"|(?:pytest|unittest)\."
    r"|class \w{1,60}\(|(?:added|fixed|implemented|refactored|bumped|bump) (?:an? |the |some )?[a-z]"
    r"|(?:const|let|var) \w{1,60}(?:: \w{1,40})? ?=|(?:def|async def|func|fn) \w{1,60}\("
    r"|(?:import|from) [\w.]{2,60} import |catch \("
    r")"
)
_SETTING = re.compile(r"(?:export )?[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}=[\w./:\"'-]{0,80}")
_HEADER_WITH_ROOM = re.compile(r"(?:x-)?ratelimit-[a-z-]{0,24}remaining[a-z-]{0,12}: [1-9]\d{0,9}")
_PERCENT_USED = re.compile(r"\b(\d{1,2})(?:\.\d{1,4})?% ?(?:used|of|,|·|\(|\||left|remaining)")
_COUNT_USED = re.compile(
    r"\b(?P<part>\d[\d,]{0,11}) ?(?:of|/) ?(?P<whole>\d[\d,]{0,11}) "
    r"(?:[a-z-]{2,16} ){0,3}(?P<how>used|remaining|left)\b"
    r"|\bused (?P<used>\d[\d,]{0,11}) ?(?:of|/) ?(?P<given>\d[\d,]{0,11})\b"
    r"|\bremaining:? (?P<rest>\d[\d,]{0,11}) ?(?:of|/) ?(?P<all>\d[\d,]{0,11})\b"
)
_COUNT_LEFT = re.compile(
    r"\b[1-9]\d{0,8} (?!sec|min|hour|hr|day|week|month|ms\b)(?:[a-z-]{2,16} ){1,2}(?:remaining|left)\b"
)
_RESET_SHOWN = re.compile(
    r"\b(?:your|my|the) (?:[\w-]{1,20} ){0,3}limits? (?:will )?(?:resets?|renews?|refresh(?:es)?)\b"
)
_QUESTION = re.compile(
    r"[^\w]{0,3}(?:my|i|we|is|does|do|did|when|why|what|how|can|could|should|am|are|will|which|where|who)\b"
    r"(?!'| not\b)"
    r"[^.!?\n]{0,200}\?"
)
_LIMIT_HIT = (
    "reached",
    "exceeded",
    "hit your",
    "exhausted",
    "error",
    "failed",
    "out of",
    "rejected",
    "429",
    "blocked",
)
_NO_MORE = (
    "used",
    "no more",
    "wait",
    "again",
    "sorry",
    "upgrade",
    "until",
    "cannot",
    "can't",
    "limited",
    "hit the",
)


def a_tool_speaks(text: str) -> bool:
    """Whether the text begins with what a tool failed with; the rest quotes whatever the tool met."""
    if _TOOLS.match(text) is not None:
        return True
    if _TOOL_FAILED.match(text) is None:
        return False
    return _MODEL_SPEAKS.search(text[:_LEAD_LENGTH]) is None


def is_source(text: str, raw: str) -> bool:
    """Whether the text is a line of a program, its history or its settings, which only mentions errors."""
    if "\n" in raw.strip():
        return False  # the end of a stack
    if _SOURCE.match(text) is not None:
        return True
    return "=" in raw and _SETTING.fullmatch(raw.strip()) is not None


def is_a_question(text: str) -> bool:
    """Whether the text is one question of a person (``does my usage limit reset at 3 pm?``)."""
    return text.endswith("?") and _QUESTION.fullmatch(text) is not None


def shows_usage(text: str) -> bool:
    """Whether the text shows how much of a limit is used or when it resets, and no sign of a failure."""
    if "%" in text and _PERCENT_USED.search(text) is not None:
        return not any(word in text for word in _LIMIT_HIT)
    if "limit" in text and _RESET_SHOWN.search(text) is not None:
        return not any(word in text for word in _LIMIT_HIT + _NO_MORE)
    if ("remaining" in text or "left" in text or "used" in text) and _shows_a_count(text):
        return not any(word in text for word in _LIMIT_HIT)
    return False


def _shows_a_count(text: str) -> bool:
    """``45/50 requests used``, ``5 messages remaining``: some are left."""
    count = _COUNT_USED.search(text)
    if count is None:
        return _COUNT_LEFT.search(text) is not None or _HEADER_WITH_ROOM.fullmatch(text) is not None
    part, whole = (
        int(number.replace(",", ""))
        for number in (
            count["part"] or count["used"] or count["rest"],
            count["whole"] or count["given"] or count["all"],
        )
    )
    return part < whole and (part > 0 or "used" in count.group())
