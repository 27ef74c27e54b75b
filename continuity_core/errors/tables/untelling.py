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
        "text the think this to transient true type undefined unexpected unknown url v1 "
        "sorry your attempt in openrouter try tried again reason later "
        "backend body_excerpt cli endpoint latest mistral n parse provider_message request_id vibe "
        "unhandled fetch uncaught promise rejection unsuccessful failure fatal encountered occured gave non ok "
        "ended ends finished something went wrong statustext axios got httpstatus stack trace log level warn warning info debug service "
        "vertex_aiexception vertexaiexception was when while with you "
        "does not indicate"
    ).split()
)

UNTELLING_PHRASES = (
    "很抱歉",
    "抱歉",
    "你的请求已失败",
    "您的请求已失败",
    "请求失败",
    "请求出错",
    "请求错误",
    "错误的请求",
    "发生错误",
    "出错了",
    "错误信息",
    "错误代码",
    "错误码",
    "报错",
    "错误",
    "失败",
    "请稍后重试",
    "请稍后再试",
    "稍后重试",
    "请重试",
    "原因",
    "请求",
    "未知",
    "リクエストに失敗しました",
    "エラーが発生しました",
    "エラー",
    "不正なリクエスト",
    "申し訳ありません",
    "もう一度お試しください",
    "요청이 실패했습니다",
    "오류가 발생했습니다",
    "잘못된 요청",
    "오류",
    "다시 시도",
    "ungültige anfrage",
    "anfrage fehlgeschlagen",
    "ein fehler ist aufgetreten",
    "requête incorrecte",
    "une erreur est survenue",
    "la requête a échoué",
    "solicitud incorrecta",
    "se produjo un error",
    "la solicitud falló",
    "ocorreu um erro",
    "solicitação inválida",
    "произошла ошибка",
    "неверный запрос",
    "ошибка запроса",
    "ошибка",
)
"""The same in other languages, longer ones before what they hold."""
