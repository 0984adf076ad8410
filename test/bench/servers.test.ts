import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { tokenSettings } from "../../bench/api-requests.ts";
import { ceiling, delivery, minimal, skyhookEnvironment } from "../../bench/contestants.ts";
import { signedDeliveries } from "../../bench/deliveries.ts";
import { startReceiver } from "../../bench/delivery.ts";
import { withFolder } from "../../bench/folder.ts";
import { type Server, startServer } from "../../bench/processes.ts";
import { fill } from "../../bench/rows.ts";
import { RawClient } from "../support/raw-client.ts";

const folderOfServers = join(import.meta.dir, "../../bench/servers");

const webhook = () => Buffer.from(signedDeliveries(delivery, 1).request(0)).toString("latin1");

/** Of each server: how the benchmark starts it, a first request, and the beginning of the answer. */
interface Case {
  readonly start: (folder: string) => Promise<Server>;
  readonly request: () => string;
  readonly answer: RegExp;
}

const servers: Readonly<Record<string, Case>> = {
  "ceiling.ts": { start: ceiling.start, request: webhook, answer: /200 [^]*\r\n\r\nok/ },
  "promise.ts": { start: minimal.start, request: webhook, answer: /"status":"accepted"/ },
  "receiver.ts": {
    start: startReceiver,
    request: () => "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
    answer: /\r\n\r\n0/,
  },
  "retaining.ts": {
    start(folder) {
      fill(join(folder, "skyhook.db"), [{ table: "events", rows: 1, stepMs: 1_000 }]);
      const env = { ...skyhookEnvironment(folder), JWT_SECRET: tokenSettings.key };
      return startServer(["bun", join(folderOfServers, "retaining.ts")], env);
    },
    request: webhook,
    answer: /"accepted"/,
  },
};

test.each(Object.entries(servers))("%s starts and answers", (name, { start, request, answer }) =>
  withFolder("servers", async (folder) => {
    const server = await start(folder);
    try {
      using client = await RawClient.connect(`http://127.0.0.1:${server.port}`);
      await client.send(request());
      expect(await client.answer(), name).toMatch(answer);
    } finally {
      await server.stop();
    }
  }),
);

test("every server of the benchmark is listed here", () => {
  expect(Object.keys(servers).toSorted()).toEqual(readdirSync(folderOfServers).toSorted());
});
