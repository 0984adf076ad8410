import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";

import { at } from "../../src/base/payload.ts";
import { until } from "../support/app.ts";
import { gatewaySecret, testGateway } from "../support/gateway.ts";
import { deliverTo } from "../support/load.ts";
import { resources } from "../support/resources.ts";

import { page } from "./markdown.ts";

// docs/examples/operator-gateway.ts as a process of its own, told by a server of its own.

const taken = resources();
const root = join(import.meta.dir, "../..");
const example = join(root, "docs/examples/operator-gateway.ts");
let gateway: Bun.Subprocess<"ignore", "pipe", "inherit">;
let printed = "";
let url = "";

beforeAll(async () => {
  gateway = Bun.spawn([process.execPath, example], {
    env: { OPERATOR_GATEWAY_SECRET: gatewaySecret, GATEWAY_PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  void (async () => {
    for await (const text of gateway.stdout.pipeThrough(new TextDecoderStream())) printed += text;
  })();
  await until(() => /Listening at \S+\n/.test(printed));
  url = /Listening at (\S+)/.exec(printed)?.[1] ?? "";
});
afterAll(async () => {
  gateway.kill();
  await gateway.exited;
});

/** The CloudEvent that docs/events.md shows: what wraps the data, and the data of the other format. */
function documented(): unknown {
  const [message, envelope] = ["message", "envelope"].map((name): unknown =>
    JSON.parse(
      new RegExp(`<!-- ${name} -->\n+\`\`\`json\n(.*?)\`\`\``, "s").exec(
        page("docs/events.md"),
      )?.[1] ?? "",
    ),
  );
  return { ...Object(envelope), data: at(message, "data") };
}

/** The names of all fields, but for those that a provider's payload brings. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return null;
  const fields = Object.entries(value).map(([name, inner]): [string, unknown] => [
    name,
    "occurredAt" in value && name === "data" ? null : shapeOf(inner),
  ]);
  return Object.fromEntries(fields);
}

test("a notification is verified and printed once; a copy that was tampered with is refused", async () => {
  // Between the two, to see what is sent.
  const between = testGateway((_, { headers, body }) =>
    fetch(url, { method: "POST", headers, body }),
  );
  taken.ends.push(() => between.stop());
  const server = await taken.start(taken.newFolder(), {
    OPERATOR_GATEWAY_URL: between.url,
    OPERATOR_GATEWAY_SECRET: gatewaySecret,
  });
  expect(await deliverTo(server, 7)).toBe(200);
  await until(() => printed.includes("[success] Task completed: Task 7\n"));

  const [sent] = between.received;
  if (sent === undefined) throw new Error("Nothing came");
  expect(shapeOf(JSON.parse(sent.body))).toEqual(shapeOf(documented()));
  const post = async (headers: Record<string, string>, body: string) =>
    (await fetch(url, { method: "POST", headers, body })).status;
  expect(await post(sent.headers, sent.body)).toBe(200);
  expect(printed.match(/Task 7/g)).toHaveLength(1);

  const before = printed;
  const { "webhook-signature": signature = "", ...unsigned } = sent.headers;
  const longAgo = String(Number(sent.headers["webhook-timestamp"]) - 301);
  const refused = [
    [sent.headers, sent.body.replace("Task 7", "Task 8")],
    [{ ...sent.headers, "webhook-id": "ntf_another" }, sent.body],
    [{ ...sent.headers, "webhook-timestamp": longAgo }, sent.body],
    [{ ...unsigned, "webhook-signature": signature.slice(0, -4) }, sent.body],
    [unsigned, sent.body],
  ] as const;
  for (const [headers, body] of refused) expect(await post(headers, body)).toBe(401);
  expect(printed).toBe(before);
});
