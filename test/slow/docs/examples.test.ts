import { describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { at } from "../../../src/base/payload.ts";
import { settings } from "../../../src/config/settings.ts";
import { page, root } from "../../docs/markdown.ts";
import { until } from "../../support/app.ts";
import { gatewayEnv, gatewaySecret, testGateway } from "../../support/gateway.ts";
import { deliverTo } from "../../support/load.ts";
import { ended, runSkyhook } from "../../support/program.ts";
import { resources } from "../../support/resources.ts";
import { notInstalled, skips } from "../../support/skips.ts";

// The programs of examples/, as processes of their own beside a server.

const taken = resources();
const folder = join(root, "examples");

/** Starts a program of examples/. Its environment is what is given, and where it finds its tools. */
function start(command: readonly string[], env: Readonly<Record<string, string>>) {
  const { PATH = "", HOME = "" } = process.env;
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  taken.ends.push(() => child.kill());
  return child;
}

const receivers = [
  ["node", "receiver.mjs"],
  ["python3", "receiver.py"],
  ["go", "run", "receiver.go"],
];

describe.each(receivers)("%s", (...command) => {
  const [language = ""] = command;

  test.skipIf(skips(notInstalled(language)))(
    "verifies a notification, prints it once, and refuses copies that were changed",
    async () => {
      const receiver = start(command, { WEBHOOK_SECRET: gatewaySecret, PORT: "0" });
      let printed = "";
      void (async () => {
        for await (const text of receiver.stdout.pipeThrough(new TextDecoderStream()))
          printed += text;
      })();
      await until(() => /Listening at \S+\n/.test(printed), 30_000);
      const url = /Listening at (\S+)/.exec(printed)?.[1] ?? "";
      // Between the two, to see what is sent.
      const between = testGateway((_, { headers, body }) =>
        fetch(url, { method: "POST", headers, body }),
      );
      taken.ends.push(() => between.stop());
      const server = await taken.start(taken.newFolder(), gatewayEnv(between.url));
      expect(await deliverTo(server, 7)).toBe(200);
      await until(() => printed.includes("[success] Task completed: Task 7\n"));

      const [sent] = between.received;
      if (sent === undefined) throw new Error("Nothing was sent");
      const { body } = sent;
      expect(shapeOf(JSON.parse(body))).toEqual(shapeOf(documented()));
      const post = async (changed: Record<string, string>, text = body) => {
        const headers = { ...sent.headers, ...changed };
        return (await fetch(url, { method: "POST", headers, body: text })).status;
      };
      const signature = sent.headers["webhook-signature"] ?? "";
      const seconds = Number(sent.headers["webhook-timestamp"]);
      expect(await post({})).toBe(204);
      // While a secret is changed.
      expect(await post({ "webhook-signature": `v1,AAAA ${signature}` })).toBe(204);
      expect(await post({}, body.replace("Task 7", "Task 8"))).toBe(401);
      const refused = [
        { "webhook-id": "ntf_another" },
        { "webhook-timestamp": String(seconds - 1) },
        { "webhook-timestamp": "yesterday" },
        { "webhook-signature": signature.slice(0, -4) },
        { "webhook-signature": signature.replace("v1,", "v2,") },
        { "webhook-signature": "" },
        signedAt(sent.headers["webhook-id"] ?? "", seconds - 301, body),
        signedAt(sent.headers["webhook-id"] ?? "", seconds + 310, body),
      ];
      const statuses = await Promise.all(refused.map((changed) => post(changed)));
      expect(statuses).toEqual(refused.map(() => 401));
      expect(printed.match(/Task \d/g)).toEqual(["Task 7"]);
    },
    60_000,
  );
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

/** The headers of a message that is genuine but for its time. */
function signedAt(id: string, seconds: number, body: string): Record<string, string> {
  const key = Buffer.from(gatewaySecret.replace("whsec_", ""), "base64");
  const hasher = new Bun.CryptoHasher("sha256", key).update(`${id}.${seconds}.${body}`);
  return {
    "webhook-timestamp": String(seconds),
    "webhook-signature": `v1,${hasher.digest("base64")}`,
  };
}

test.skipIf(skips(notInstalled("node")))(
  "an agent finds out why a webhook was rejected",
  async () => {
    const server = await taken.start(taken.newFolder());
    const post = { method: "POST", body: "{}" };
    expect((await fetch(`${server.url}/webhooks/task_tracker`, post)).status).toBe(401);
    const token = (await runSkyhook(["mcp", "token", "example"], server)).out.trim();
    const env = { SKYHOOK_URL: server.url, SKYHOOK_MCP_TOKEN: token };
    const { out, err } = await ended(start(["node", "agent.mjs"], env));
    expect(err).toBe("");
    expect(out).toContain("rejected task_tracker: ");
    expect(out).toContain('"reason": "missing-signature"');
  },
);

describe("compose.yaml", () => {
  test("sets only settings that there are", () => {
    const { services } = Object(Bun.YAML.parse(readFileSync(join(folder, "compose.yaml"), "utf8")));
    const known = Object.values(settings).map(({ key }): string => key);
    expect(known).toEqual(expect.arrayContaining(Object.keys(services.skyhook.environment)));
  });

  test.skipIf(skips(noCompose()))("is what Compose understands", async () => {
    const copy = taken.newFolder();
    copyFileSync(join(folder, "compose.yaml"), join(copy, "compose.yaml"));
    writeFileSync(join(copy, "skyhook.env"), "");
    const command = ["docker", "compose", "--project-directory", copy, "config", "--quiet"];
    const { err, code } = await ended(start(command, { POSTGRES_PASSWORD: "secret" }));
    expect(code, err).toBe(0);
  });
});

/** Why Compose cannot be asked; null when it can. */
function noCompose(): string | null {
  const isThere =
    Bun.which("docker") !== null && Bun.spawnSync(["docker", "compose", "version"]).exitCode === 0;
  return isThere ? null : "docker has no compose";
}

test("each is at most 80 lines long", () => {
  for (const name of new Bun.Glob("*.{mjs,py,go,yaml}").scanSync(folder)) {
    const lines = readFileSync(join(folder, name), "utf8").trimEnd().split("\n");
    expect(lines.length, name).toBeLessThanOrEqual(80);
  }
});
