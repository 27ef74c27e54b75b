/**
 * What Pi does by itself after a turn: which of its retries comes next, and whether it recovers lengths.
 *
 * Pi's own judgement is used where it lets extensions have it; the counting is Pi's, read from its source.
 */

/** Pi's defaults, see its settings reference. */
const DEFAULT_RETRIES = 3;

/** @typedef {{isRetryableAssistantError?: Function, isContextOverflow?: Function}} Judgement */

export class NativeRecovery {
  /**
   * @param {any} pi Pi's extension API
   * @param {Promise<Judgement> | undefined} judgement Pi's own reading of errors
   */
  constructor(pi, judgement) {
    this.pi = pi;
    this.judgement = judgement;
    this.attempts = 0;
  }

  #settings() {
    try {
      return this.pi.getSettings?.() ?? {};
    } catch {
      return {};
    }
  }

  /** Whether Pi recovers a length stop below the cap by compaction. */
  get recoversLength() {
    return this.#settings().compaction?.enabled !== false;
  }

  /** A new request of the user: Pi counts its retries anew. */
  reset() {
    this.attempts = 0;
  }

  /**
   * Whether Pi's own retry follows this turn: `null` where that cannot be told. Call it once a turn.
   * @param {any} message
   * @param {any} model
   */
  async retryFollows(message, model) {
    if (message.stopReason !== "error") {
      this.attempts = 0;
      return false;
    }
    const retry = this.#settings().retry ?? {};
    const { isRetryableAssistantError, isContextOverflow } = (await this.judgement) ?? {};
    if (retry.enabled === false || retry.maxRetries === 0) return false;
    if (!isRetryableAssistantError || !isContextOverflow) return null;
    if (isContextOverflow(message, model?.contextWindow ?? 0) || !isRetryableAssistantError(message)) {
      this.attempts = 0;
      return false;
    }
    if (this.attempts >= (retry.maxRetries ?? DEFAULT_RETRIES)) {
      this.attempts = 0;
      return false;
    }
    this.attempts += 1;
    return true;
  }
}

/**
 * The model that made the message: a virtual model's selection names another one.
 * @param {any} message
 * @param {any} ctx
 */
export function modelOf(message, ctx) {
  const { model } = ctx;
  if (!model || (model.provider === message.provider && model.id === message.model)) return model;
  return ctx.modelRegistry?.find?.(message.provider, message.model) ?? model;
}
