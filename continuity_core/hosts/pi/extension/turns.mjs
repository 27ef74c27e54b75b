/** Pi's messages as turns and entries of the protocol. Nothing here looks at more than the message given. */

const STOP_REASONS = {
  stop: "stop",
  length: "length",
  toolUse: "tool_use",
  error: "error",
  aborted: "aborted",
};

/** Characters of one entry that plugins see. */
const TEXT_LIMIT = 500_000;

/** What this extension and its predecessor leave in a session and no model is to see. */
const ARTEFACTS = new Set(["pi-continuity", "pi-continuity-checkpoint", "continuity", "continuity-checkpoint"]);

/**
 * @param {any} event a `turn_end` event
 * @param {{status: number, headers: Record<string, string>} | undefined} response what HTTP said, where it refused
 */
export function turnOf(event, response) {
  const { message, toolResults, messageEntryId, toolResultEntryIds } = event;
  const stopReason = STOP_REASONS[message.stopReason];
  return {
    stop_reason: stopReason ?? "stop",
    // Pending and deferred turns, and what a provider only paused, go on by themselves or not at all.
    unfinished: stopReason === undefined || message.rawStopReason === "pause_turn",
    blocks: blocksOf(message),
    results: toolResults.map((result, index) => ({
      call_id: result.toolCallId,
      entry: toolResultEntryIds[index] ?? null,
      is_error: result.isError === true,
    })),
    usage: usageOf(message.usage),
    failure: failureOf(message, response),
    entry: messageEntryId,
    provider_stop: message.rawStopReason ?? message.stopReason,
  };
}

function blocksOf(message) {
  const blocks = [];
  for (const block of message.content ?? []) {
    // Where a stream broke, a block may have hardly begun.
    if (block.type === "text") blocks.push({ type: "text", text: block.text ?? "" });
    else if (block.type === "thinking") {
      blocks.push({ type: "reasoning", text: block.thinking ?? "", redacted: block.redacted === true });
    } else if (block.type === "toolCall") {
      const { id = "", name = "" } = block;
      blocks.push({ type: "tool_call", id, name, arguments: JSON.stringify(block.arguments ?? {}) });
    }
  }
  return blocks;
}

/** Pi counts what a cache gave apart from the input; the protocol counts all of it as input. */
function usageOf(usage) {
  if (!usage) return null;
  const input = whole(usage.input) + whole(usage.cacheRead) + whole(usage.cacheWrite);
  return { input_tokens: input, output_tokens: whole(usage.output), cached_input_tokens: whole(usage.cacheRead) };
}

function whole(value) {
  return Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}

/** Words by which a provider ends an answer that is none the worse for it: they are no error's code. */
const HARMLESS = new Set(["stop", "end_turn", "stop_sequence", "tool_use", "tool_calls", "function_call", "completed"]);

/** What some of Pi's adapters put before the provider's own words: the provider's name, and the HTTP status. */
const PREFIX = /^[\w .-]{1,80} API error \((\d{3})\): (?=\S)/;

function failureOf(message, response) {
  if (message.stopReason !== "error") return null;
  const text = message.errorMessage ?? "";
  const prefix = PREFIX.exec(text);
  // Some name the provider's status before its reason: incomplete.content_filter.
  const word = message.rawStopReason?.split(".").at(-1);
  return {
    message: prefix ? text.slice(prefix[0].length) : text,
    code: word && !HARMLESS.has(word) ? word : null,
    status: response?.status ?? (prefix ? Number(prefix[1]) : null),
    headers: response?.headers ?? {},
  };
}

/** @param {any} message */
export function textOfMessage(message) {
  const { content } = message;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return typeof message.summary === "string" ? message.summary : "";
  let text = "";
  for (const block of content) if (block.type === "text") text += block.text ?? "";
  return text;
}

/**
 * @param {any} message
 * @param {string} ref
 */
export function entryOf(message, ref) {
  const text = textOfMessage(message).slice(0, TEXT_LIMIT);
  switch (message.role) {
    case "user":
      return { ref, role: "user", text };
    case "assistant": {
      const calls = [];
      for (const block of message.content) if (block.type === "toolCall") calls.push(block.id ?? "");
      return { ref, role: "assistant", text, calls, stop_reason: STOP_REASONS[message.stopReason] ?? null };
    }
    case "toolResult":
      return { ref, role: "tool", text, answers: [message.toolCallId] };
    case "custom":
      return { ref, role: "user", text, artefact: ARTEFACTS.has(message.customType) };
    default:
      return { ref, role: "other", text };
  }
}
