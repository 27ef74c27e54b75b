"""Words that announce how long to wait, by language."""

from __future__ import annotations

FORWARD: dict[str, tuple[str, ...] | None] = {
    "again": ("",),
    "try": ("",),
    "retry": ("", "-after", "_after", "after", "-in", "able"),
    "wait": ("",),
    "reset": ("", "s", "ting"),
    "refresh": ("", "es", "ed"),
    "renew": ("", "s", "ed"),
    "replenish": ("", "es", "ed"),
    "refill": ("", "s", "ed"),
    "recover": ("", "s"),
    "restore": ("", "d", "s"),
    "resume": ("", "s"),
    "unlock": ("", "s", "ed"),
    "lift": ("s", "ed"),
    "reopen": ("", "s"),
    "available": ("",),
    "allowed": ("",),
    "possible": ("",),
    "permitted": ("",),
    "ready": ("",),
    "come back": ("",),
    "back in": ("",),
    "back at": ("",),
    "back on": ("",),
    "cooldown": ("", "s"),
    "cool down": ("",),
    "cool-down": ("",),
    "cooling down": ("",),
    "cooldown expires": ("",),
    "limit expires": ("",),
    "ban expires": ("",),
    "block expires": ("",),
    "backoff expires": ("",),
    "limited until": ("",),
    "blocked until": ("",),
    "until": ("",),
    "regain access": ("",),
    "another message": ("",),
    "another request": ("",),
    "next request": ("",),
    "next message": ("",),
    "next attempt": ("",),
    "time remaining": ("",),
    "time left": ("",),
    # the others: the rest of the word does not matter
    "versuch": None,
    "erneut": None,
    "zurückgesetzt": None,
    "warte": None,
    "wieder": None,
    "réessay": None,
    "reessay": None,
    "réinitialis": None,
    "patient": None,
    "attende": None,
    "intént": None,
    "intent": None,
    "reintent": None,
    "espere": None,
    "restablec": None,
    "disponible": None,
    "novamente": None,
    "aguarde": None,
    "disponível": None,
    "riprov": None,
    "ripristin": None,
    "повтор": None,
    "попроб": None,
    "подожд": None,
    "сброс": None,
    "спробуй": None,
    "ponownie": None,
    "spróbuj": None,
    "poczekaj": None,
    "opnieuw": None,
    "wacht": None,
    "thử lại": None,
    "vui lòng chờ": None,
    "coba lagi": None,
    "tunggu": None,
    "försök": None,
    "prøv": None,
    "спробуйте": None,
    "حاول": None,
    "ลองใหม่": None,
    "ลองอีกครั้ง": None,
    "znovu": None,
    "din nou": None,
    "ξανά": None,
    "שוב": None,
    "将在": None,
    "将于": None,
    "將在": None,
    "將於": None,
    "请在": None,
    "請在": None,
    "请于": None,
    "請於": None,
    "可在": None,
    "等待": None,
    "请等": None,
    "重置时间": None,
    "恢复时间": None,
    "重试时间": None,
    "剩余时间": None,
    "冷却": None,
    "リセット": None,
    "재설정": None,
}
"""An announcement and the endings of its last word that keep the meaning (None: any ending).

``retrying``, ``waiting`` and ``waited`` are a client's own notice and are not here on purpose.
"""

NOT_AFTER: dict[str, tuple[str, ...]] = {
    "reset": (
        "connection",
        "stream",
        "socket",
        "last",
        "was",
        "been",
        "password",
        "peer",
        "tcp",
        "err",
        "read",
        "got",
    ),
    "retry": ("will", "auto", "automatically", "max", "maximum", "we'll", "i'll", "client", "agent", "then"),
    "wait": ("max", "maximum", "lock", "io", "will", "not", "would", "retry", "total", "elapsed", "backoff"),
    "until": ("valid", "good", "retried", "retry", "retries", "running", "cached", "deprecated", "supported"),
    "again": ("trying", "retrying"),
    "available": ("maximum",),
}
"""Words right before an announcement that make it something else."""

FILLERS = frozenset(
    (
        "in at on after for by until the your it is be will again to of from next time within least "
        "another more further about approximately approx around roughly circa ca some please only just up "
        "an a limit limits quota usage seconds or daily weekly monthly every each automatically date later before "
        "utc then and when cycle ends billing period try retry window access service es sie bitte um noch etwa ungefähr am ab erneut "
        "dans environ le la les vers à de en unos unas el las los aproximadamente cerca nuevo dentro em "
        "os as por mais daqui tra fra alle через около примерно попытку снова позже не раньше чем za "
        "około po over ongeveer ще раз مرة أخرى اخرى بعد ใน อีกครั้ง în σε בעוד w ciągu sau khoảng dalam "
        "sekitar om igen ungefär igjen 约 大约 大概 約 于 在 至 为 是 北京时间 将 於 约为"
    ).split()
)
"""Words that may stand between an announcement and its time."""

HEDGES = frozenset(
    (
        "about approximately approx around roughly circa ca some ~ ≈ 约 大约 大概 約 etwa ungefähr environ unos "
        "unas aproximadamente cerca около примерно ongeveer khoảng sekitar ungefär około almost nearly"
    ).split()
)
"""Words that make a time approximate."""

WINDOWS = frozenset("every each per daily weekly monthly".split())
"""Words after which a duration is the length of a window, not a wait."""

TRAILING = (
    "before trying",
    "before retry",
    "before you try",
    "before you retry",
    "before sending",
    "before making",
    "before attempting",
    "before continuing",
    "before using",
    "before your next",
    "before the next",
    "before next",
    "before another",
    "before calling",
    "before submitting",
    "until reset",
    "until the reset",
    "until your limit",
    "until the limit",
    "until limit",
    "until next reset",
    "until it resets",
    "from now",
    "remaining until",
    "left until",
    "after which",
    "后重试",
    "后再",
    "后尝试",
    "后重新",
    "后恢复",
    "后重置",
    "后刷新",
    "后可",
    "后解除",
    "后自动",
    "之后",
    "以后",
    "後に",
    "後再",
    "後重試",
    "後、",
    "後にリセット",
    "후에",
    "후 ",
    "뒤에",
    "sonra",
    "重置",
    "恢复",
    "に解除",
    "にリセット",
    "に再開",
    "에 재설정",
    "에 초기화",
    "erneut",
    "opnieuw",
    "बाद",
    "múlva",
    "kuluttua",
)
"""What follows a time that is a wait."""

CLIENT_NOTICES = (
    "retrying",
    "waiting",
    "waited",
    "sleeping",
    "slept",
    "backing off",
    "back off for",
    "backed off",
    "pausing",
    "paused",
    "reconnecting",
    "will retry",
    "timeout of",
    "timed out after",
)
"""What stands before a time that is a client's own notice, or its own time limit."""
