/**
 * What HTTP said of a request that failed. Pi keeps the error's text only; the status and the headers that tell
 * of limits are seen where Node's client reports them, and nothing is changed on the way.
 */

import { subscribe, unsubscribe } from "node:diagnostics_channel";

const CHANNEL = "undici:request:headers";
const TELLING = /^(retry-after|x-should-retry|date$|.*rate-?limit|x-codex-|x-usage-limit|x-.*retry-after|x-error-code)/i;

export class Responses {
  constructor() {
    this.origin = undefined;
    /** @type {{status: number, headers: Record<string, string>} | undefined} */
    this.last = undefined;
    this.listener = (event) => this.#take(event);
  }

  start() {
    subscribe(CHANNEL, this.listener);
  }

  stop() {
    unsubscribe(CHANNEL, this.listener);
  }

  /**
   * A request to the model's provider begins.
   * @param {any} model
   */
  expect(model) {
    this.last = undefined;
    this.origin = originOf(model?.baseUrl);
  }

  /** The refusal of the request that ended last, if HTTP refused it. */
  take() {
    const { last } = this;
    this.last = undefined;
    return last && last.status >= 400 ? last : undefined;
  }

  #take({ request, response }) {
    if (this.origin === undefined || originOf(String(request?.origin)) !== this.origin) return;
    this.last = { status: response.statusCode, headers: tellingHeaders(response.headers ?? []) };
  }
}

/** @param {(Buffer | string)[]} raw names and values in turn */
function tellingHeaders(raw) {
  const headers = {};
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = String(raw[index]).toLowerCase();
    if (TELLING.test(name)) headers[name] = String(raw[index + 1]);
  }
  return headers;
}

function originOf(url) {
  try {
    return new URL(url).origin;
  } catch {
    return undefined;
  }
}
