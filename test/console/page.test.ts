import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { prettyJson } from "../../src/base/json-text.ts";
import { ago, dueText, lastDelivery } from "../../src/console/page/kit/durations.ts";
import { curlOf } from "../../src/console/page/kit/event/curl.ts";
import { type JsonNode, jsonTree, maxDepth } from "../../src/console/page/kit/event/json.ts";
import { forAll } from "../support/runs.ts";
import { notInstalled, skips } from "../support/skips.ts";

const quiet = { stdout: "ignore", stderr: "ignore" } as const;

test("a provider's last delivery reads like the time of its last event", () => {
  const provider = { usualIntervalSeconds: 1_200, hasSecret: true, isSilent: false };
  const now = Date.now();
  for (const silentForSeconds of [1, 59, 150, 5_000, 100_000]) {
    const event = ago(new Date(now - silentForSeconds * 1_000), now);
    expect(lastDelivery({ ...provider, silentForSeconds }, now)).toBe(
      `${event}, usually every 20\u00a0min`,
    );
  }
  const silent = { ...provider, isSilent: true, silentForSeconds: 26 * 3_600 };
  expect(lastDelivery(silent, now)).toBe("No deliveries for 26\u00a0h, usually every 20\u00a0min");
});

test.each([
  [28_000, "in 28s"],
  [500, "now"],
  [-14_000, "due 14s ago"],
])("a delivery that is due in %p ms reads: %s", (ms, text) => {
  const now = Date.now();
  expect(dueText(new Date(now + ms), now)).toBe(text);
});

describe("copy as cURL", () => {
  test.skipIf(skips(notInstalled("curl", "bash")))(
    "posts exactly the same bytes and executes nothing else",
    async () => {
      const received: { body: string; note: string | null }[] = [];
      const server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        async fetch(request) {
          const body = Buffer.from(await request.arrayBuffer()).toString("base64");
          received.push({ body, note: request.headers.get("x-note") });
          return new Response();
        },
      });
      try {
        const bodies = [
          `{"a": 1}\n`,
          "it's '$(touch hacked)' `touch hacked` \\ \"\n\n",
          "@/etc/passwd",
          "bidi \u202E, escape \u001b[201~; touch hacked\n, nul \u0000",
          "grüße, 漢字 😀",
        ];
        for (const body of bodies) {
          const command = curlOf(server.url.origin, {
            provider: "code_host",
            headers: {
              "x-note": "it's $(touch hacked)",
              "x-escape": "\u001b[201~",
              host: "elsewhere",
              "content-length": "1",
            },
            body,
            bodyEncoding: "utf-8",
          });
          // Contains no control or format characters, which a terminal might interpret.
          expect(command).not.toMatch(/(?![\t\n])[\p{Cc}\p{Cf}]/u);
          expect(await Bun.spawn(["bash", "-c", command], quiet).exited).toBe(0);
          const last = received.at(-1);
          expect(Buffer.from(last?.body ?? "", "base64").toString()).toBe(body);
          expect(last?.note).toBe("it's $(touch hacked)");
        }
        const raw = { provider: "x", headers: {}, body: "/wAB", bodyEncoding: "base64" } as const;
        await Bun.spawn(["bash", "-c", curlOf(server.url.origin, raw)], quiet).exited;
        expect(received.at(-1)?.body).toBe("/wAB");
      } finally {
        await server.stop(true);
      }
    },
  );
});

const pretty = (text: string) => prettyJson(text, maxDepth);

describe("formatted JSON", () => {
  test("matches the output of JSON.stringify", () => {
    forAll(200, [fc.jsonValue({ maxDepth: 8 })], (value) => {
      const text = JSON.stringify(value);
      expect(pretty(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
      expect(pretty(JSON.stringify(value, null, 3))).toBe(pretty(text));
    });
  });

  test("is the same as a tree that folds", () => {
    const textOf = (node: JsonNode, indent = ""): string => {
      if ("text" in node) return node.text;
      const deeper = `${indent}  `;
      const lines = node.members.map(
        ({ key, value }) => deeper + (key === null ? "" : `${key}: `) + textOf(value, deeper),
      );
      const [open, close] = node.isList ? ["[", "]"] : ["{", "}"];
      return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
    };
    forAll(200, [fc.jsonValue({ maxDepth: 8 }), fc.integer({ min: 0, max: 3 })], (value, space) => {
      const text = JSON.stringify(value, null, space);
      const tree = jsonTree(text);
      expect(tree === null ? null : textOf(tree)).toBe(pretty(text));
    });
    const nested = (depth: number) => `${"[1,".repeat(depth)}2${"]".repeat(depth)}`;
    expect(jsonTree(nested(maxDepth))).not.toBeNull();
    expect(jsonTree(nested(maxDepth + 1))).toBeNull();
    expect(jsonTree("[".repeat(10_000) + "]".repeat(10_000))).toBeNull();
    expect(jsonTree(`[${"1,".repeat(30_000)}2]`)).toBeNull();
  });

  test("keeps numbers and escapes exactly as sent", () => {
    expect(pretty(`{"n":12345678901234567890,"x":1.0e2, "s":"\\u00e9\\"[,{"}`)).toBe(
      `{\n  "n": 12345678901234567890,\n  "x": 1.0e2,\n  "s": "\\u00e9\\"[,{"\n}`,
    );
    expect(pretty("{ ")).toBeNull();
  });

  test("does not format JSON nested so deeply that its indents would exhaust memory", () => {
    expect(pretty("[".repeat(10_000) + "]".repeat(10_000))).toBeNull();
    expect(pretty("[1,".repeat(50) + "2" + "]".repeat(50))).toContain("1");
  });
});
