import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";

import { commandLine } from "../../support/cli.ts";
import { programName } from "../../support/program.ts";
import { serveApp, type ServedApp } from "../../support/served-app.ts";

const { skyhook, newFolder } = commandLine();

let served: ServedApp;
beforeAll(async () => {
  served = await serveApp();
});
afterAll(() => served.stop());

/** Lists as the three APIs document them. */
const lists = {
  hookdeck: {
    pagination: { order_by: "created_at", dir: "desc", limit: 100, next: "web_4" },
    count: 3,
    models: [
      {
        id: "web_1",
        name: "stripe-to-billing",
        full_name: "stripe -> stripe-to-billing -> billing",
        source: { id: "src_1", name: "stripe-production", type: "STRIPE" },
        destination: {
          id: "des_1",
          name: "Billing API",
          type: "HTTP",
          config: {
            url: "https://billing.example.com/stripe",
            rate_limit: 300,
            rate_limit_period: "minute",
            auth_type: "BEARER_TOKEN",
            auth: { token: "secret" },
          },
        },
        rules: [
          { type: "retry", strategy: "exponential", count: 5, interval: 60_000 },
          { type: "filter", body: { type: "invoice.paid" } },
        ],
        paused_at: "2026-11-01T00:00:00.000Z",
        disabled_at: null,
      },
      {
        id: "web_2",
        name: "shop",
        source: { id: "src_2", name: "shopify", type: "WEBHOOK" },
        destination: {
          name: "Billing API",
          type: "HTTP",
          config: {
            url: "https://billing.example.com/shop",
            rate_limit: 900,
            rate_limit_period: "concurrent",
          },
        },
        rules: null,
      },
      {
        id: "web_3",
        name: "local",
        source: { name: "acme", type: "WEBHOOK" },
        destination: { name: "laptop", type: "CLI", config: { path: "/hooks" } },
      },
      {
        id: "web_4",
        name: "warehouse",
        source: { name: "acme", type: "WEBHOOK" },
        destination: { name: "Billing API 2", config: { url: "https://warehouse.example.com/" } },
        rules: [{ type: "constructor" }],
      },
    ],
  },
  svix: {
    data: [
      {
        id: "ep_1",
        uid: "tickets",
        url: "https://tickets.example.com/hooks",
        description: "Tickets",
        version: 1,
        disabled: false,
        filterTypes: ["invoice.paid", "invoice.voided"],
        channels: ["acme"],
        rateLimit: 5_000,
        metadata: {},
      },
      { id: "ep_2", url: "https://b.example.com/", description: "", version: 1, disabled: true },
    ],
    iterator: "ep_2",
    done: false,
  },
  convoy: {
    status: true,
    message: "Subscriptions fetched successfully",
    data: {
      content: [
        {
          uid: "1",
          name: "deploys",
          type: "incoming",
          source_metadata: { name: "GitHub" },
          endpoint_metadata: {
            name: "ci",
            url: "https://ci.example.com/hooks",
            status: "active",
            rate_limit: 5_000,
            rate_limit_duration: "1m0s",
          },
          filter_config: {
            event_types: ["push"],
            filter: { headers: {}, body: { ref: "refs/heads/main" } },
          },
          function: "",
        },
        {
          uid: "2",
          name: "all",
          type: "outgoing",
          endpoint_metadata: { url: "https://all.example.com/", status: "paused" },
          filter_config: { event_types: ["*"], filter: { headers: null, body: null } },
        },
      ],
      pagination: { per_page: 2, has_next_page: true },
    },
  },
};

const expected = {
  hookdeck: {
    destinations: [
      {
        name: "billing-api",
        format: "original",
        filter: 'event.provider == "payment_processor"',
        ratePerSecond: 5,
        state: "paused",
        url: "https://billing.example.com/stripe",
      },
      {
        name: "billing-api-2",
        format: "original",
        filter: 'event.provider == "shopify"',
        maxConcurrent: 64,
        state: "active",
        url: "https://billing.example.com/shop",
      },
      // Without a filter, it would receive the events of all providers.
      {
        name: "billing-api-2-2",
        format: "original",
        state: "disabled",
        url: "https://warehouse.example.com/",
      },
    ],
    lost: [
      "billing-api: its retry rule",
      "billing-api: its filter",
      "billing-api: its authentication",
      "laptop: its source acme",
      `laptop: a destination of type CLI; use \`${programName} listen\``,
      "laptop: left out",
      "billing-api-2-2: its source acme is no known provider, so it is disabled",
      "billing-api-2-2: its rule constructor",
      "The list has further pages",
    ],
  },
  svix: {
    destinations: [
      {
        name: "tickets",
        format: "json",
        filter: 'event.type in ["invoice.paid", "invoice.voided"]',
        ratePerSecond: 1_000,
        state: "active",
        url: "https://tickets.example.com/hooks",
      },
      { name: "b.example.com", format: "json", state: "disabled", url: "https://b.example.com/" },
    ],
    lost: [
      "tickets: its event types",
      "tickets: its channels",
      "tickets: its secret",
      "b.example.com: its secret",
      "The list has further pages",
    ],
  },
  convoy: {
    destinations: [
      {
        name: "deploys",
        format: "original",
        filter: 'event.provider == "code_host" && event.type in ["push"]',
        ratePerSecond: 83,
        state: "active",
        url: "https://ci.example.com/hooks",
      },
      { name: "all", format: "json", state: "paused", url: "https://all.example.com/" },
    ],
    lost: ["deploys: its event types", "deploys: its filter", "The list has further pages"],
  },
};

test.each(["hookdeck", "svix", "convoy"] as const)(
  "a list of %s becomes a file that apply takes, and a line for what is lost",
  async (product) => {
    const cwd = newFolder();
    await Bun.write(join(cwd, "list.json"), JSON.stringify(lists[product]));
    const { out, err, code } = await skyhook(["apply", "list.json", "--from", product], { cwd });
    expect(code).toBe(0);
    const { destinations, lost } = expected[product];
    expect(Bun.YAML.parse(out)).toEqual({ destinations });
    const lines = err.trim().split("\n");
    expect(lines).toHaveLength(lost.length);
    for (const [index, text] of lost.entries()) {
      expect(lines[index]).toStartWith(`not carried over: ${text}`);
    }
    await Bun.write(join(cwd, "destinations.yaml"), out);
    const env = { ADMIN_TOKEN: served.token };
    const apply = ["apply", "destinations.yaml", "--server", served.url, "--prune"];
    const applied = await skyhook(apply, { cwd, env });
    expect([applied.err, applied.code]).toEqual(["", 0]);
    expect((await skyhook(apply, { cwd, env })).out).toBe("nothing to change\n");
  },
);

test.each([
  ['{"error": "unauthorized"}', "models is missing"],
  ["destinations: []", "The file is not JSON"],
])("a file that is no list of the product says what is missing: %s", async (text, says) => {
  const cwd = newFolder();
  await Bun.write(join(cwd, "list.json"), text);
  const { err, code } = await skyhook(["apply", "list.json", "--from", "hookdeck"], { cwd });
  expect([code, err]).toEqual([1, expect.stringContaining(says)]);
});
