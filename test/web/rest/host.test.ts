import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { startApp, type TestApp } from "../../support/app.ts";
import { RawClient } from "../../support/raw-client.ts";

let app: TestApp;
let url: string;
beforeAll(async () => {
  app = await startApp();
  app.app.listen({ port: 0, hostname: "127.0.0.1", reusePort: false });
  url = `http://127.0.0.1:${app.app.server?.port}`;
});
afterAll(async () => {
  await app.app.server?.stop(true);
  await app.stop();
});

describe("a request", () => {
  // RFC 9112 section 3.2.
  test.each([
    [["Host: a.example"], "200"],
    [["Host: a.example:8080"], "200"],
    [["Host: [::1]:8080"], "200"],
    [["host: a.example"], "200"],
    [["Host: a.example", "Host: b.example"], "400"],
    [["Host: a.example", "Host: a.example"], "400"],
    [["Host: a.example", "hOST: a.example", "Host: a.example"], "400"],
    [["Host: a.example", "Host:"], "400"],
    [["Host: a.example, b.example"], "400"],
    [["Host: a b"], "400"],
    [[], "400"],
  ])("with %j is answered %s", async (hosts, status) => {
    for (const path of ["/livez", "/webhooks/task_tracker", "/nothing"]) {
      using client = await RawClient.connect(url);
      client.write([`GET ${path} HTTP/1.1`, ...hosts, "", ""].join("\r\n"));
      const answer = await client.answer();
      const usual = { "/livez": "200", "/nothing": "404" }[path] ?? "405";
      expect(answer).toStartWith(`HTTP/1.1 ${status === "200" ? usual : status} `);
    }
  });
});
