/**
 * The scripted tools of a play, as an extension of Pi. `PLAY_TOOLS` is replaced by their file, which is read
 * whenever a session starts.
 */

import { readFileSync } from "node:fs";

export default function (pi) {
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
