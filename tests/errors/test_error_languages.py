"""Errors in other languages than English: what they are about, by stems that stand together."""

from __future__ import annotations

import pytest

from continuity_core.errors import CauseKind, Failure, classify
from continuity_core.errors.languages import statement_in
from continuity_core.errors.matching import FoldedText


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Das Kontingent ist erschöpft", CauseKind.USAGE_LIMIT),
        ("Cuota agotada", CauseKind.USAGE_LIMIT),
        ("Ежедневный запрос: дневная квота исчерпана", CauseKind.USAGE_LIMIT),
        ("リクエスト制限を超えました", CauseKind.RATE_LIMIT),
        ("분당 한도를 초과했습니다", CauseKind.RATE_LIMIT),
        ("輸入內容過長", CauseKind.CONTEXT_OVERFLOW),
        ("La réponse a été tronquée", CauseKind.LENGTH),
        ("Chiave API scaduta", CauseKind.PERMANENT),
        ("Saldo tidak mencukupi", CauseKind.PERMANENT),
        ("Modelo não encontrado", CauseKind.PERMANENT),
        ("Połączenie zostało przerwane", CauseKind.TRANSIENT),
        ("Sunucu şu anda kullanılamıyor", CauseKind.TRANSIENT),
        ("Annullato dall'utente", CauseKind.CANCELLED),
    ],
)
def test_stems_of_many_languages_tell_what_failed(text: str, kind: CauseKind) -> None:
    assert classify(Failure.from_text(text)).kind is kind


def test_a_spent_quota_with_a_short_stated_wait_is_a_throttle() -> None:
    text = "Kontingent erschöpft, bitte in {} erneut versuchen"
    assert classify(Failure.from_text(text.format("20 Sekunden"))).kind is CauseKind.RATE_LIMIT
    assert classify(Failure.from_text(text.format("3 Stunden"))).kind is CauseKind.USAGE_LIMIT


def test_a_window_in_another_language_outranks_a_throttles_status() -> None:
    cause = classify(Failure.from_text("Límite diario de solicitudes superado", status=429))
    assert cause.kind is CauseKind.USAGE_LIMIT


@pytest.mark.parametrize(
    "text", ["the surcharge was cancelled by your bank", "please limit the request to one model · thanks"]
)
def test_an_english_text_is_not_read_as_another_language(text: str) -> None:
    assert statement_in(FoldedText(text)) is None


def test_a_bad_request_without_a_reason_is_unknown_in_any_language() -> None:
    text = "很抱歉，你的请求已失败。请重试。\n\n原因: Request Failed: 400 Bad Request"
    assert classify(Failure.from_text(text)).kind is CauseKind.UNKNOWN


def test_words_that_english_has_too_make_no_key_of_a_token() -> None:
    text = '{"code": 400, "message": "token sum over size", "status": "INVALID_ARGUMENT"}'
    rule = classify(Failure.from_text(text)).rule
    assert rule is not None
    assert not rule.startswith("language:")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Kein API-Schlüssel hinterlegt", CauseKind.PERMANENT),
        ("Authentification échouée", CauseKind.PERMANENT),
        ("Sin saldo en la cuenta", CauseKind.PERMANENT),
        ("Запрос заблокирован фильтром безопасности", CauseKind.PERMANENT),
        ("账号已被封禁", CauseKind.PERMANENT),
        ("O texto é muito longo", CauseKind.CONTEXT_OVERFLOW),
        ("Trop de tokens dans la requête", CauseKind.CONTEXT_OVERFLOW),
        ("Monatliches Analyselimit erreicht", CauseKind.USAGE_LIMIT),
        ("Vous avez utilisé tous vos messages gratuits aujourd'hui", CauseKind.USAGE_LIMIT),
        ("您的请求太快了", CauseKind.RATE_LIMIT),
        ("La respuesta se cortó por el límite de tokens", CauseKind.LENGTH),
        ("Nie można połączyć się z usługą", CauseKind.TRANSIENT),
        ("返回内容为空", CauseKind.TRANSIENT),
        ("Solicitação cancelada", CauseKind.CANCELLED),
    ],
)
def test_everyday_words_of_apps_are_read_in_their_languages(text: str, kind: CauseKind) -> None:
    assert classify(Failure.from_text(text)).kind is kind


@pytest.mark.parametrize(
    "text",
    [
        "429: 10초 후 다시 시도합니다",
        "429: 10秒後に再試行します",
        "429: 将在10秒后自动重试",
        "429: Neuer Versuch in 10 Sekunden",
        "429: Reintentando en 10 s",
        "429: rate limited, next try in 10 s (2/5)",
    ],
)
def test_a_clients_own_notice_is_no_wait_in_any_language(text: str) -> None:
    assert classify(Failure.from_text(text)).guidance == ()
