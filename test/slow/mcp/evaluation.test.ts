import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { maxAnswerLength } from "../../../src/mcp/answer.ts";
import { until } from "../../support/app.ts";
import { agentOf } from "../../support/mcp.ts";
import { itemsOf } from "../../support/operator.ts";
import {
  removeFolder,
  type RunningServer,
  runSkyhook,
  startServer,
  temporaryFolder,
} from "../../support/program.ts";

// Whether the tools answer what operators ask. The answers are known from how the demo makes its data.

/** For one question: the calls, and the characters that their answers put into a model's context. */
const most = { calls: 2, characters: 12_000 };
/** About 6,000 tokens. */
const maxSchemasLength = 24_000;
const minuteMs = 60_000;

const startedAt = Date.now();
const ago = (ms: number) => new Date(startedAt - ms).toISOString();
/** A time of the past, without the minutes that the demo's start takes. */
const cutMs = 122 * minuteMs;

/** Where it is noon, so that the demo's story of a bad deploy is yesterday's. */
const offset = new Date(startedAt).getUTCHours() - 12;
const zone = `Etc/GMT${offset < 0 ? offset : `+${offset}`}`;

const at = (answer: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, key) => Object(value)[key], answer);
const listAt = (answer: unknown, path: string) => itemsOf(at(answer, path));
/** Matches a time in the minute of `ms`, or in the next: the demo needs time to make its past. */
const near = (ms: number): unknown => {
  const minutes = [ms, ms + minuteMs].map((each) => new Date(each).toISOString().slice(0, 16));
  return expect.stringMatching(new RegExp(minutes.join("|")));
};

type Given = Readonly<Record<string, unknown>>;
type Ask = (tool: string, given?: Given) => Promise<unknown>;

/** What became of the event of a search at a destination. */
async function deliveryOf(ask: Ask, search: Given, name: string) {
  const id = at(await ask("search_events", search), "items.0.id");
  const deliveries = listAt(await ask("get_event", { id }), "notifications.0.deliveries");
  return deliveries.find(({ destination }) => destination === name);
}

const story = '"charge cards before seats"';
const deploy = { type: "deploy.error", q: story };
const deploys = { type: "deploy.error", destination: "incidents" };
const filtered = (clause: string, provider: string) => ({
  status: "filtered",
  untrusted: { filtered: { clause, values: { "event.provider": provider } } },
});
const payments = 'event.provider == "payment_processor"';
const wholePast = { from: ago(3_000 * minuteMs), to: ago(cutMs) };

type Question = readonly [question: string, answer: (ask: Ask) => Promise<unknown>, known: unknown];

const questions: readonly Question[] = [
  [
    "What should I do first?",
    async (ask) => at(await ask("overview"), "issues.0"),
    {
      kind: "dead-letters",
      destination: "incidents",
      advice: expect.stringContaining("The destination failed"),
    },
  ],
  [
    "Why did incidents not get the message about yesterday's failed deploy?",
    (ask) => deliveryOf(ask, deploy, "incidents"),
    { status: "dead", attemptCount: 7, untrusted: { lastError: "HTTP 503" } },
  ],
  [
    "Why did finance not get it?",
    (ask) => deliveryOf(ask, deploy, "finance"),
    filtered(payments, "deploy_platform"),
  ],
  [
    "What exactly did the platform send about the failed deploy?",
    async (ask) => {
      const id = at(await ask("search_events", deploy), "items.0.id");
      return JSON.parse(String(at(await ask("get_body", { id }), "untrusted.body")));
    },
    { type: "deployment.error", payload: { deployment: { name: "booking-api" } } },
  ],
  [
    "How many failed deploys did not reach incidents?",
    async (ask) => {
      const events = await ask("search_events", { ...deploys, to: ago(cutMs), limit: 100 });
      return listAt(events, "items").filter(({ delivery }) => delivery !== "delivered").length;
    },
    1,
  ],
  [
    "Is incidents repaired?",
    (ask) => ask("send_test", { destination: "incidents" }),
    { delivered: true, responseStatus: 200 },
  ],
  [
    "Who is alerted about Skyhook's own problems?",
    async (ask) =>
      listAt(await ask("list_destinations"), "items").filter(({ alerts }) => alerts === true),
    [{ name: "on-call", format: "slack" }],
  ],
  [
    "Which webhook was signed with another service's secret?",
    async (ask) => {
      const items = listAt(await ask("explain_rejection"), "items");
      const found = items.find(({ cause }) => cause === "secret-of-another-provider");
      return ask("explain_rejection", { id: found?.["id"] });
    },
    {
      provider: "deploy_platform",
      createdAt: near(startedAt - 190 * minuteMs),
      explanation: { detail: expect.stringContaining("with the secret of Front") },
    },
  ],
  [
    "Who would be notified again by a replay of the tasks that were completed?",
    (ask) =>
      ask("preview_replay", { ...wholePast, type: "task.completed", onlyUndelivered: false }),
    { repeatedTo: [{ destination: "staging", events: expect.any(Number) }] },
  ],
  [
    "How do I rotate the secret of a provider?",
    async (ask) => at(await ask("search_docs", { q: "rotate secrets" }), "text"),
    expect.stringContaining("skyhook secrets set <provider>"),
  ],
];

describe("questions about the demo", () => {
  const folder = temporaryFolder();
  let demo: RunningServer;
  let agent: ReturnType<typeof agentOf>;
  beforeAll(async () => {
    const env = { TZ: zone, MCP_ALLOW: "writes,bodies" };
    demo = await startServer({ cwd: folder, env }, "demo");
    await until(() => demo.log().includes("Press Ctrl-C to stop"), 120_000);
    const found = { cwd: folder, env: { XDG_RUNTIME_DIR: folder, PORT: demo.env.PORT } };
    const { out } = await runSkyhook(
      ["--demo", "token", "--email", "ada@demo.example", "--role", "operator"],
      found,
    );
    agent = agentOf(fetch, { token: out.trim(), url: `${demo.url}/mcp` });
  }, 150_000);
  afterAll(async () => {
    await demo.stop();
    removeFolder(folder);
  });

  test.each(questions)("%s", async (_, answer, known) => {
    const lengths: number[] = [];
    const found = await answer(async (tool, given) => {
      const { text, isError } = await agent.toolText(tool, given);
      if (isError) throw new Error(`${tool}: ${text}`);
      lengths.push(text.length);
      return JSON.parse(text);
    });
    // In an object, so that lists, texts and numbers are compared too.
    expect({ found }).toMatchObject({ found: known });
    expect(lengths.length).toBeLessThanOrEqual(most.calls);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(maxAnswerLength);
    expect(lengths.reduce((one, other) => one + other)).toBeLessThanOrEqual(most.characters);
  });

  test("the schemas of all tools leave a model's context free", async () => {
    const { result } = await agent.call("tools/list");
    expect(JSON.stringify(result).length).toBeLessThanOrEqual(maxSchemasLength);
  });
});
