import { describe, expect, test } from "bun:test";

import { RawClient } from "../../support/raw-client.ts";
import { listeningForAll } from "../../support/running-app.ts";

const server = listeningForAll();

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
      using client = await RawClient.connect(server.url);
      client.write([`GET ${path} HTTP/1.1`, ...hosts, "", ""].join("\r\n"));
      const answer = await client.answer();
      const usual = { "/livez": "200", "/nothing": "404" }[path] ?? "405";
      expect(answer).toStartWith(`HTTP/1.1 ${status === "200" ? usual : status} `);
    }
  });
});
