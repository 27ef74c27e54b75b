import { textOf } from "./child.mjs";

/** The flags, and what they ask the child for. Their values are judged there, with everybody else's settings. */

const FLAGS = {
  continuity: "on, observe (says what it would do, does nothing), or off",
  "continuity-max-resumes": "Resumes per user request: a number, or unlimited",
  "continuity-stream-retries": "Resumes after failed or empty turns: a number; 0: off",
  "continuity-stream-delay-ms": "Milliseconds before each of them",
  "continuity-unknown-retries": "How many of them may follow an error that nobody can diagnose",
  "continuity-tool-tail": "on, or off: a run that ends on a tool call is left there",
  "continuity-config": "A configuration file; it outranks the project's and your own",
};

/** @param {any} pi */
export function registerFlags(pi) {
  for (const [name, description] of Object.entries(FLAGS)) pi.registerFlag(name, { type: "string", description });
}

/**
 * The parameters of `session/open` that the flags make. A flag that cannot be read closes recovery: nothing is
 * resumed, redaction stays on, and `error` is for the user.
 * @param {any} pi
 * @returns {{settings: object, config: string | null, disable: string[], error?: string}}
 */
export function readFlags(pi) {
  try {
    return parametersOf(pi);
  } catch (error) {
    return { settings: { max_resumes: 0 }, config: null, disable: [], error: textOf(error) };
  }
}

function parametersOf(pi) {
  const given = (name) => {
    const value = pi.getFlag(name);
    if (value === undefined || value === "") return undefined;
    if (typeof value !== "string") throw new Error(`--${name} needs a value: ${FLAGS[name]}`);
    return value.trim();
  };
  const settings = {};
  const stream = {};
  const set = (target, key, value) => {
    if (value !== undefined) target[key] = value;
  };
  set(settings, "mode", given("continuity"));
  set(settings, "max_resumes", number(given("continuity-max-resumes")));
  set(stream, "retries", number(given("continuity-stream-retries")));
  set(stream, "unknown_retries", number(given("continuity-unknown-retries")));
  set(stream, "wait", delay(given("continuity-stream-delay-ms")));
  if (Object.keys(stream).length) settings.plugins = { "stream-recovery": stream };
  const tail = given("continuity-tool-tail");
  if (tail !== undefined && tail !== "on" && tail !== "off") {
    throw new Error(`--continuity-tool-tail takes on or off, not ${JSON.stringify(tail)}`);
  }
  return { settings, config: given("continuity-config") ?? null, disable: tail === "off" ? ["tool-tail"] : [] };
}

function number(text) {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

function delay(text) {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) {
    throw new Error(`--continuity-stream-delay-ms takes a number of milliseconds, not ${JSON.stringify(text)}`);
  }
  return `fixed(${Number(text) / 1000})`;
}
