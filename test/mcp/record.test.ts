import { expect, test } from "bun:test";

import { AppError } from "../../src/base/errors.ts";
import { recordCall } from "../../src/mcp/server/record.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { failure } from "../support/failure.ts";
import { contextOf } from "../support/operator.ts";
import { appForAll } from "../support/running-app.ts";

const app = appForAll();
const full = new AppError("unavailable", "The disk is full");

test.each([
  ["overview", null, null],
  ["get_body", "bodies", full],
  ["start_replay", "writes", full],
] as const)("while no call can be recorded, %s is called or not", async (name, needs, error) => {
  const { storage, audit } = app.services;
  const services = {
    audit,
    storage: { ...storage, atomically: () => Promise.reject(full) },
    log: createLog({ level: "silent", format: "json" }),
  };
  const agent = { ...contextOf("ada", "operator"), allowed: [], caller: "ses_1", client: "c" };
  const recording = recordCall(services, agent, { name, needs }, {});
  expect(error === null ? ((await recording) ?? null) : await failure(recording)).toBe(error);
});
