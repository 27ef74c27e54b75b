/**
 * The child process that runs the chain, and the JSON-RPC 2.0 spoken with it, one message a line.
 *
 * Every call is bounded: by a deadline while the child says nothing, and by the caller's signal. Whatever
 * goes wrong, calls are answered with `undefined`, and `onFailure` is called once.
 */

import { spawn } from "node:child_process";

export const PROTOCOL_VERSION = 1;
export const SPEC_VERSION = [0, 1];

/** Milliseconds for starting the interpreter and importing the chain. */
const START_MS = 30_000;
/** Milliseconds of silence after which a child with a pending request counts as hung; a held wait is no silence. */
const SILENCE_MS = 10_000;
/** Milliseconds that a child has to end once its input is closed. */
const GRACE_MS = 3_000;
/** Characters of one line, and of the error output that is kept for the message. */
const LINE_LIMIT = 8 * 1024 * 1024;
const ERROR_OUTPUT_LIMIT = 2_000;

/**
 * @typedef {object} ChildOptions
 * @property {string[]} command interpreter and arguments
 * @property {string} cwd
 * @property {(method: string, params: any) => void} onNotification
 * @property {(reason: string) => void} onFailure called once, where the child cannot be used any more
 * @property {{startMs?: number, silenceMs?: number}} [limits]
 */

export class Child {
  /** @param {ChildOptions} options */
  constructor(options) {
    this.options = options;
    this.startMs = options.limits?.startMs ?? START_MS;
    this.silenceMs = options.limits?.silenceMs ?? SILENCE_MS;
    /** @type {Map<number, {resolve: (value: any) => void, method: string}>} */
    this.pending = new Map();
    this.nextId = 1;
    this.rest = "";
    this.errorOutput = "";
    this.usable = true;
    this.started = false;
    this.lastSign = Date.now();
    /** @type {NodeJS.Timeout | undefined} */
    this.watchdog = undefined;
    this.#spawn();
  }

  #spawn() {
    const [program, ...args] = this.options.command;
    try {
      this.process = spawn(program, args, {
        cwd: this.options.cwd,
        stdio: ["pipe", "pipe", "pipe"],
        windowsHide: true,
      });
    } catch (error) {
      this.process = undefined;
      queueMicrotask(() => this.#fail(`it cannot be started: ${textOf(error)}`));
      return;
    }
    const { stdin, stdout, stderr } = this.process;
    this.process.on("error", (error) => this.#fail(`it cannot be started: ${textOf(error)}`));
    this.process.on("exit", (code, signal) => this.#fail(`it ended (${signal ?? `exit code ${code}`})`));
    stdin.on("error", () => {});
    stdout.setEncoding("utf8");
    stdout.on("data", (chunk) => this.#receive(chunk));
    stderr.setEncoding("utf8");
    stderr.on("data", (chunk) => {
      this.errorOutput = (this.errorOutput + chunk).slice(-ERROR_OUTPUT_LIMIT);
    });
    this.#hold(false);
  }

  /** Keep Node's loop alive only while an answer is awaited: a pending handler would otherwise end `pi -p`. */
  #hold(awaiting) {
    const change = awaiting ? "ref" : "unref";
    for (const handle of [this.process, this.process?.stdin, this.process?.stdout, this.process?.stderr]) {
      handle?.[change]?.();
    }
  }

  /**
   * Send a request and give its result; `undefined` where the child failed, the call was refused, or `signal`
   * was aborted.
   * @param {string} method
   * @param {object} params
   * @param {{signal?: AbortSignal, onRefused?: (error: {code: number, message: string}) => void}} [how]
   * @returns {Promise<any>}
   */
  request(method, params, how = {}) {
    if (!this.usable || how.signal?.aborted) return Promise.resolve(undefined);
    const id = this.nextId++;
    return new Promise((resolve) => {
      const finish = (message) => {
        how.signal?.removeEventListener("abort", onAbort);
        this.pending.delete(id);
        if (this.pending.size === 0) this.#rest();
        if (message?.error) how.onRefused?.(message.error);
        resolve(message?.result);
      };
      const onAbort = () => finish(undefined);
      how.signal?.addEventListener("abort", onAbort, { once: true });
      this.pending.set(id, { resolve: finish, method });
      if (this.pending.size === 1) this.#watch();
      this.#write({ jsonrpc: "2.0", id, method, params });
    });
  }

  /**
   * Tell the child something that needs no answer.
   * @param {string} method
   * @param {object} params
   */
  notify(method, params) {
    if (this.usable) this.#write({ jsonrpc: "2.0", method, params });
  }

  /** Close the pipe and let the child end; one that does not is killed. */
  stop() {
    if (!this.process) return;
    this.usable = false;
    this.#release();
    const child = this.process;
    child.stdin.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
    timer.unref();
    child.once("exit", () => clearTimeout(timer));
  }

  #write(message) {
    this.process?.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #receive(chunk) {
    this.lastSign = Date.now();
    this.started = true;
    const lines = (this.rest + chunk).split("\n");
    this.rest = lines.pop() ?? "";
    if (this.rest.length > LINE_LIMIT) this.#fail("it wrote a line without an end");
    for (const line of lines) {
      if (!this.usable) return;
      this.#take(line);
    }
  }

  #take(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      message = undefined;
    }
    if (message === null || typeof message !== "object" || message.jsonrpc !== "2.0") {
      this.#fail(`it answered what is no message: ${JSON.stringify(line.slice(0, 80))}`);
    } else if (typeof message.method === "string") {
      this.options.onNotification(message.method, message.params ?? {});
    } else if (this.pending.has(message.id)) {
      this.pending.get(message.id).resolve(message);
    } else if (message.id === null || message.id === undefined) {
      this.#fail(`it did not understand us: ${message.error?.message}`);
    }
  }

  // ---------------------------------------------------------------- watching it

  #watch() {
    this.lastSign = Date.now();
    this.#hold(true);
    this.#setWatchdog(this.started ? this.silenceMs : this.startMs);
  }

  #rest() {
    clearTimeout(this.watchdog);
    this.watchdog = undefined;
    this.#hold(false);
  }

  #setWatchdog(ms) {
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => this.#look(false), ms);
  }

  /** A computer that was suspended wakes this timer before the child had a chance to speak: look twice. */
  #look(again) {
    const limit = this.started ? this.silenceMs : this.startMs;
    const silent = Date.now() - this.lastSign;
    if (silent < limit) {
      this.#setWatchdog(limit - silent);
    } else if (!again) {
      this.watchdog = setTimeout(() => this.#look(true), Math.min(1_000, limit));
    } else {
      this.#fail(`it has not answered ${[...this.pending.values()][0]?.method} for ${Math.round(silent / 1000)} s`);
    }
  }

  #fail(reason) {
    if (!this.usable) return;
    this.usable = false;
    this.#release();
    this.process?.kill("SIGKILL");
    const told = this.errorOutput.trim().split("\n").at(-1);
    this.options.onFailure(told ? `${reason}; it said: ${told}` : reason);
  }

  #release() {
    clearTimeout(this.watchdog);
    for (const { resolve } of [...this.pending.values()]) resolve(undefined);
    this.#hold(false);
  }
}

/** @param {unknown} error */
export function textOf(error) {
  return error instanceof Error ? error.message : String(error);
}
