/** What the user sees: notifications, and one status line while a wait is held. */

const STATUS = "continuity";

export class Display {
  /** @param {any} ctx Pi's context of this session */
  attach(ctx) {
    this.ctx = ctx;
    this.failed = false;
  }

  /** One message of ours; without a user interface on standard error. */
  say(text, level = "info") {
    try {
      if (this.ctx?.hasUI) this.ctx.ui.notify(`continuity: ${text}`, level);
      else if (level !== "info") console.error(`continuity: ${text}`);
    } catch {
      // The session was replaced: nobody is there to read it.
    }
  }

  warn(text) {
    this.say(text, "warning");
  }

  /** The child cannot be used. Said once a session. */
  fail(reason) {
    this.status(undefined);
    if (this.failed) return;
    this.failed = true;
    this.say(`recovery is off in this session, Pi works as without it. The child process failed: ${reason}`, "error");
  }

  status(text) {
    try {
      if (this.ctx?.hasUI && (text !== undefined || this.shown)) this.ctx.ui.setStatus(STATUS, text);
      this.shown = text !== undefined;
    } catch {
      this.shown = false;
    }
  }

  clear() {
    this.status(undefined);
  }

  /** A notification of the child. In mode observe nothing is shown: Pi is to look as without us. */
  take(method, params, mode) {
    if (mode === "observe") return;
    if (method === "wait") {
      if (this.ctx?.mode === "tui" || !this.shown) {
        this.status(`continuity: waiting ${spoken(params.left)} (${params.why})`);
      }
    } else if (method === "event") {
      const { kind } = params.event ?? {};
      if (kind === "wait_started") this.warn(`${params.line}; Escape or /continuity off ends it`);
      else if (kind === "wait_ended") this.status(undefined);
      else if (kind === "plugin_fault") this.warn(params.line);
    }
  }

  resumes(result) {
    this.say(`one more turn (${result.reason})`);
  }

  /** Recovery ended without a whole answer: why, and when it would have been possible. */
  settled(answer) {
    const report = answer?.report;
    if (!report?.no_resume) return;
    if (report.outcome === "failed" || report.outcome === "incomplete") this.warn(answer.story);
  }
}

function spoken(seconds) {
  const left = Math.max(0, Math.round(seconds));
  const parts = [];
  for (const [unit, size] of [["h", 3600], ["min", 60], ["s", 1]]) {
    const count = Math.floor(left / size) % (unit === "h" ? Infinity : 60);
    if (count) parts.push(`${count} ${unit}`);
  }
  return parts.slice(0, 2).join(" ") || "0 s";
}
