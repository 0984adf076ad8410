import { expect, test } from "bun:test";

import { testCollector } from "../../support/collector.ts";
import { never } from "../../support/gateway.ts";
import { deliverTo } from "../../support/load.ts";
import { resources } from "../../support/resources.ts";

const taken = resources();

test("a hanging collector does not prevent the service from stopping", async () => {
  const collector = testCollector(never);
  taken.ends.push(() => collector.stop());
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const server = await taken.start(taken.newFolder(), env);
  expect(await deliverTo(server, 1)).toBe(200);
  expect(await server.stop()).toBe(0);
  await server.printed("stopped");
  expect(collector.posts).not.toEqual([]);
}, 30_000);
