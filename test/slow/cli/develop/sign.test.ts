import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { besideServer } from "../../../support/cli.ts";

const { beside, newFolder, running } = besideServer();

async function bodyFile(content: string, name = "body.json"): Promise<string> {
  const file = join(newFolder(), name);
  await Bun.write(file, content);
  return file;
}

const task = (id: string) => JSON.stringify({ event_name: "item:completed", event_data: { id } });

describe("skyhook sign", () => {
  test("prints headers with which verify accepts the body", async () => {
    for (const [provider, content] of [
      ["task_tracker", task("1")],
      ["shared_inbox", `{ "type": "inbound",  "text": "a  b" }`],
      ["payment_processor", `{"id":"evt_1","type":"charge.refunded"}`],
    ] as const) {
      const file = await bodyFile(content);
      const { out, err, code } = await beside("sign", provider, file);
      expect([err, code]).toEqual(["", 0]);
      expect(out).toStartWith("content-type: application/json\n");
      const headersFile = await bodyFile(out, "headers.txt");
      const how = ["--body", file, "--headers-file", headersFile];
      const verified = await beside("verify", provider, ...how);
      expect(verified.out).toContain("verified with the current secret");
    }
  });

  test("keeps headers of --header and signs with --secret", async () => {
    const file = await bodyFile("{}");
    const header = ["--header", "X-GitHub-Event: push", "--header", "content-type: text/json"];
    const { out } = await beside("sign", "code_host", file, ...header, "--secret", "another");
    expect(out).toContain("content-type: text/json\n");
    expect(out).toContain("x-github-event: push\n");
    const headersFile = await bodyFile(out, "headers.txt");
    const how = ["--body", file, "--headers-file", headersFile];
    expect((await beside("verify", "code_host", ...how)).code).toBe(1);
    expect((await beside("verify", "code_host", ...how, "--secret", "another")).code).toBe(0);
  });

  test("prints a curl command that works as printed, whatever the file is called", async () => {
    const file = await bodyFile(task("curl"), "it's a $body.json");
    const { out, code } = await beside("sign", "task_tracker", file, "--curl", running().url);
    expect(code).toBe(0);
    const child = Bun.spawn(["sh", "-c", out], { stdout: "pipe", stderr: "inherit" });
    expect(await child.stdout.json()).toMatchObject({
      status: "accepted",
      event: "task.completed",
    });
  });

  test("explains errors", async () => {
    const file = await bodyFile("{}");
    const [unknown, missing, header] = await Promise.all([
      beside("sign", "nobody", file),
      beside("sign", "code_host", `${file}.gone`),
      beside("sign", "code_host", file, "--header", "no colon"),
    ]);
    expect(unknown.err).toContain('There is no provider "nobody"');
    expect(missing.err).toContain("does not exist");
    expect(header.err).toContain('Write a header as "name: value"');
    expect([unknown.code, missing.code, header.code]).toEqual([2, 1, 2]);
  });
});

describe("skyhook send --body", () => {
  test("sends the exact bytes with headers", async () => {
    const file = await bodyFile(` ${task("sent")}\n`);
    const header = ["--header", "x-todoist-delivery-id: of-a-file"];
    const first = await beside("send", "task_tracker", "--body", file, ...header);
    expect(first.out).toContain("task_tracker:of-a-file");
    expect([first.err, first.code]).toEqual(["", 0]);
    const again = await beside("send", "task_tracker", "--body", file, ...header);
    expect(again.out).toStartWith("200 duplicate");
  });

  test("tampers with them", async () => {
    const file = await bodyFile(task("tampered"));
    for (const what of ["signature", "body"]) {
      const how = ["--body", file, "--tamper", what];
      const { out, code } = await beside("send", "task_tracker", ...how);
      expect(out).toStartWith("401 invalid-signature");
      expect(code).toBe(1);
    }
    const digits = await bodyFile("1");
    const none = await beside("send", "task_tracker", "--body", digits, "--tamper", "body");
    expect(none.err).toContain("needs a body with a letter");
  });

  test("refuses options of samples, and --header without --body", async () => {
    const file = await bodyFile("{}");
    const [event, minimal, header] = await Promise.all([
      beside("send", "task_tracker", "task.completed", "--body", file),
      beside("send", "task_tracker", "--minimal", "--body", file),
      beside("send", "task_tracker", "task.completed", "--header", "a: b"),
    ]);
    for (const { code } of [event, minimal, header]) expect(code).toBe(2);
    expect(event.err).toContain("--body replaces the sample");
    expect(header.err).toContain("--header needs --body");
  });
});
