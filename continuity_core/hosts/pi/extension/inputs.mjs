/** User input that arrives while Pi works: what is queued, of which kind, and when it ends a wait. */

import { textOfMessage } from "./turns.mjs";

/** Milliseconds between two looks whether Pi has queued what was typed, and how long it is looked for. */
const LOOK_MS = 5;
const LOOKS = 400;

export class Inputs {
  constructor() {
    /** A boundary is being decided, so that a wait may be held. */
    this.waiting = false;
    this.clear();
  }

  clear() {
    /** @type {{kind: "steer" | "follow_up", text: string}[]} */
    this.queued = [];
  }

  /**
   * Input was given. Another extension may still handle it by itself: a wait ends only when Pi has queued it.
   * @param {any} event an `input` event
   * @param {any} ctx
   * @param {(kind: string) => void} tell
   */
  arrived(event, ctx, tell) {
    if (!event.streamingBehavior) return;
    const kind = event.streamingBehavior === "followUp" ? "follow_up" : "steer";
    this.queued.push({ kind, text: event.text });
    if (this.waiting) this.#look(ctx, () => tell(kind), LOOKS);
  }

  #look(ctx, tell, left) {
    const timer = setTimeout(() => {
      try {
        if (!this.waiting) return;
        if (ctx.hasPendingMessages()) tell();
        else if (left > 1) this.#look(ctx, tell, left - 1);
      } catch {
        // The session was replaced meanwhile: its context answers no more.
      }
    }, LOOK_MS);
    timer.unref();
  }

  /**
   * The kind of what Pi has queued; `null` where it has nothing.
   * @param {any} event a boundary event
   * @param {any} ctx
   */
  pendingKind(event, ctx) {
    const pending = ctx.hasPendingMessages() || event.context.pendingMessages.some(({ role }) => role === "user");
    if (!pending) return null;
    return this.queued.length && this.queued.every(({ kind }) => kind === "follow_up") ? "follow_up" : "steer";
  }

  /**
   * Pi picked a message up: its kind, or `undefined` where it was not queued. Pi takes steering first.
   * @param {any} message
   */
  pickedUp(message) {
    if (!this.queued.length) return undefined;
    const text = textOfMessage(message);
    let index = this.queued.findIndex((input) => input.text === text);
    if (index < 0) index = this.queued.findIndex(({ kind }) => kind === "steer");
    return this.queued.splice(Math.max(index, 0), 1)[0].kind;
  }
}
