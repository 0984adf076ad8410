import { afterAll, beforeAll, expect, test } from "bun:test";

import type { Role } from "../../../src/base/context.ts";
import { at } from "../../../src/base/payload.ts";
import { ownEventTypes } from "../../../src/booking/events/event-types.ts";
import { catalogue } from "../../../src/inbound/providers/catalogue.ts";
import { json } from "../../support/app.ts";
import { commandLine } from "../../support/cli.ts";
import { serveApp, type ServedApp } from "../../support/served-app.ts";
import { transcripts } from "../../support/transcript.ts";

const { skyhook, newFolder } = commandLine();

let served: ServedApp;
const ids: string[] = [];
beforeAll(async () => {
  served = await serveApp();
  const { app } = served;
  for (const [provider, event] of [
    ["task_tracker", "task.completed"],
    ["deploy_platform", "deploy.error"],
    ["deploy_platform", "deploy.succeeded"],
  ] as const) {
    app.clock.advance(60_000);
    ids.push(String((await json(await app.deliverSample(provider, event)))["id"]));
  }
});
afterAll(() => served.stop());

transcripts(import.meta.dir, "events.txt", async () => {
  const mint = (role: Role) => served.app.services.tokens.mint({ id: role, roles: [role] }, 3_600);
  const [FIRST = "", SECOND = "", THIRD = ""] = ids;
  return {
    cwd: newFolder(),
    env: { OPERATOR_TOKEN: await mint("operator") },
    names: { SERVER: served.url, USER: await mint("user"), FIRST, SECOND, THIRD },
  };
});

test("skyhook events types lists every event of every provider, and Skyhook's own", async () => {
  const { out } = await skyhook(["events", "types", "--json"]);
  const lines = out.trimEnd().split("\n");
  const shown = lines.map((line): unknown => JSON.parse(line));
  const types = [
    ...catalogue.flatMap(({ id, samples }) => Object.keys(samples).map((type) => `${id}.${type}`)),
    ...ownEventTypes.map((type) => `bookings.${type}`),
  ];
  expect(types.length).toBeGreaterThan(40);
  const isShown = (type: string) =>
    shown.some((each) => at(each, "name") === type && Array.isArray(at(each, "data")));
  expect(types.filter((type) => !isShown(type))).toEqual([]);
});
