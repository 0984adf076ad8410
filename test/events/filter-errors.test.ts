import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { commandLine } from "../support/cli.ts";
import { post } from "../support/flights.ts";
import { agentAs } from "../support/mcp.ts";
import { serveApp, type ServedApp } from "../support/served-app.ts";

// A filter that can match nothing must not look like an empty list, wherever it is given.

const { skyhook } = commandLine();
let served: ServedApp;
let env: Record<string, string>;
beforeAll(async () => {
  served = await serveApp();
  const token = await served.app.services.tokens.mint({ id: "op", roles: ["operator"] }, 3_600);
  env = { OPERATOR_TOKEN: token };
});
afterAll(() => served.stop());

type Given = readonly [name: string, value: string];
const from = "2026-01-01T00:00:00Z";

async function rest(path: string, init?: RequestInit, status = 400): Promise<string> {
  const response = await served.app.as("admin", path, init);
  // Not read before: a stream has no end.
  expect(response.status).toBe(status);
  return response.text();
}

/** A word that the schema of a body does not have is 422. */
const body = (path: string, [name, value]: Given) =>
  rest(path, post({ from, [name]: value }), name === "severity" ? 422 : 400);

/** Of a word, the command knows all values, so it does not ask the server. */
async function command([name, value]: Given, ...words: string[]): Promise<string> {
  const args = [...words, `--${name}`, value];
  const { code, out, err } = await skyhook([...args, "--server", served.url], { env });
  expect([code, out]).toEqual([name === "severity" ? 2 : 1, ""]);
  return err;
}

async function agent(tool: string, input: Readonly<Record<string, string>>): Promise<string> {
  const { isError, text } = await (await agentAs(served.app)).toolText(tool, input);
  expect(isError).toBe(true);
  return text;
}

const rooms: Readonly<Record<string, (given: Given) => Promise<string>>> = {
  "GET /v1/events": ([name, value]) => rest(`/v1/events?${name}=${value}`),
  "GET /v1/events/feed": ([name, value]) => rest(`/v1/events/feed?${name}=${value}`),
  "POST /v1/replays/preview": (given) => body("/v1/replays/preview", given),
  "POST /v1/replays": (given) => body("/v1/replays", given),
  search_events: ([name, value]) => agent("search_events", { [name]: value }),
  preview_replay: ([name, value]) => agent("preview_replay", { from, [name]: value }),
  "skyhook events": (given) => command(given, "events"),
  "skyhook tail": (given) => command(given, "tail"),
  "skyhook replay": (given) => command(given, "replay", "--dry-run", "--from", "2h"),
};

describe.each(Object.entries(rooms))("%s", (_, ask) => {
  test.each([
    ["type", "*.failed", /at its end only, as in deploy\.\*/],
    ["provider", "nonsense", /No provider has this id/],
    ["severity", "fatal", /info, success, warning, error/i],
  ] as const)("rejects %s=%s", async (name, value, reason) => {
    const text = await ask([name, value]);
    expect(text).toContain(name);
    expect(text).toMatch(reason);
  });
});

test("GET /v1/audit rejects action=*.failed", async () => {
  expect(await rest("/v1/audit?action=*.failed")).toContain("at its end only");
});
