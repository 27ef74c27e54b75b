/**
 * One SDK session of Pi in memory, with Pi's own faux provider: the play is JSON on standard input, what was
 * seen is JSON on standard output.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const play = JSON.parse(readFileSync(0, "utf8"));
const load = (...path) => import(pathToFileURL(join(play.package, ...path)).href);
const { ModelRuntime, SettingsManager, SessionManager, DefaultResourceLoader, createAgentSession } = await load(
  "dist",
  "index.js",
);
const { fauxProvider, fauxAssistantMessage } = await load("..", "pi-ai", "dist", "index.js");

const faux = fauxProvider({ models: [{ id: "m", maxTokens: play.cap, contextWindow: 200_000 }] });
const requests = [];
faux.setResponses(
  play.responses.map(({ content, stop, error }) => (context) => {
    requests.push(context.messages.filter(({ role }) => role !== "system"));
    return fauxAssistantMessage(content, { stopReason: stop, errorMessage: error });
  }),
);

const modelRuntime = await ModelRuntime.create({ authPath: join(play.folder, "auth.json"), modelsPath: null });
modelRuntime.registerNativeProvider(faux.provider);
const settingsManager = SettingsManager.inMemory(play.settings);
const resourceLoader = new DefaultResourceLoader({
  cwd: play.folder,
  agentDir: play.folder,
  settingsManager,
  additionalExtensionPaths: play.extensions,
});
await resourceLoader.reload();
for (const [name, value] of Object.entries(play.flags)) {
  resourceLoader.getExtensions().runtime.flagValues.set(name, value);
}
const { session } = await createAgentSession({
  cwd: play.folder,
  agentDir: play.folder,
  model: faux.getModel(),
  modelRuntime,
  settingsManager,
  resourceLoader,
  sessionManager: SessionManager.inMemory(play.folder),
});
const errors = [];
await session.bindExtensions({ onError: ({ error }) => errors.push(error) });
for (const prompt of play.prompts) await session.prompt(prompt);
const last = session.sessionManager.getBranch().findLast(({ type, message }) => type === "message" && message.role === "assistant");
const entries = session.sessionManager.getBranch();
await session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
session.dispose();
process.stdout.write(JSON.stringify({ requests, entries, errors, last: last?.message }));
