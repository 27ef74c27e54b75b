/**
 * continuity for the Pi coding agent: Pi's session boundaries, mapped onto a child process that runs the chain.
 *
 * Nothing is decided here. Where the child is missing, dies, hangs or answers rubbish, every handler answers as
 * if it were not there, and Pi behaves as without it.
 */

import { randomUUID } from "node:crypto";

import { Child, PROTOCOL_VERSION, SPEC_VERSION } from "./child.mjs";
import { Commands } from "./commands.mjs";
import { Display } from "./display.mjs";
import { draftsOf } from "./drafts.mjs";
import { Entries } from "./entries.mjs";
import { readFlags, registerFlags } from "./flags.mjs";
import { Responses } from "./http.mjs";
import { Inputs } from "./inputs.mjs";
import { modelOf, NativeRecovery } from "./native.mjs";
import { adjusted, outputLimitOf } from "./payload.mjs";
import { turnOf } from "./turns.mjs";

/** The code by which the child says that it lost the history. */
const RESYNC = -32004;
/** The events that are shown to the user. */
const EVENTS = ["wait_started", "wait_ended", "plugin_fault"];
/** Milliseconds in which the child takes a turn that was aborted: who aborts does not wait for one that hangs. */
const ABORTED_MS = 1_000;
/** Other extensions name their tools that end a run on purpose on Pi's event bus. */
const ENDING_TOOLS = "continuity:ending-tools";
/** Installed and named on the command line, too: the one that was loaded first serves the session. */
const WHO_SERVES = "continuity:who-serves";

/**
 * @param {object} options
 * @param {string[]} options.command the child's command line, the interpreter by its absolute path
 * @param {Promise<import("./native.mjs").Judgement>} [options.judgement] Pi's own reading of errors
 * @param {{startMs?: number, silenceMs?: number}} [options.limits] how long the child may be silent
 * @returns {(pi: any) => void} the extension's factory
 */
export function continuityExtension(options) {
  return (pi) => {
    new Extension(pi, options).register();
  };
}

class Extension {
  constructor(pi, options) {
    this.pi = pi;
    this.options = options;
    this.display = new Display();
    this.entries = new Entries();
    this.native = new NativeRecovery(pi, options.judgement);
    this.responses = new Responses();
    this.inputs = new Inputs();
    /** @type {Set<string>} */
    this.endingTools = new Set();
    this.mode = "on";
    this.running = false;
    this.turns = 0;
    /** Pi is done with this instance: its session was replaced, or Pi ends. */
    this.over = false;
    /** @type {{max_output_tokens: number | null, reasoning_effort: string | null} | undefined} */
    this.adjust = undefined;
    /** A request has been made since the last turn ended. */
    this.asked = false;
    /** The run is being ended because a plugin said so: what Pi makes of that is no abort of the user. */
    this.ending = false;
    /** Edits that the queue's input superseded: history keeps them out once the input was picked up. */
    this.superseded = [];
  }

  register() {
    const { pi } = this;
    if (this.anotherServes()) return;
    registerFlags(pi);
    new Commands(this).register();
    pi.events?.on?.(ENDING_TOOLS, (names) => [names].flat().forEach((name) => this.endingTools.add(String(name))));
    pi.on("session_start", (_event, ctx) => this.open(ctx));
    pi.on("session_shutdown", () => {
      this.over = true;
      this.close();
    });
    pi.on("before_agent_start", (event) => this.startRun(event.messageType === "custom"));
    pi.on("message_start", (event) => this.messageStarted(event.message));
    pi.on("input", (event, ctx) => this.inputs.arrived(event, ctx, (kind) => this.tell("run/input_arrived", { kind })));
    pi.on("before_provider_request", (event, ctx) => this.requestStarts(event, ctx));
    pi.on("context", (event, ctx) => this.project(event, ctx));
    pi.on("turn_end", (event, ctx) => this.turnEnded(event, ctx));
    pi.on("agent_before_settle", (event, ctx) => this.beforeSettle(event, ctx));
    pi.on("agent_settled", (event) => this.settled(event.aborted === true));
  }

  /** Pi refuses to start where two extensions have the same flags, and two of us would wait twice. */
  anotherServes() {
    let found = false;
    this.pi.events?.emit?.(WHO_SERVES, () => (found = true));
    if (!found) {
      this.pi.events?.on?.(WHO_SERVES, (answer) => {
        if (!this.over) answer();
      });
    }
    return found;
  }

  // ---------------------------------------------------------------- the session and its child

  open(ctx) {
    const session = ctx.sessionManager.getSessionId?.() ?? randomUUID();
    // Pi may tell twice that a session starts: its child is there already.
    if (this.usable && !this.over && session === this.session) {
      this.display.attach(ctx);
      return;
    }
    this.over = false;
    this.close();
    this.display.attach(ctx);
    this.session = session;
    this.entries.reset();
    this.inputs.clear();
    this.running = false;
    const { error, ...flags } = readFlags(this.pi);
    this.closed = error !== undefined;
    if (error) this.display.warn(`${error}. Recovery is off.`);
    this.child = new Child({
      command: this.options.command,
      limits: this.options.limits,
      cwd: ctx.cwd,
      onNotification: (method, params) => this.display.take(method, params, this.mode),
      onFailure: (reason) => this.display.fail(reason),
    });
    this.responses.start();
    const refused = ({ message }) => this.refused(message);
    const client = { name: "pi", version: null };
    void this.child.request(
      "initialize",
      { protocol: PROTOCOL_VERSION, spec_version: SPEC_VERSION, client, capabilities: {} },
      { onRefused: refused },
    );
    void this.child
      .request("session/open", { session: this.session, ...flags, events: EVENTS }, { onRefused: refused })
      .then((opened) => this.opened(opened));
  }

  opened(opened) {
    if (!opened) return;
    this.mode = opened.mode;
    if (opened.error) this.display.warn(`${opened.error.replace(/\.$/, "")}. Recovery is off, redaction stays on.`);
  }

  /** The child does not serve this session: from now on it is not asked. */
  refused(message) {
    const { child } = this;
    if (!child?.usable) return;
    child.stop();
    this.display.fail(message);
  }

  close() {
    this.responses.stop();
    this.child?.stop();
    this.child = undefined;
    this.display.clear();
  }

  /** Whether the child can be asked. */
  get usable() {
    return this.child?.usable === true;
  }

  tell(method, params = {}) {
    this.child?.notify(method, { session: this.session, ...params });
  }

  /** @returns {Promise<any>} `undefined` where there is no answer */
  async ask(method, params = {}, how = {}) {
    const onRefused = (error) => this.callRefused(method, error);
    return this.child?.request(method, { session: this.session, ...params }, { onRefused, ...how });
  }

  /** What was asked is not done; the next thing is asked all the same. */
  callRefused(method, { message }) {
    this.display.warn(`the child process refused ${method}: ${message}`);
  }

  // ---------------------------------------------------------------- runs

  /** A run is everything done for one real user request; what starts without one goes on with its budgets. */
  startRun(continues) {
    this.native.reset();
    this.tell("run/started", { continues });
    this.running = true;
    this.ending = false;
    this.turns = 0;
  }

  /** Queued input was picked up: steering belongs to the run, a follow-up starts one. */
  messageStarted(message) {
    if (message.role !== "user") return;
    const kind = this.inputs.pickedUp(message);
    if (kind === "follow_up" && this.turns > 0) this.startRun(false);
  }

  async settled(aborted) {
    this.inputs.clear();
    this.adjust = undefined;
    if (!this.running) return;
    this.running = false;
    const answer = await this.ask("run/settled", { outcome: aborted && !this.ending ? "aborted" : null });
    if (this.mode === "on" && !this.closed) this.display.settled(answer);
  }

  // ---------------------------------------------------------------- requests

  requestStarts(event, ctx) {
    this.asked = true;
    this.responses.expect(ctx.model);
    const payload = this.adjust && adjusted(event.payload, this.adjust);
    this.adjust = undefined;
    this.outputLimit = outputLimitOf(payload ?? event.payload);
    return payload;
  }

  async project(event, ctx) {
    if (!this.usable || this.mode === "observe") return undefined;
    if (!this.running) this.startRun(true);
    const { messages } = event;
    let lost = false;
    const onRefused = (error) => {
      if (error.code === RESYNC) lost = true;
      else this.callRefused("run/project", error);
    };
    const how = { signal: ctx.signal, onRefused };
    let projection = await this.askEach(this.entries.update(messages, ctx.sessionManager), how);
    if (lost) projection = await this.askEach(this.entries.everything(messages), { signal: ctx.signal });
    const shown = projection && this.entries.apply(messages, projection);
    return shown && { messages: shown };
  }

  /** Calls that follow one another; the answer to the last one. */
  async askEach(calls, how) {
    const answers = await Promise.all(calls.map((params) => this.ask("run/project", params, how)));
    return answers.at(-1);
  }

  // ---------------------------------------------------------------- boundaries

  async turnEnded(event, ctx) {
    this.turns += 1;
    const response = this.responses.take();
    const model = modelOf(event.message, ctx);
    const retryFollows = await this.native.retryFollows(event.message, model);
    if (!this.usable) return undefined;
    if (!this.running) this.startRun(true);
    const { signal } = ctx;
    const abort = () => {
      if (!this.ending) this.tell("run/abort");
    };
    const { asked } = this;
    this.asked = false;
    if (!asked && event.message.stopReason === "aborted") {
      abort(); // Pi writes a turn down for what was stopped before its request
      return boundaryResult(event, this.lateDrafts(event, ctx), false);
    }
    signal?.addEventListener("abort", abort, { once: true });
    this.inputs.waiting = true;
    const late = this.lateDrafts(event, ctx);
    try {
      const host = { ...this.facts(event, ctx, model), retry_follows: retryFollows };
      // An aborted turn is told, too: nothing is waited for then.
      if (signal?.aborted) abort();
      const how = { signal: signal?.aborted ? AbortSignal.timeout(ABORTED_MS) : signal };
      const result = await this.ask("run/turn_ended", { turn: turnOf(event, response), host }, how);
      if (signal?.aborted) return boundaryResult(event, late, false);
      // Pi goes on after a cut call, too: it has an error for its result.
      const goesOn = retryFollows !== false || event.toolResults.length > 0;
      return this.act(event, ctx, result, late, goesOn);
    } finally {
      this.inputs.waiting = false;
      signal?.removeEventListener("abort", abort);
    }
  }

  async beforeSettle(event, ctx) {
    if (!this.usable || !this.running || this.turns === 0 || this.ending) return undefined;
    const host = { ...this.facts(event, ctx, ctx.model), retry_follows: false };
    const result = await this.ask("run/before_settle", { host });
    return this.act(event, ctx, result, [], false);
  }

  facts(event, ctx, model) {
    const recoversLength = this.native.recoversLength;
    return {
      pending_input: this.inputs.pendingKind(event, ctx),
      continuation_requested: event.continue === true,
      aborted: ctx.signal?.aborted === true,
      // Pi compares a length stop with the model's own limit, whatever limit a request carried.
      output_limit: (recoversLength ? undefined : this.outputLimit) ?? positive(model?.maxTokens),
      recovers_length: recoversLength,
      ending_tools: [...this.endingTools],
    };
  }

  /** Do what the child decided, or nothing. */
  act(event, ctx, result, late, goesOn) {
    if (!result) return boundaryResult(event, late, false);
    if (result.superseded?.length) this.superseded.push(...result.superseded);
    if (result.end_run) {
      this.display.warn(`the run is ended: ${result.end_run}`);
      this.ending = goesOn;
      if (goesOn) ctx.abort();
    }
    if (!result.resume) return boundaryResult(event, late, false);
    const drafts = draftsOf(event, ctx, result.edits);
    if (drafts.missing) {
      // Pi would answer with the broken turn still there: one thing without the other is worse than neither.
      this.tell("run/unscheduled", { why: `entry ${drafts.missing} is not on the active branch` });
      return boundaryResult(event, late, false);
    }
    this.entries.leftOut(result.edits);
    this.adjust = result.adjust ?? undefined;
    this.display.resumes(result);
    return boundaryResult(event, [...late, ...drafts.entries], true);
  }

  /** What a queued input superseded is left out of history once the input was picked up. */
  lateDrafts(event, ctx) {
    if (!this.superseded.length || this.mode !== "on") return [];
    const edits = this.superseded;
    this.superseded = [];
    this.entries.leftOut(edits);
    return draftsOf(event, ctx, edits).entries;
  }
}

/** Others' drafts stay, ours follow; `undefined` where there is nothing to say. */
function boundaryResult(event, drafts, resume) {
  if (!drafts.length && !resume) return undefined;
  const result = {};
  if (drafts.length) result.entries = [...event.entries, ...drafts];
  if (resume) result.continue = true;
  return result;
}

function positive(value) {
  return Number.isInteger(value) && value > 0 ? value : null;
}
