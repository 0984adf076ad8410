import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { checkProvider } from "../../src/cli/provider-check.ts";
import { catalogueFiles } from "../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../src/inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../../src/inbound/providers/files/provider-file.ts";
import { commandLine } from "../support/cli.ts";

const { skyhook, newFolder } = commandLine();

describe("skyhook provider check", () => {
  test.each(Object.entries(catalogueFiles))("finds no failure in %s", async (name, text) => {
    const file = readProviderFile(`${name}.yaml`, text);
    const { failures, attempts } = await checkProvider(fileProvider(name, `${name}.yaml`, file));
    expect(failures).toEqual([]);
    // Also where the signature is in the body, or only the service can sign.
    expect(attempts).toBeGreaterThanOrEqual(8);
  });

  test("names the file, the line and what to write instead", async () => {
    const cwd = newFolder();
    const text = (catalogueFiles["slack"] ?? "").replace("encoding: hex", "encoding: hexx");
    writeFileSync(join(cwd, "slack.yaml"), text);
    const { err, code } = await skyhook(["provider", "check", "slack.yaml"], { cwd });
    expect(code).toBe(2);
    expect(err).toMatch(
      /slack\.yaml:\d+: signature\.encoding must be one of .*Did you mean "hex"\?/,
    );
  });

  test("rejects a file with the name of a built-in provider", async () => {
    const cwd = newFolder();
    mkdirSync(join(cwd, "providers"));
    writeFileSync(join(cwd, "providers/code_host.yaml"), catalogueFiles["slack"] ?? "");
    const { err, code } = await skyhook(["provider", "list"], { cwd });
    expect([code, err]).toEqual([
      2,
      "skyhook: providers/code_host.yaml:1: code_host is built in: give the file another name\n",
    ]);
  });
});
