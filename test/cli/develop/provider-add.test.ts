import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { readProviderFile } from "../../../src/inbound/providers/files/provider-file.ts";
import { commandLine, oneLine } from "../../support/cli.ts";
import { programName } from "../../support/program.ts";

const { skyhook, newFolder } = commandLine();

describe("skyhook provider add", () => {
  test("writes the file and names the secret, the URL and the next commands", async () => {
    const cwd = newFolder();
    const env = { PUBLIC_URL: "https://hooks.example.com" };
    const { out, err, code } = await skyhook(["provider", "add", "slack"], { cwd, env });
    expect([err, code]).toEqual(["", 0]);
    expect(out).toStartWith("wrote providers/slack.yaml\n");
    for (const part of [
      `${programName} secrets set slack`,
      "secrets/slack_webhook_secret",
      "SLACK_WEBHOOK_SECRET",
      "https://hooks.example.com/webhooks/slack",
      `${programName} send slack app_mention`,
      "@slack/bolt",
    ]) {
      expect(out).toContain(part);
    }
    const text = readFileSync(join(cwd, "providers/slack.yaml"), "utf8");
    expect(readProviderFile("slack.yaml", text).displayName).toBe("Slack");
    expect(text).toEndWith(catalogueFiles["slack"] ?? "none");
  });

  test("offers no sample where only the service can sign", async () => {
    for (const name of ["discord", "aws_sns", "plaid"]) {
      const { out } = await skyhook(["provider", "add", name]);
      expect(out).toContain("4. try it            from the service");
    }
  });

  test("writes into PROVIDERS_DIR, under another name if one is given", async () => {
    const cwd = newFolder();
    const env = { PROVIDERS_DIR: "services/ours" };
    const { out } = await skyhook(["provider", "add", "svix", "--id", "clerk"], { cwd, env });
    expect(out).toContain("CLERK_WEBHOOK_SECRET");
    expect(out).toContain("/webhooks/clerk");
    expect(existsSync(join(cwd, "services/ours/clerk.yaml"))).toBe(true);
  });

  test.each(["yaml", "yml", "json"])("never replaces a file: slack.%s", async (ending) => {
    const cwd = newFolder();
    mkdirSync(join(cwd, "providers"));
    writeFileSync(join(cwd, `providers/slack.${ending}`), "mine");
    const { err, code } = await skyhook(["provider", "add", "slack"], { cwd });
    const file = `providers/slack.${ending}`;
    expect(err).toBe(oneLine(`${file} exists. Remove it, or choose another name with --id`));
    expect(code).toBe(1);
    expect(readFileSync(join(cwd, file), "utf8")).toBe("mine");
    expect(ending === "yaml" || !existsSync(join(cwd, "providers/slack.yaml"))).toBe(true);
  });

  test.each([
    [["slak"], 'There is no "slak" in the catalogue. Did you mean slack?'],
    [["toString"], `There is no "toString" in the catalogue. \`${programName} provider list`],
    [["code_host"], "code_host is built in: a file cannot have this name"],
    [["slack", "--id", "task_tracker"], "task_tracker is built in"],
    [["slack", "--id", "../slack"], "Write lower-case letters, digits and _"],
    [["slack", "--id", "Slack"], "Write lower-case letters, digits and _"],
  ])("%p is wrong usage and writes nothing", async (args, message) => {
    const cwd = newFolder();
    const { out, err, code } = await skyhook(["provider", "add", ...args], { cwd });
    expect([out, code]).toEqual(["", 2]);
    expect(err).toContain(message);
    expect(existsSync(join(cwd, "providers"))).toBe(false);
  });

  test("names every service of the catalogue with its scheme and what confirms it", async () => {
    const { out, code } = await skyhook(["provider", "list", "--catalogue"]);
    expect(code).toBe(0);
    const names = out.split("\n").map((line) => line.split(" ")[0]);
    expect(names).toEqual(expect.arrayContaining(Object.keys(catalogueFiles)));
    expect(out).toMatch(/^sendgrid +SendGrid +ECDSA P-256 +@sendgrid\/eventwebhook/m);
  });
});
