/** A provider request's own settings, by the names that providers give them. */

const LIMITS = ["max_completion_tokens", "max_output_tokens", "max_tokens"];

/**
 * The output limit that the request asks for.
 * @param {any} payload
 * @returns {number | undefined}
 */
export function outputLimitOf(payload) {
  const key = LIMITS.find((name) => Number.isInteger(payload?.[name]));
  return key && payload[key];
}

/**
 * The payload with the settings asked for; what it does not carry by one of the known names stays as it is.
 * @param {any} payload
 * @param {{max_output_tokens: number | null, reasoning_effort: string | null}} adjust
 */
export function adjusted(payload, adjust) {
  if (payload === null || typeof payload !== "object") return undefined;
  const changed = { ...payload };
  const limit = LIMITS.find((name) => Number.isInteger(payload[name]));
  if (limit && adjust.max_output_tokens) changed[limit] = adjust.max_output_tokens;
  if (adjust.reasoning_effort && typeof payload.reasoning_effort === "string") {
    changed.reasoning_effort = adjust.reasoning_effort;
  }
  if (adjust.reasoning_effort && typeof payload.reasoning?.effort === "string") {
    changed.reasoning = { ...payload.reasoning, effort: adjust.reasoning_effort };
  }
  return changed;
}
