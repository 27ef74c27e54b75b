"""What errors are about in other languages than English: stems that stand together in one text.

Asked where no known wording stands. Of the stems of a row at least one group is of no English word, so that an
English text meets no row by chance. Sources: the messages of operating systems, browsers and SDKs in these
languages, and the agents that translate their own (Windows, Chromium, VS Code, Cherry Studio, new-api, DashScope).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from continuity_core.model.cause import CauseKind


def _stems(text: str) -> tuple[str, ...]:
    """One stem each, blanks inside written as ``_``."""
    return tuple(stem.replace("_", " ") for stem in text.split())


CONCEPTS: Final[dict[str, tuple[str, ...]]] = {
    "limit": _stems(
        "*limit *kontingent nutzungskontingent tokenkontingent anfragekontingent freikontingent nutzungslimit tokenlimit anfragelimit ratenlimit limita limitet daglimiet weeklimiet gräns dagslimit kontingent limit limite límite quota quote quotum cuota cota cupo kota kuota kvot квот лимит ліміт limiet hạn_mức "
        "giới_hạn batas クォータ 上限 利用枠 制限 枠を 枠が 할당량 한도 제한 쿼터 配额 配額 额度 額度 限额 限額 限制 用量 tageskontingent "
        "wochenkontingent monatskontingent tageslimit wochenlimit"
    ),
    "spent": _stems(
        "utilisé_tous utilisé_toutes usou_toda usaste_toda has_usado_tod израсходов использовали_все використали_вс erschöpft aufgebraucht ausgeschöpft verbraucht épuisé agotad agotó esgotad esgotou acabou esaurit исчерпан закончил "
        "вичерпан wyczerpan wykorzystan zużyt doldu tükendi opgebruikt hết habis 使い果た 使い切 소진 모두_사용 다_사용 耗尽 用尽 "
        "用完 耗盡 用盡 använd vyčerpán"
    ),
    "exceeded": _stems(
        "atins elér bereikt nått erreicht überschritten überschreitet atteint dépass alcanzad alcanzó superad superó superat excedid excedeu excede_ "
        "atingi ultrapassad raggiunt достиг превыш перевищ osiągni przekrocz aşıl aştı ulaşıl ulaştı bereikt overschreden "
        "vượt đạt_đến tercapai mencapai terlampaui melebihi 達し 超え 超過し 초과 도달 넘었 넘어 已达 达到 超出 超过 超限 已達 達到 超過 nådd překroč"
    ),
    "period": _stems(
        "aujourd'hui de_hoy hoje сегодня сьогодні heute dzisiaj bugün zilnic săptămânal napi_ heti_ dagelijks daglimiet dagslimit dagliga harian mingguan täglich tages wöchentlich wochen monatlich monats quotidien hebdomadaire mensuel journali semanal mensual diario "
        "diaria diári mensal giornalier settimanal mensil дневн суточн недельн месячн денн тижнев місячн dzienn tygodniow "
        "miesięczn günlük haftalık aylık dagelijks wekelijks maandelijks hàng_ngày hàng_tuần hàng_tháng harian mingguan "
        "bulanan 1日 一日 日次 本日 今日 週間 月間 今月 今週 일일 하루 오늘 주간 월간 每日 每天 每周 每週 每月 本周 本週 本月 当日 當日 "
        "daglig veckovis denní týdenní"
    ),
    "request": _stems(
        "cerer kérés anfrage requête solicitud petición peticiones solicitaç requisiç richiest запрос запит żąda zapyta istek istekl "
        "verzoek yêu_cầu permintaan リクエスト 要求 요청 请求 請求 调用 förfråg požadav"
    ),
    "too many": _stems(
        "prea_mult túl_sok zu_viele zu_häufig trop_de trop_fréq demasiad muitas muitos troppe слишком_много слишком_част забагато 多すぎ 頻繁 "
        "너무_많 너무_자주 过多 過多 太多 频繁 過於 zbyt_wiele zbyt_częst çok_fazla çok_sık te_veel quá_nhiều terlalu_banyak för_många "
        "příliš_mnoho"
    ),
    "rate": _stems(
        "速率 频率 頻率 流量 流控 レート 속도 débit fréquence frecuencia frequência velocidad taxa частот скорост frequenz"
    ),
    "too fast": _stems(
        "太快 过快 過快 过高 過高 超限 速すぎ 너무_빠 zu_schnell trop_vite trop_élev muy_rápid demasiado_rápid demasiado_alt "
        "muito_rápid muito_alt слишком_быстр слишком_высок troppo_veloc"
    ),
    "upstream": _stems("上游 渠道 网关 網關 后端 後端 代理 节点 節點"),
    "limited": _stems(
        "drosselt 제한되었 제한됩 제한됐 제한된_상태 制限されて 制限中 被限制 已限制 受到限制 gedrosselt begrenzt_worden drosselung ralentie limitad_temporal "
        "ограничен обмежен ograniczon sınırlandı"
    ),
    "billing": _stems(
        "결제 청구 支払い情報 請求情報 お支払い 账单 帳單 计费 付款方式 abrechnung zahlungsdaten rechnungsdaten facturación facturation faturamento "
        "fatturazione оплат биллинг płatnoś ödeme"
    ),
    "generation": _stems(
        "génération generación geração generazione generierung генерац generowani oluşturma 生成 생성"
    ),
    "rejected": _stems(
        "abgelehnt refusée refusé rechazad recusad rifiutat отклон відхил odrzucon reddedil 被拒绝 拒否 거부"
    ),
    "auth": _stems(
        "authentifizierung authentification autenticación autenticação autenticazione авторизац аутентификац автентифікац uwierzyteln kimlik_doğrulama 認証 인증 认证 鉴权 身份验证"
    ),
    "cannot": _stems(
        "konnte_nicht kann_nicht impossible_de impossible_d no_se_pudo no_fue_posible não_foi_possível impossibile не_удалось не_вдалося неможливо невозможно nie_można nie_udało できませんでした 할_수_없 无法 無法"
    ),
    "to connect": _stems(
        "verbinden erreichen joindre contacter connecter conectar connetter raggiungere подключ соедин під'єдна з'єдна połącz bağlan 接続 연결 连接 連接"
    ),
    "network error": _stems("netzwerkfehler verbindungsfehler netwerkfout"),
    "tokens": _stems("tokens token токен トークン 토큰"),
    "free": _stems("kostenlos gratuit gratis grátis бесплатн безкоштовн darmow ücretsiz 免费 免費 無料 무료"),
    "blocked": _stems(
        "blockiert bloqué bloquead bloccat заблокирован заблокован zablokowan engellen 차단 ブロック 拦截 屏蔽"
    ),
    "safety": _stems(
        "sicherheits inhaltsfilter sécurité seguridad segurança sicurezza безопасност безпек bezpieczeń güvenlik 安全 안전"
    ),
    "plan": _stems("tarif forfait tu_plan su_plan seu_plano tuo_piano тариф taryf プラン 요금제 套餐"),
    "login": _stems("登录 登入 ログイン 로그인 anmeldung iniciar_sesión вход_в"),
    "permission": _stems("权限 權限 権限 권한 berechtigung permisos permissões autorisation прав_доступа"),
    "without": _stems(
        "kein_ aucune aucun falta ausente senza без_ brak відсутн отсутств немає 没有 无 沒有 無 缺少 不足 ありません ない 없 keine sin_ sem_ sans_ нет"
    ),
    "not enabled": _stems("未开通 未激活 未启用 未開通 没有开通 不包含 未包含 需要开通 尚未开通"),
    "parameter": _stems(
        "参数 參數 パラメータ パラメーター 매개변수 파라미터 parámetro parâmetro paramètre параметр"
    ),
    "account": _stems(
        "账号 账户 帐号 帳號 帳戶 用户组 アカウント 계정 konto compte cuenta conta учётн учетн аккаунт"
    ),
    "shut": _stems(
        "封禁 封停 禁用 停用 冻结 凍結 停止されて 정지 차단되었 gesperrt deaktiviert suspendu désactiv suspendid bloquead desativad заблокирован заблокован "
        "zablokowan"
    ),
    "empty answer": _stems("内容为空 返回为空 响应为空 回复为空 结果为空 空响应 空回复 応答が空 응답이_비어"),
    "minute": _stems(
        "pro_minute pro_sekunde par_minute par_seconde por_minuto por_segundo al_minuto al_secondo в_минуту в_секунду "
        "за_хвилину 1分あたり 毎分 毎秒 分あたり 분당 초당 每分钟 每分鐘 每秒 na_minutę dakikada dakika_başına per_minuut mỗi_phút per_menit"
    ),
    "input": _stems(
        "der_text text_ist texte texto testo текст tekst metin テキスト 텍스트 vstup intrare bemenet eingabe eingegebene prompt kontext nachricht anfrage unterhaltung entrée contexte conversation requête entrada "
        "contexto mensaje conversación mensagem conversa input contesto messaggio conversazione ввод входн контекст запрос "
        "сообщен вхідн 入力 プロンプト コンテキスト 会話 입력 프롬프트 컨텍스트 대화 메시지 输入 輸入 上下文 提示词 提示詞 对话 對話 消息 内容 內容 文本 请求体 請求體 le_message votre_message wejści wiadomoś "
        "girdi bağlam invoer đầu_vào ngữ_cảnh masukan konteks"
    ),
    "context": _stems(
        "kontext contexte contexto contesto контекст コンテキスト 컨텍스트 上下文 kontekst bağlam ngữ_cảnh konteks"
    ),
    "too long": _stems(
        "příliš_dlouh prea_lung túl_hossz zu_lang zu_groß trop_long trop_grand trop_volumineu demasiado_larg demasiado_grande demasiado_extens muito_long "
        "muito_grande longa_demais longo_demais grande_demais troppo_lung troppo_grand слишком_длинн слишком_больш "
        "слишком_велик занадто_довг 長すぎ 大きすぎ 너무_길 너무_깁 너무_긴 너무_큽 过长 過長 太长 太長 过大 過大 terlalu_panjang quá_dài te_lang "
        "zbyt_dług za_dług çok_uzun 超长 超長 过多字 缩短 縮短"
    ),
    "key": _stems(
        "klíč klíče cheie cheia kulcs token apikey api_key api-schlüssel schlüssel clé clave chave chiave ключ キー 키가 키는 api키 密钥 密鑰 金鑰 金钥 令牌 klucz anahtar sleutel khóa kunci "
        "api-nyckel zugangsdaten anmeldedaten identifiants credenciales credenciais credenziali учётные 認証情報 자격_증명 凭据 凭证 憑證"
    ),
    "invalid": _stems(
        "не_указан не_задан не_вказан nicht_angegeben non_renseigné neplatn invalidă érvénytelen nicht_konfiguriert non_configuré no_configurad não_configurad non_configurat nie_skonfigur не_настро не_налашт yapılandırılma niet_geconfigureerd 未配置 未设置 未設定 設定されていない 設定されていません 설정되지 ungültig abgelaufen falsch fehlt non_valide invalide expiré incorrect manquant no_válid no_es_válid inválid caducad "
        "expirad incorrec non_valid scadut errat неверн недейств недійсн истек просроч отсутств 無効 正しくありません 期限切れ 유효하지 올바르지 "
        "잘못 만료 无效 無效 不正确 不正確 过期 過期 失效 nieprawidł wygas geçersiz süresi_doldu ongeldig verlopen không_hợp_lệ tidak_valid ogiltig "
        "expirou expiró истёк истекл vencid aufgehoben scadut 到期"
    ),
    "money": _stems(
        "guthaben kontostand solde crédit saldo crédito credito средств баланс коштів 残高 クレジット 잔액 잔고 크레딧 余额 餘額 资源包 余量 środk bakiye số_dư "
        "tegoed zůstatek"
    ),
    "lacking": _stems(
        "n'a_plus plus_de_crédit kein_guthaben brak_środków brak_kredyt fără_credit nincs_ nicht_aus unzureichend reicht_nicht aufgebraucht insuffisant épuisé insuficient agotad insufficient esaurit esgotad "
        "недостат недостаточ закончил 不足 用尽 用完 耗尽 부족 niewystarcz yetersiz onvoldoende không_đủ tidak_mencukupi tidak_cukup nedostat "
        "ありません がない 없습니다 없어"
    ),
    "denied": _stems(
        "nicht_erlaubt nicht_gestattet non_permis no_permitid não_permitid non_consentit не_разреш не_дозвол no_tienes_permiso no_tiene_permiso sem_permissão 实名认证 绑定手机 ログインしてください ログインが必要 로그인해 로그인이_필요 请登录 请先登录 需要登录 немає_доступу zugriff_verweigert zugriff_wurde_verweigert keine_berechtigung nicht_autorisiert accès_refusé non_autorisé "
        "acceso_denegado no_autorizad acesso_negado não_autorizad accesso_negato non_autorizzat доступ_запрещ доступ_закрыт "
        "нет_доступа доступ_заборон アクセスが拒否 権限がありません 認証に失敗 접근이_거부 액세스가_거부 권한이_없 인증에_실패 访问被拒 拒绝访问 没有权限 "
        "权限不足 无权 认证失败 存取被拒 拒絕存取 沒有權限 權限不足 驗證失敗 odmowa_dostępu brak_dostępu erişim_engel yetkisiz toegang_geweigerd "
        "từ_chối_truy_cập akses_ditolak åtkomst_nekad"
    ),
    "content policy": _stems(
        "inhaltsrichtlini nutzungsrichtlini sicherheitsrichtlini politique_de_contenu règles_de_contenu política_de_contenid "
        "política_de_uso política_de_conteúdo políticas_de_contenido politica_sui_contenut политик_контент политикой_контент "
        "политику_контент правила_использован コンテンツポリシー 利用規約に違反 安全上の理由 콘텐츠_정책 안전_정책 내용_정책 内容政策 內容政策 内容策略 "
        "内容审核 内容审查 안전_필터 콘텐츠_필터 안전상의 セーフティフィルタ 安全フィルタ コンテンツフィルタ 安全过滤 内容过滤 sicherheitsfilter inhaltsfilter filtre_de_sécurité filtre_de_contenu filtro_de_segur filtro_de_conte filtro_di_sicurezza фильтр_безопас 不安全内容 不安全的内容 被拦截 已拦截 系统拦截 安全策略 安全政策 敏感词 敏感信息 içerik_politika polityk_treści chính_sách_nội_dung kebijakan_konten"
    ),
    "model": _stems("modell modèle modelo modello модел モデル 모델 模型 model"),
    "not found": _stems(
        "不受支持 不支持 サポートされていません サポートされていない 지원되지 nicht_unterstützt pris_en_charge no_es_compatible no_soportad no_compatible não_suportad não_é_suportad non_supportat non_è_supportat не_поддержив nie_obsług desteklenm nicht_gefunden existiert_nicht wurde_nicht_gefunden introuvable n'existe_pas no_encontrad no_se_encontr no_existe "
        "não_encontrad não_existe non_trovat non_esiste не_найден не_существ не_знайден 見つかりません 存在しません 찾을_수_없 존재하지_않 找不到 "
        "不存在 未找到 nie_znalez nie_istnieje bulunamad niet_gevonden bestaat_niet không_tìm_thấy tidak_ditemukan"
    ),
    "service": _stems(
        "dienst server service serveur servicio servidor serviço servizio сервис сервер сервіс служб サービス サーバー 서비스 서버 服务 服務 "
        "伺服器 系统 系統 usług serwer hizmet sunucu dịch_vụ máy_chủ layanan tjänst služb api"
    ),
    "unavailable": _stems(
        "nicht_verfügbar nicht_erreichbar indisponible injoignable no_disponible no_está_disponible indisponíve "
        "non_disponibile non_è_disponibile temporaneamente_non недоступ 没有可用 无可用 暂无可用 利用できません 利用不可 ご利用いただけません 사용할_수_없 이용할_수_없 不可用 "
        "无法使用 無法使用 无法访问 暂停服务 niedostępn kullanılamıyor hizmet_dışı niet_beschikbaar không_khả_dụng tidak_tersedia otillgänglig "
        "nedostupn"
    ),
    "timeout": _stems(
        "dépassé_le_délai délai_imparti délai_maximal tiempo_límite tiempo_máximo tempo_máximo tempo_massimo лимит_времени zeitüberschreitung zeitlimit délai_d'attente délai_dépass délai_d'exécution a_expiré_avant tiempo_de_espera "
        "tiempo_agotado tempo_limite tempo_esgotado tempo_scaduto время_ожидания час_очікування таймаут タイムアウト 시간_초과 시간이_초과 "
        "타임아웃 超时 逾時 超時 limit_czasu zaman_aşım time-out hết_thời_gian waktu_permintaan waktu_tunggu tidsgräns vypršel_čas"
    ),
    "connection": _stems(
        "połącze připojen verbindingsfout anslutning conexiun kapcsolat verbindung connexion conexión conexión conexão ligação connessione соединен подключен з'єднан 接続 연결 连接 連線 連接 流式 数据流 ストリーム 스트림 通信 "
        "połączeni bağlantı verbinding kết_nối koneksi anslutning připojení netzwerk réseau red_ rede_ сет ネットワーク 네트워크 网络 網路 "
        "подключени связь"
    ),
    "broken": _stems(
        "помилк błąd_ błąd_połącz błąd_siec chyba_ verbindingsfout hatası anslutningsfel eroare hiba unterbrochen abgebrochen verloren fehlgeschlagen getrennt zurückgesetzt fehler verweigert interromp interrompu "
        "perdu échou coupé erreur interrumpid perdid falló fallid fallo_ rechazad error_de interrompid perdida falh recusad erro_de interrott "
        "persa fallit errore разорван потерян прерван сброш ошибк отказано розірван втрачен 切断 失敗 エラー リセット 拒否 끊 실패 오류 断开 "
        "中断 失败 重置 错误 异常 斷開 中斷 失敗 錯誤 異常 przerwan utracon odrzucon kesildi koptu başarısız verbroken mislukt mất terputus "
        "gagal lỗi "
        "beendet getrennt fermée fermé forzad forçad разорв прерв perdió perdeu perduta perte interrup verweigerte できません 关闭 關閉 拒绝 拒絕 无法 無法 强制 강제"
    ),
    "overloaded": _stems(
        "aşırı_yoğun suprasolicit túlterhel überlastet ausgelastet überlastung surchargé sobrecargad sobrecarga sobrecarregad sovraccaric перегруж "
        "переванта 過負荷 混雑 混み合 アクセスが集中 과부하 혼잡 过载 過載 繁忙 拥挤 拥堵 忙碌 przeciąż yoğunluk aşırı_yük overbelast quá_tải "
        "开小差 kelebihan_beban sedang_sibuk överbelast přetížen "
        "人数较多 人数过多 人數過多 饱和 飽和 请求量过大 负载过高 負載過高"
    ),
    "internal": _stems(
        "interner_fehler interner_serverfehler erreur_interne error_interno erro_interno errore_interno внутренняя_ошибка "
        "внутренней_ошибк внутрішня_помилка 内部エラー 내부_오류 内部错误 內部錯誤 wewnętrzny_błąd błąd_wewnętrzny iç_hata dahili_hata "
        "interne_fout lỗi_nội_bộ kesalahan_internal internt_fel"
    ),
    "user": _stems(
        "benutzer nutzer utilisateur usuario usuário utilizador utente пользовател користувач ユーザー 사용자 用户 用戶 使用者 użytkownik "
        "kullanıcı gebruiker người_dùng pengguna användar uživatel"
    ),
    "stopped": _stems(
        "abgebrochen gestoppt beendet annulé interrompu arrêté cancelad detenid interrumpid interrompid annullat interrott "
        "отмен прерван остановл скасован キャンセル 中止 中断 취소 중단 取消 中断 终止 中止 中斷 終止 anulowan przerwan iptal geannuleerd "
        "afgebroken hủy dibatalkan avbrut zruš"
    ),
    "output": _stems(
        "antwort ausgabe réponse sortie respuesta salida resposta saída risposta output ответ вывод відповід 応答 出力 回答 응답 출력 답변 "
        "回复 回覆 输出 輸出 回答 odpowied yanıt çıktı antwoord phản_hồi respons"
    ),
    "cut": _stems(
        "se_cortó cortó 途切れ abgeschnitten gekürzt tronqu truncad truncó cortad interrumpida_por troncat tagliat обрезан усечен усечён обрізан 途中で切れ 切り捨て "
        "切り詰め 打ち切 잘렸 잘림 잘려 截断 截斷 ucięt skrócon kesildi afgekapt cắt_bớt terpotong"
    ),
    "subscription": _stems(
        "abonnement abo mitgliedschaft suscripción assinatura abbonamento подписк підписк 订阅 訂閱 会员 會員 套餐 サブスクリプション 구독 "
        "subskrypcj abonelik lidmaatschap"
    ),
    "no answer": _stems(
        "nie_odpowied не_відпові nicht_rechtzeitig nicht_geantwortet keine_antwort antwortet_nicht nicht_geantwortet aucune_réponse n'a_pas_répondu ne_répond_pas sin_respuesta no_respond "
        "sem_resposta não_respond nessuna_risposta non_ha_risposto non_risponde нет_ответа не_ответил не_отвечает немає_відповіді "
        "応答がありません 応答しません 응답이_없 응답하지 没有响应 未响应 无响应 沒有回應 沒有回应 brak_odpowiedzi nie_odpowiada yanıt_ver yanıt_yok geen_antwoord "
        "không_phản_hồi tidak_merespon"
    ),
    "to be paid": _stems(
        "결제_수단 支払い方法 会员开放 開通會員 开通会员 升级会员 需要充值 充值后 开通付费 需付费 请续费 續費 チャージして お支払い方法 충전 bitte_aufladen veuillez_recharger recarg recarreg ricaric пополните "
        "doładuj"
    ),
    "length": _stems(
        "长度 長度 länge longueur longitud comprimento lunghezza длин довжин 長さ 길이 długość uzunlu lengte độ_dài panjang"
    ),
    "token count": _stems(
        "トークン数 トークン上限 토큰_한도 토큰_수 토큰이 tokens_数 token_数 tokens数 token数 token_总数 token总数 токенов токены"
    ),
    "messages": _stems(
        "nachrichten nachrichtenlimit messages mensajes mensagens messaggi сообщений повідомлень wiadomości mesaj berichten tin_nhắn "
        "pesan 消息 訊息 メッセージ 메시지"
    ),
}
"""Stems by what they mean. A stem begins a word, unless a ``*`` stands before it; scripts without blanks have none."""


class Statement(NamedTuple):
    """What these stems tell together."""

    name: str
    kind: CauseKind
    concepts: tuple[str, ...]


STATEMENTS: Final[tuple[Statement, ...]] = (
    Statement("a stop by the user", CauseKind.CANCELLED, ("user", "stopped")),
    Statement("a stop", CauseKind.CANCELLED, ("generation", "stopped")),
    Statement("an answer that was cut", CauseKind.LENGTH, ("output", "cut")),
    Statement("the cap of the output", CauseKind.LENGTH, ("output", "limit", "exceeded")),
    Statement("an input that is too long", CauseKind.CONTEXT_OVERFLOW, ("input", "too long")),
    Statement("the context", CauseKind.CONTEXT_OVERFLOW, ("context", "exceeded")),
    Statement("the length of the input", CauseKind.CONTEXT_OVERFLOW, ("input", "length", "exceeded")),
    Statement("the content policy", CauseKind.PERMANENT, ("content policy",)),
    Statement("what a filter blocked", CauseKind.PERMANENT, ("blocked", "safety")),
    Statement("a key", CauseKind.PERMANENT, ("key", "rejected")),
    Statement("a key", CauseKind.PERMANENT, ("key", "without")),
    Statement("a failed sign-in", CauseKind.PERMANENT, ("auth", "broken")),
    Statement("a plan without it", CauseKind.PERMANENT, ("model", "unavailable", "plan")),
    Statement("a key", CauseKind.PERMANENT, ("key", "invalid")),
    Statement("a subscription", CauseKind.PERMANENT, ("subscription", "invalid")),
    Statement("access", CauseKind.PERMANENT, ("denied",)),
    Statement("a permission", CauseKind.PERMANENT, ("permission", "without")),
    Statement("a login", CauseKind.PERMANENT, ("login", "invalid")),
    Statement("an account that is shut", CauseKind.PERMANENT, ("account", "shut")),
    Statement("a key that is shut", CauseKind.PERMANENT, ("key", "shut")),
    Statement("what is not enabled", CauseKind.PERMANENT, ("not enabled",)),
    Statement("a parameter", CauseKind.PERMANENT, ("parameter", "broken")),
    Statement("a parameter", CauseKind.PERMANENT, ("parameter", "invalid")),
    Statement("money", CauseKind.PERMANENT, ("money", "lacking")),
    Statement("money", CauseKind.PERMANENT, ("money", "without")),
    Statement("money", CauseKind.PERMANENT, ("to be paid",)),
    Statement("a window", CauseKind.USAGE_LIMIT, ("period", "limit", "spent")),
    Statement("a window", CauseKind.USAGE_LIMIT, ("period", "limit", "exceeded")),
    Statement("a window", CauseKind.USAGE_LIMIT, ("period", "spent")),
    Statement("a quota to be paid for", CauseKind.PERMANENT, ("limit", "exceeded", "billing")),
    Statement("a quota to be paid for", CauseKind.PERMANENT, ("limit", "spent", "billing")),
    Statement("a window", CauseKind.USAGE_LIMIT, ("messages", "limit", "exceeded")),
    Statement("a window", CauseKind.USAGE_LIMIT, ("messages", "limit", "spent")),
    Statement("a window", CauseKind.USAGE_LIMIT, ("messages", "spent")),
    Statement("free uses", CauseKind.USAGE_LIMIT, ("free", "spent")),
    Statement("a throttle", CauseKind.RATE_LIMIT, ("tokens", "too many", "minute")),
    Statement("too many tokens", CauseKind.CONTEXT_OVERFLOW, ("tokens", "too many")),
    Statement("too many requests", CauseKind.RATE_LIMIT, ("request", "too many")),
    Statement("requests that come too fast", CauseKind.RATE_LIMIT, ("request", "too fast")),
    Statement("a rate", CauseKind.RATE_LIMIT, ("rate", "too fast")),
    Statement("a rate", CauseKind.RATE_LIMIT, ("rate", "exceeded")),
    Statement("a throttle", CauseKind.RATE_LIMIT, ("minute", "exceeded")),
    Statement("a throttle", CauseKind.RATE_LIMIT, ("minute", "spent")),
    Statement("the number of tokens", CauseKind.CONTEXT_OVERFLOW, ("token count", "exceeded")),
    Statement("a timeout", CauseKind.TRANSIENT, ("timeout",)),
    Statement("a throttle", CauseKind.RATE_LIMIT, ("request", "limit", "exceeded")),
    Statement("what is limited", CauseKind.RATE_LIMIT, ("limited",)),
    Statement("a quota", CauseKind.USAGE_LIMIT, ("limit", "spent")),
    Statement("a limit", CauseKind.RATE_LIMIT, ("limit", "exceeded")),
    Statement("too much at once", CauseKind.RATE_LIMIT, ("too many",)),
    Statement("the model", CauseKind.PERMANENT, ("model", "not found")),
    Statement("too much load", CauseKind.TRANSIENT, ("overloaded",)),
    Statement("the service", CauseKind.TRANSIENT, ("service", "unavailable")),
    Statement("a fault of the service", CauseKind.TRANSIENT, ("internal",)),
    Statement("the network", CauseKind.TRANSIENT, ("network error",)),
    Statement("the connection", CauseKind.TRANSIENT, ("connection", "without")),
    Statement("the connection", CauseKind.TRANSIENT, ("cannot", "to connect")),
    Statement("the connection", CauseKind.TRANSIENT, ("connection", "broken")),
    Statement("what is behind the gateway", CauseKind.TRANSIENT, ("upstream", "unavailable")),
    Statement("an empty answer", CauseKind.TRANSIENT, ("empty answer",)),
    Statement("what is behind the gateway", CauseKind.TRANSIENT, ("upstream", "broken")),
    Statement("an answer that did not come", CauseKind.TRANSIENT, ("no answer",)),
    Statement("a stopped request", CauseKind.CANCELLED, ("request", "stopped")),
)
"""In the order of evidence."""
