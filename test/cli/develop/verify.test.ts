import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { textAt } from "../../../src/base/payload.ts";
import { sign } from "../../../src/inbound/signatures/sign.ts";
import { json, providerOf, startApp } from "../../support/app.ts";
import { allSecrets, commandLine, secretOf } from "../../support/cli.ts";
import { manualClock } from "../../support/clock.ts";

const { skyhook, newFolder } = commandLine();

describe("skyhook verify", () => {
  const cwd = newFolder();
  const bytes = Buffer.from(
    JSON.stringify({ event_name: "item:completed", event_data: { id: "6X", content: "Größe 💡" } }),
  );
  const { signature } = providerOf("task_tracker");
  const mac = sign(signature, secretOf("task_tracker"), bytes, Date.now());
  const header = `X-TaskTracker-Hmac-SHA256: ${mac}`;

  /** Verifies `body` by way of a file. */
  async function verify(provider: string, body: string | Uint8Array, ...more: string[]) {
    const file = join(cwd, crypto.randomUUID());
    await Bun.write(file, body);
    return skyhook(["verify", provider, "--body", file, ...more], { cwd, env: allSecrets });
  }

  test("tells the verdict and the event, by the key that the server would give it", async () => {
    const { out, code } = await verify("task_tracker", bytes, "--header", header);
    expect(out).toContain("verified with the current secret");
    expect(out).toContain("type   task.completed\n");
    expect(out).toContain("title  Task completed: Größe 💡\n");
    expect(code).toBe(0);

    await using app = await startApp(allSecrets, manualClock(Date.now()));
    const headers = { "x-tasktracker-hmac-sha256": mac };
    const init = { method: "POST", body: bytes, headers };
    const answer = await json(await app.fetch("/webhooks/task_tracker", init));
    expect(out).toContain(`key    ${textAt(answer, "idempotencyKey")}\n`);

    const keyed = await verify(
      "task_tracker",
      bytes,
      "--header",
      header,
      "--header",
      "x-tasktracker-delivery-id: 7",
    );
    expect(keyed.out).toContain("key    task_tracker:7\n");
  });

  test("reads standard input and a file of headers, and tells the previous secret", async () => {
    await Bun.write(
      join(cwd, "headers"),
      `POST /webhooks/task_tracker HTTP/1.1\r\n${header}\r\n\r\n`,
    );
    const env = {
      TASK_TRACKER_WEBHOOK_SECRET: "a new secret of this year",
      TASK_TRACKER_WEBHOOK_SECRET_PREVIOUS: secretOf("task_tracker"),
    };
    const args = ["verify", "task_tracker", "--body", "-", "--headers-file", "headers"];
    const { out, code } = await skyhook(args, { cwd, env, input: bytes.toString() });
    expect(out).toContain("verified with the previous secret");
    expect(code).toBe(0);
  });

  test.concurrent.each([
    ["missing-signature", bytes, []],
    ["several-signatures", bytes, ["--header", header, "--header", header]],
    ["malformed-signature", bytes, ["--header", "x-tasktracker-hmac-sha256: 00ff"]],
    ["wrong-signature", bytes, ["--header", header, "--secret", "another"]],
    ["wrong-signature", Buffer.concat([bytes, Buffer.from("{}")]), ["--header", header]],
    ["unsupported-encoding", bytes, ["--header", header, "--header", "content-encoding: gzip"]],
    ["body-too-large", Buffer.alloc(5 * 1024 * 1024 + 1), ["--header", header]],
  ] as const)("names the reason %s", async (reason, body, more) => {
    const { out, err, code } = await verify("task_tracker", body, ...more);
    expect(out).toStartWith(`✗ ${reason}: `);
    expect(out).not.toContain("Found:");
    expect([err, code]).toEqual(["", 1]);
  });

  test.concurrent.each([
    [
      "a line break at the end",
      `${bytes.toString()}\n`,
      secretOf("task_tracker"),
      "without the line break",
    ],
    [
      "formatting",
      JSON.stringify(JSON.parse(bytes.toString()), null, 2),
      secretOf("task_tracker"),
      "as compact JSON",
    ],
    ["white space around the secret", bytes, `${secretOf("task_tracker")} `, "around the secret"],
  ] as const)("finds %s", async (_, body, secret, cause) => {
    const { out, code } = await verify(
      "task_tracker",
      body,
      "--header",
      header,
      "--secret",
      secret,
    );
    expect(out).toMatch(new RegExp(`Found: The webhook verifies .*${cause}`));
    expect(code).toBe(1);
  });

  test("finds the secret of another provider, whatever the state of the others", async () => {
    const args = ["verify", "task_tracker", "--body", "-", "--header", header];
    const env = {
      TASK_TRACKER_WEBHOOK_SECRET: "a secret that did not sign it",
      CODE_HOST_WEBHOOK_SECRET: secretOf("task_tracker"),
      DEPLOY_PLATFORM_WEBHOOK_SECRET: "",
    };
    const { out, err, code } = await skyhook(args, { cwd, env, input: bytes.toString() });
    expect(out).toContain("Found: The webhook verifies with the secret of GitHub");
    expect([err, code]).toEqual(["", 1]);
  });

  test("knows the time of a delivery that was kept, and other kinds of webhooks", async () => {
    const sent = Date.UTC(2026, 0, 1);
    const timed = sign(providerOf("payment_processor").signature, "whsec_x", bytes, sent);
    const args = ["--header", `stripe-signature: ${timed}`, "--secret", "whsec_x"];
    const [late, then, foreign] = await Promise.all([
      verify("payment_processor", bytes, ...args),
      verify("payment_processor", bytes, ...args, "--at", "2026-01-01T01:04:00+01:00"),
      verify(
        "shared_inbox",
        bytes,
        "--header",
        "x-front-request-timestamp: 1",
        "--header",
        "x-front-signature: 1",
      ),
    ]);
    expect(late.out).toStartWith("✗ stale-timestamp: ");
    expect(late.out).toMatch(/Found: The signature is valid, but it was made \d+ s before/);
    expect(then).toMatchObject({ out: expect.stringContaining("✓ verified"), code: 0 });
    expect(foreign.out).toStartWith("✗ unsupported-scheme: ");
  });

  test("says when verified bytes are no JSON, and when there are none", async () => {
    const text = Buffer.from("hello");
    const mark = sign(signature, secretOf("task_tracker"), text, 0);
    const plain = await verify(
      "task_tracker",
      text,
      "--header",
      `x-tasktracker-hmac-sha256: ${mark}`,
    );
    expect(plain.out).toContain("answers 400");
    const none = await skyhook(["verify", "task_tracker", "--body", "none"], { env: allSecrets });
    expect(none.err).toContain("The file none does not exist");
    expect(none.code).toBe(1);
  });
});
