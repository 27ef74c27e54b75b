"""Units of time as people and programs spell them, by language."""

from __future__ import annotations

from typing import Final

MINUTE: Final = 60.0
HOUR: Final = 3600.0
DAY: Final = 86400.0
WEEK: Final = 7 * DAY
MONTH: Final = 30 * DAY
"""A month in prose is taken as 30 days, always as an approximate wait."""

_SPELLINGS: dict[float, str] = {
    0.001: (
        "ms msec msecs millis millisecond milliseconds 毫秒 ミリ秒 밀리초 millisekunden millisekunde "
        "millisecondes milisegundos milissegundos millisecondi миллисекунд"
    ),
    1.0: (
        "s sec secs second seconds secound secounds 秒 秒钟 秒鐘 초 sekunde sekunden sek seconde secondes "
        "segundo segundos seg segs secondo secondi sekund sekunda sekundy sekunder секунда секунды "
        "секунд секунду сек секунди másodperc δευτερόλεπτα δευτερόλεπτο sekunnin secunde secundă "
        "שניות saniye giây detik seconden วินาที ثانية ثوان ثواني सेकंड"
    ),
    MINUTE: (
        "m min mins minute minutes minuten minuto minutos minuti 分 分钟 分鐘 分間 분 минута минуты минут "
        "минуту мин хвилин хвилини хвилину perc λεπτά λεπτό minuutin minutter דקות דקה minuta "
        "minuty minut minuter dakika dk phút menit minuut นาที دقيقة دقائق मिनट"
    ),
    HOUR: (
        "h hr hrs hour hours 小时 小時 时间 時間 个小时 個小時 시간 stunde stunden std heure heures hora horas ora "
        "ore час часа часов ч годин години годину óra ώρες ώρα tunnin timer oră שעות שעה godzina "
        "godziny godzin godzinę saat sa giờ jam timme timmar uur uren ชั่วโมง ساعة ساعات घंटे घंटा"
    ),
    DAY: (
        "d day days 天 日 日間 일 tag tage tagen jour jours día días dia dias giorno giorni день дня "
        "дней днів днi nap ημέρες ημέρα päivän zile ימים dzień dni gün ngày hari dag dagar dagen "
        "วัน يوم أيام दिन"
    ),
    WEEK: (
        "w wk wks week weeks 周 週 週間 个星期 星期 주 woche wochen semaine semaines semana semanas settimana "
        "settimane неделя недели недель неделю tydzień tygodnie hafta tuần minggu vecka veckor "
        "weken"
    ),
    MONTH: "mo month months 个月 個月 ヶ月 か月 개월 monat monate monaten mois mes meses mês mese mesi месяц месяца месяцев",
}

UNITS: dict[str, float] = {word: seconds for seconds, words in _SPELLINGS.items() for word in words.split()}
"""Spelling in lower case to seconds."""

COMPACT: frozenset[str] = frozenset("ms s m h d w sec secs".split())
"""What programs write: a wait in these only is exact, however coarse."""

ABBREVIATIONS: frozenset[str] = frozenset("sec secs min mins hr hrs std sek wk wks mo".split())
"""What may be followed by a dot inside a duration."""

GUESSABLE: dict[str, float] = {
    word: seconds
    for word, seconds in UNITS.items()
    if word in {"second", "seconds", "minute", "minutes", "hour", "hours", "days", "weeks", "month", "months"}
}
"""Spellings of which a slip of one letter is still read (``miutes``, ``mintues``)."""

NUMBER_WORDS: dict[str, float] = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty-five": 45,
    "sixty": 60,
    "half": 0.5,
    "eine": 1,
    "einer": 1,
    "einem": 1,
    "zwei": 2,
    "une": 1,
    "un": 1,
    "una": 1,
    "uma": 1,
    "um": 1,
    "deux": 2,
    "dos": 2,
    "dois": 2,
    "duas": 2,
    "due": 2,
    "один": 1,
    "одну": 1,
    "两": 2,
    "一": 1,
    "三": 3,
    "五": 5,
    "十": 10,
}

CONNECTORS: frozenset[str] = frozenset("and und et y e и і та en i oraz ve và dan och og 零 又".split())
"""Words between the parts of one duration."""
