"""Months, days and zones as people and programs spell them."""

from __future__ import annotations

_MONTHS = (
    "january jan januar janvier janv enero ene janeiro gennaio gen января янв январь stycznia ocak januari",
    (
        "february feb februar février févr fevrier febrero fevereiro fev febbraio февраля фев "
        "февр февраль lutego şubat februari"
    ),
    "march mar märz mrz mars marzo março marco марта мар март marca mart maart",
    "april apr avril avr abril abr aprile апреля апр апрель kwietnia nisan",
    "may mai mayo maio maggio mag мая май maja mayıs mei maj",
    "june jun juni juin junio junho giugno giu июня июн июнь czerwca haziran",
    "july jul juli juillet juil julio julho luglio lug июля июл июль lipca temmuz",
    "august aug août aout agosto ago августа авг август sierpnia ağustos augustus augusti",
    (
        "september sep sept septembre septiembre setembro set settembre сентября сен сент "
        "сентябрь września eylül"
    ),
    "october oct oktober okt octobre octubre outubro out ottobre ott октября окт октябрь października ekim",
    "november nov novembre noviembre novembro ноября ноя нояб ноябрь listopada kasım",
    (
        "december dec dezember dez décembre déc decembre diciembre dic dezembro dicembre декабря "
        "дек декабрь grudnia aralık"
    ),
)
MONTHS: dict[str, int] = {word: number for number, words in enumerate(_MONTHS, 1) for word in words.split()}

_WEEKDAYS = (
    "monday mon montag lundi lunes segunda lunedì понедельник",
    "tuesday tue tues dienstag mardi martes terça martedì вторник",
    "wednesday wed mittwoch mercredi miércoles quarta mercoledì среда среду",
    "thursday thu thur thurs donnerstag jeudi jueves quinta giovedì четверг",
    "friday fri freitag vendredi viernes sexta venerdì пятница пятницу",
    "saturday sat samstag samedi sábado sabato суббота субботу",
    "sunday sun sonntag dimanche domingo domenica воскресенье",
)
WEEKDAYS: dict[str, int] = {word: number for number, words in enumerate(_WEEKDAYS) for word in words.split()}
"""Monday is 0."""

DAY_WORDS: dict[str, int] = {
    "today": 0,
    "tonight": 0,
    "heute": 0,
    "hoy": 0,
    "hoje": 0,
    "oggi": 0,
    "сегодня": 0,
    "今天": 0,
    "今日": 0,
    "오늘": 0,
    "tomorrow": 1,
    "morgen": 1,
    "demain": 1,
    "mañana": 1,
    "amanhã": 1,
    "domani": 1,
    "завтра": 1,
    "明天": 1,
    "次日": 1,
    "翌日": 1,
    "明日": 1,
    "내일": 1,
}
"""Days from today."""

HALVES: dict[str, str] = {
    "上午": "a",
    "早上": "a",
    "午前": "a",
    "오전": "a",
    "下午": "p",
    "晚上": "p",
    "午後": "p",
    "오후": "p",
}
"""Halves of a day that stand before a clock time: ``a`` is before noon, ``p`` after."""

LEAD_WORDS = (*HALVES, *(word for word in DAY_WORDS if not word.isascii()))

CLOCK_WORDS: dict[str, tuple[int, int]] = {
    "noon": (12, 0),
    "midday": (12, 0),
    "midnight": (0, 0),
    "mitternacht": (0, 0),
    "minuit": (0, 0),
    "medianoche": (0, 0),
}

ZONES: dict[str, float | str] = {
    "utc": 0,
    "gmt": 0,
    "z": 0,
    "ut": 0,
    "zulu": 0,
    "pst": -8,
    "pdt": -7,
    "mst": -7,
    "mdt": -6,
    "cdt": -5,
    "est": -5,
    "edt": -4,
    "akst": -9,
    "akdt": -8,
    "hst": -10,
    "cst": -6,
    "brt": -3,
    "art": -3,
    "clt": -4,
    "ast": -4,
    "adt": -3,
    "nst": -3.5,
    "ndt": -2.5,
    "wat": 1,
    "sast": 2,
    "trt": 3,
    "gst": 4,
    "myt": 8,
    "pht": 8,
    "bst": 1,
    "wet": 0,
    "west": 1,
    "cet": 1,
    "cest": 2,
    "mez": 1,
    "mesz": 2,
    "eet": 2,
    "eest": 3,
    "msk": 3,
    "ist": 5.5,
    "pkt": 5,
    "ict": 7,
    "wib": 7,
    "sgt": 8,
    "hkt": 8,
    "awst": 8,
    "jst": 9,
    "kst": 9,
    "aest": 10,
    "aedt": 11,
    "acst": 9.5,
    "nzst": 12,
    "nzdt": 13,
    "pt": "America/Los_Angeles",
    "pacific": "America/Los_Angeles",
    "mt": "America/Denver",
    "mountain": "America/Denver",
    "ct": "America/Chicago",
    "central": "America/Chicago",
    "et": "America/New_York",
    "eastern": "America/New_York",
    "beijing": "Asia/Shanghai",
    "北京时间": "Asia/Shanghai",
    "北京": "Asia/Shanghai",
    "中国标准时间": "Asia/Shanghai",
    "日本時間": "Asia/Tokyo",
}
"""Hours east of UTC, or the name of a zone that has summer time. ``CST`` is North America's, as in Go and Java."""

PROVIDER_ZONES: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        (
            "[1308]",
            "[1310]",
            "[1316]",
            "[1317]",
            '"1308"',
            '"1310"',
            '"1316"',
            '"1317"',
            "'1308'",
            "'1310'",
            "usage limit reached for",
            "weekly/monthly limit exhausted",
            "z.ai",
            "bigmodel",
            "zhipu",
            "智谱",
            "您的限额",
            "使用上限",
            "重置",
            "恢复",
            "北京",
        ),
        "Asia/Shanghai",
    ),
)
"""Who writes instants without a zone in which zone: Z.ai and Zhipu write Beijing time."""
