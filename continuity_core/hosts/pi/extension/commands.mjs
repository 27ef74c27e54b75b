/** The command `/continuity [status|on|observe|off|plugins|explain]`. It runs at once, also while Pi works. */

const WORDS = ["status", "on", "observe", "off", "plugins", "explain"];

export class Commands {
  /** @param {any} extension */
  constructor(extension) {
    this.extension = extension;
  }

  register() {
    this.extension.pi.registerCommand("continuity", {
      description: `Recovery of interrupted runs: ${WORDS.join(", ")}`,
      getArgumentCompletions: (prefix) =>
        WORDS.filter((word) => word.startsWith(prefix)).map((word) => ({ value: word, label: word })),
      handler: (args, ctx) => this.run(args.trim() || "status", ctx),
    });
  }

  async run(word, ctx) {
    const { extension } = this;
    const answer = (text, level = "info") => {
      if (ctx.hasUI) ctx.ui.notify(text, level);
      else console.log(text);
    };
    if (!WORDS.includes(word)) {
      answer(`/continuity takes ${WORDS.join(", ")}`, "error");
    } else if (!extension.usable) {
      answer("continuity is not running in this session: /new or a restart of Pi starts it", "error");
    } else if (word === "on" || word === "off" || word === "observe") {
      await this.toggle(word, answer);
    } else {
      const status = await extension.ask("session/status");
      if (status) answer(SHOWN[word](status));
    }
  }

  async toggle(mode, answer) {
    const refused = ({ message }) => answer(`continuity: ${message}`, "error");
    const shown = await this.extension.ask("session/toggle", { mode }, { onRefused: refused });
    if (!shown) return;
    this.extension.mode = shown.mode;
    answer(`continuity is ${shown.mode}`);
  }
}

const SHOWN = {
  status(status) {
    const on = status.plugins.filter(({ state }) => state === "on").length - status.switched_off.length;
    const lines = [`continuity is ${status.mode}, ${on} plugins`];
    if (status.error) lines.push(status.error);
    for (const run of status.runs) {
      const left = run.resumes_left === null ? "no limit" : `${run.resumes_left} left`;
      lines.push(`this run: ${run.turns} turns, ${run.resumes} resumes (${left}), ${Math.round(run.held_seconds)} s held`);
      if (run.waiting) lines.push(`waiting ${Math.round(run.waiting.seconds)} s since ${run.waiting.since}: ${run.waiting.why}`);
    }
    return lines.join("\n");
  },

  plugins(status) {
    return status.plugins
      .map(({ name, stage, state }) => {
        const shown = status.switched_off.includes(name) ? "switched off" : state;
        return `${name} (${stage ?? "no stage"}): ${shown}`;
      })
      .join("\n");
  },

  explain(status) {
    if (!status.story) return "continuity: no run has ended a turn yet";
    const waits = status.report.waits.map(
      ({ seconds, why, ended_by }) => `waited ${Math.round(seconds)} s: ${why}${ended_by ? ` (ended by ${ended_by})` : ""}`,
    );
    return [status.story, ...waits].join("\n");
  },
};
