/**
 * What a play needs inside Pi, as an extension: its scripted tools, and native retries without their delay.
 * `PLAY_TOOLS` is replaced by the file of the tools, which is read whenever a session starts, and
 * `PLAY_RETRIES` by how often the provider's client retries a request.
 */

import { readFileSync } from "node:fs";

/** Seconds; the clients do not retry what asks for more. */
const LONGEST = 60;

/** The clients wait as long as the provider asks; where one will retry, it is asked to do so at once. */
function retryAtOnce(retries) {
  const fetchReally = globalThis.fetch;
  globalThis.fetch = async (...request) => {
    const response = await fetchReally(...request);
    const done = Number(new Headers(request[1]?.headers).get("x-stainless-retry-count"));
    const headers = new Headers(response.headers);
    if (response.ok || done >= retries || Number(headers.get("retry-after")) > LONGEST) return response;
    headers.delete("retry-after");
    headers.set("retry-after-ms", "1");
    const { status, statusText } = response;
    return new Response(response.body, { status, statusText, headers });
  };
}

export default function (pi) {
  if (PLAY_RETRIES > 0) retryAtOnce(PLAY_RETRIES);
  const tools = JSON.parse(readFileSync(PLAY_TOOLS, "utf8"));
  for (const { name, result, ends_run } of tools) {
    pi.registerTool({
      name,
      label: name,
      description: `Does the step ${name}.`,
      parameters: { type: "object", properties: {}, additionalProperties: true },
      async execute() {
        return {
          content: [{ type: "text", text: result }],
          details: { played: name },
          ...(ends_run ? { terminate: true } : {}),
        };
      },
    });
  }
  pi.on("session_start", () => {
    const ending = tools.filter(({ ends_run }) => ends_run === "on_purpose").map(({ name }) => name);
    pi.events.emit("continuity:ending-tools", ending);
  });
}
