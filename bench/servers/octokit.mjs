// The common way to receive GitHub's webhooks on Node: verifies and parses, but stores nothing. It supports only
// GitHub's header names, so the headers are renamed first.

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../peers/package.json", import.meta.url));
const module = pathToFileURL(require.resolve("@octokit/webhooks"));
const { createNodeMiddleware, Webhooks } = await import(module.href);

const { PORT, SECRET } = process.env;
const webhooks = new Webhooks({ secret: SECRET });
webhooks.on("workflow_run.completed", () => {});
const middleware = createNodeMiddleware(webhooks, { path: "/webhooks/code_host" });

const server = createServer((request, response) => {
  const { headers } = request;
  headers["x-github-event"] = headers["x-codehost-event"];
  headers["x-github-delivery"] = headers["x-codehost-delivery"];
  headers["x-hub-signature-256"] = headers["x-codehost-signature-256"];
  void middleware(request, response);
});
server.listen(Number(PORT), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
