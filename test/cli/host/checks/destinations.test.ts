import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { checkDestinations } from "../../../../src/cli/host/checks/destinations.ts";
import { checkOutbox } from "../../../../src/cli/host/checks/outbox.ts";
import { checkServer } from "../../../../src/cli/host/checks/server.ts";
import { write } from "../../../../src/db/statement.ts";
import {
  allDestinations,
  updateDestination,
} from "../../../../src/outbound/model/destinations.sql.ts";
import { json, startApp } from "../../../support/app.ts";
import { post } from "../../../support/flights.ts";
import { removeFolder, temporaryFolder } from "../../../support/program.ts";
import { notificationRow, sentWrites } from "../../../support/rows.ts";
import { appForAll } from "../../../support/running-app.ts";

const app = appForAll({ DESTINATIONS_ALLOW_PRIVATE: "true" });
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
const env = { PERSONAL_DATA_KEY: Buffer.alloc(32, 7).toString("base64") };
afterAll(() => server.stop(true));

test("doctor says of each destination whether it works, and what to do", async () => {
  const create = async (name: string, port: number | undefined) => {
    const body = { name, format: "json", url: `http://127.0.0.1:${port}/secret` };
    return String((await json(await app.as("admin", "/v1/destinations", post(body))))["id"]);
  };
  await create("good", server.port);
  await create("gone", 1_024);
  const paused = await create("paused", server.port);
  await app.as("admin", `/v1/destinations/${paused}/pause`, { method: "POST" });
  const { storage, config } = app.services;
  const findings = await checkDestinations(storage, config, env);
  expect(findings).toMatchObject([
    { level: "good", about: "destination good", detail: "reachable, 0 waiting" },
    { level: "odd", about: "destination gone", detail: expect.stringContaining("not reachable") },
    {
      level: "odd",
      about: "destination paused",
      detail: expect.stringContaining("destination resume paused"),
    },
  ]);
  expect(JSON.stringify(findings)).not.toContain("secret");
  const providersDir = temporaryFolder();
  writeFileSync(join(providersDir, "acme.yaml"), "displayName: [");
  expect(await checkDestinations(storage, { ...config, providersDir }, env)).toEqual(findings);
  removeFolder(providersDir);
  const other = { PERSONAL_DATA_KEY: Buffer.alloc(32, 8).toString("base64") };
  const lost = await checkDestinations(storage, config, other);
  expect(lost.map(({ level }) => level)).toEqual(["bad", "bad", "bad"]);
});

test.each([
  [null, true],
  ['event.type == "deploy.error"', true],
  ['event.provider == "code_host"', false],
])(
  "doctor warns of a destination at the service of a provider, with the filter %p: %p",
  async (filter, warns) => {
    await using own = await startApp({ DESTINATIONS_ALLOW_PRIVATE: "true" });
    const url = `http://127.0.0.1:${server.port}/`;
    await own.as(
      "admin",
      "/v1/destinations",
      post({ name: "issues", format: "json", url, filter }),
    );
    const { storage, config } = own.services;
    const [stored] = await storage.all(allDestinations, {});
    if (stored === undefined) throw new Error("Not stored");
    const shown = "https://api.github.com/…";
    await storage.atomically(
      write(updateDestination, { ...stored, url: shown, before: stored.updatedAt }),
    );
    const [finding] = await checkDestinations(storage, config, env);
    const detail = "gets no events of code_host, its own service, unless its filter names it";
    expect(finding).toMatchObject(warns ? { level: "odd", detail } : { level: "good" });
  },
);

test("doctor does not name the operator gateway as the cause where none is configured", async () => {
  const { storage, config } = app.services;
  const dead = { destination: 9, status: "dead", lastError: "HTTP 500" } as const;
  await storage.atomically(...sentWrites(notificationRow(1), dead));
  const finding = await checkOutbox(storage);
  expect(finding).toMatchObject({
    level: "odd",
    detail: expect.stringContaining("1 dead (HTTP 500): repair the destinations that fail, then"),
  });
  const [gateway] = await checkServer({ ...config, port: 0 }, {});
  expect(gateway).toMatchObject({
    about: "operator gateway",
    detail: "not configured: notifications go to other destinations, the feed and the log",
  });
});
