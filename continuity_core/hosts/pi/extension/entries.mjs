/**
 * Names for messages, and the history as the child knows it.
 *
 * The `context` event shows messages without ids. A message is recognised by its role, time and call, and gets
 * the id of its session entry where there is one. Of the history only what is new is sent.
 */

import { entryOf } from "./turns.mjs";

/** Characters of entries in one call; the child takes lines of 8 MiB. */
const CALL_LIMIT = 1_000_000;

/**
 * A message of the last request.
 * @typedef {object} Known
 * @property {string} ref its name
 * @property {string} key
 * @property {boolean} named whether the name is the id of a session entry
 * @property {string} role
 * @property {number} timestamp
 * @property {string} mark
 * @property {number} size
 */

/** What tells two messages of one role and time apart. */
function markOf(message) {
  return message.toolCallId ?? message.customType ?? message.responseId ?? "";
}

/** @param {any} message */
function keyOf(message) {
  return `${message.role}:${message.timestamp}:${markOf(message)}`;
}

export class Entries {
  constructor() {
    this.reset();
  }

  /** Another branch, or another history: nothing that was sent holds. */
  reset() {
    /** @type {Map<string, string>} message key → entry id */
    this.ids = new Map();
    /** @type {Set<string>} */
    this.indexed = new Set();
    /** @type {Known[]} the messages of the last request, which the child has */
    this.known = [];
    /** @type {Set<string>} their names */
    this.refs = new Set();
    /** @type {Set<string>} entries that our drafts leave out */
    this.out = new Set();
  }

  /** Drafts of ours leave these out: should one be shown again, somebody else put it back. */
  leftOut(edits) {
    for (const { entry, content } of edits) if (content === null) this.out.add(entry);
  }

  /** Learn the ids of entries that came since the last time: from the leaf up to the first known one. */
  #index(sessionManager) {
    let entry = sessionManager.getLeafEntry?.();
    while (entry && !this.indexed.has(entry.id)) {
      this.indexed.add(entry.id);
      const key = keyOfEntry(entry);
      if (key !== undefined) this.ids.set(key, entry.id);
      entry = entry.parentId ? sessionManager.getEntry(entry.parentId) : undefined;
    }
  }

  /**
   * The parameters of `run/project` for these messages, in several calls where one would be too long a line.
   * @param {any[]} messages
   * @param {any} sessionManager
   */
  update(messages, sessionManager) {
    this.#index(sessionManager);
    let keep = 0;
    while (keep < messages.length && keep < this.known.length && this.#holds(this.known[keep], messages[keep])) keep += 1;
    for (const { ref } of this.known.splice(keep)) this.refs.delete(ref);
    for (let index = keep; index < messages.length; index += 1) this.#learn(messages[index], index);
    const restored = [];
    for (const ref of this.out) if (this.refs.has(ref) && this.out.delete(ref)) restored.push(ref);
    return this.#calls(messages, keep, restored);
  }

  /** Whether this is still the message known, by the same name; Pi copies all of them for every request. */
  #holds(known, message) {
    return (
      known.role === message.role &&
      known.timestamp === message.timestamp &&
      known.mark === markOf(message) &&
      known.size === sizeOf(message) &&
      (known.named || !this.ids.has(known.key))
    );
  }

  #learn(message, index) {
    const key = keyOf(message);
    const named = this.ids.has(key);
    let ref = this.ids.get(key) ?? key;
    if (this.refs.has(ref)) ref = `${ref}#${index}`;
    this.refs.add(ref);
    const { role, timestamp } = message;
    this.known.push({ ref, key, named, role, timestamp, mark: markOf(message), size: sizeOf(message) });
  }

  /** All of them, for a child that lost them. */
  everything(messages) {
    return this.#calls(messages, 0, []);
  }

  /** @returns {object[]} all but the last one marked as partial */
  #calls(messages, keep, restored) {
    const calls = [{ keep, entries: [], restored }];
    let size = 0;
    for (let index = keep; index < messages.length; index += 1) {
      const entry = entryOf(messages[index], this.known[index].ref);
      size += entry.text.length;
      if (size > CALL_LIMIT && calls.at(-1).entries.length) {
        calls.at(-1).partial = true;
        calls.push({ keep: index, entries: [], restored: [] });
        size = entry.text.length;
      }
      calls.at(-1).entries.push(entry);
    }
    return calls;
  }

  /**
   * The messages that are to be sent; `undefined` where that is all of them as they are.
   * @param {any[]} messages
   * @param {{omit: string[], replace: {entry: string, content: string}[], inject: {after: string | null, text: string}[]}} projection
   */
  apply(messages, projection) {
    const { omit, replace, inject } = projection;
    if (!omit.length && !replace.length && !inject.length) return undefined;
    const gone = new Set(omit);
    const shown = new Map(replace.map(({ entry, content }) => [entry, content]));
    const result = [];
    const add = (after) => {
      for (const { text } of inject.filter((injection) => injection.after === after)) {
        result.push({ role: "user", content: [{ type: "text", text }], timestamp: Date.now() });
      }
    };
    add(null);
    messages.forEach((message, index) => {
      const { ref } = this.known[index];
      if (gone.has(ref)) return;
      result.push(shown.has(ref) ? showing(message, shown.get(ref)) : message);
      add(ref);
    });
    return result;
  }
}

/** How much a message shows, without putting its texts together: another extension may have narrowed it. */
function sizeOf({ content }) {
  if (!Array.isArray(content)) return content?.length ?? 0;
  let size = content.length;
  for (const block of content) if (block.type === "text") size += block.text?.length ?? 0;
  return size;
}

function keyOfEntry(entry) {
  if (entry.type === "message") return keyOf(entry.message);
  if (entry.type === "custom_message") {
    return keyOf({ role: "custom", timestamp: new Date(entry.timestamp).getTime(), customType: entry.customType });
  }
  return undefined;
}

/** The message with this text as its only content. */
export function showing(message, text) {
  return { ...message, content: [{ type: "text", text }] };
}
