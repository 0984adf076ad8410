import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";

import { checkProvider } from "../../../src/cli/develop/provider-check.ts";
import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../../src/inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../../../src/inbound/providers/files/provider-file.ts";
import { commandLine } from "../../support/cli.ts";
import { forAllAsync, runs } from "../../support/runs.ts";

const { skyhook, newFolder } = commandLine();

describe("skyhook provider check", () => {
  test.each(Object.entries(catalogueFiles))("finds no failure in %s", async (name, text) => {
    const file = readProviderFile(`${name}.yaml`, text);
    const provider = fileProvider(name, `${name}.yaml`, file);
    const { failures, notes, attempts } = await checkProvider(provider);
    expect(failures).toEqual([]);
    expect(notes.join()).not.toContain("duplicate");
    // Also where the signature is in the body, or only the service can sign.
    expect(attempts).toBeGreaterThanOrEqual(8);
  });

  test("finds no failure in any correct scheme that signs the body", async () => {
    const word = fc.stringMatching(/^[a-z]{1,4}[0-9]?$/);
    const prefix = fc.tuple(word, fc.constantFrom("=", ",", ":")).map((parts) => parts.join(""));
    const separated = fc
      .tuple(prefix, fc.constantFrom(",", ";", " "))
      .filter(([start, separator]) => !start.includes(separator));
    const schemes = fc.record({
      from: fc.constantFrom("header.x-sig", "query.code"),
      encoding: fc.constantFrom("hex", "hex-upper", "hex-any-case", "base64", "base64url"),
      algorithm: fc.constantFrom("sha1", "sha256", "sha512"),
      form: fc.oneof(
        fc.constant(""),
        prefix.filter((text) => !text.includes(",")).map((text) => `prefix: "${text}"`),
        separated.map(
          ([text, separator]) => `items: { separator: "${separator}", signature: "${text}" }`,
        ),
      ),
    });
    await forAllAsync(runs(500), [schemes], async ({ from, encoding, algorithm, form }) => {
      const text = `displayName: Any
signature: { kind: hmac, algorithm: ${algorithm}, encoding: ${encoding}, from: ${from}, signs: "{body}"${form && `, ${form}`} }
event: "{/type}"
events: { a: { type: a } }
samples: { a: { body: { type: a, id: "{id}" } } }
`;
      const file = readProviderFile("any.yaml", text);
      const { failures } = await checkProvider(fileProvider("any", "any.yaml", file));
      expect(failures).toEqual([]);
    });
  });

  test("signs a query that a sample states", async () => {
    const file = (query: string) => `displayName: Any
signature: { kind: hmac, algorithm: sha256, encoding: hex, from: header.x-sig, signs: "{query.token}{url}{body}" }
event: "{/type}"
events: { a: { type: a } }
samples: { a: { ${query}body: { type: a, id: "{id}" } } }
`;
    const check = async (query: string) =>
      checkProvider(fileProvider("any", "any.yaml", readProviderFile("any.yaml", file(query))));
    expect(await check('query: { token: "t {id}" }, ')).toMatchObject({ failures: [] });
    expect(check("")).rejects.toThrow("lacks a value");
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

  test("says which file was meant", async () => {
    const cwd = newFolder();
    const check = () => skyhook(["provider", "check", "slack"], { cwd });
    const none = "skyhook: The file slack does not exist. Name a YAML or JSON file.\n";
    expect(await check()).toMatchObject({ code: 2, err: none });
    await skyhook(["provider", "add", "slack"], { cwd });
    expect((await check()).err).toContain("Did you mean providers/slack.yaml?");
  });

  test("rejects a file with the name of a built-in provider", async () => {
    const cwd = newFolder();
    mkdirSync(join(cwd, "providers"));
    writeFileSync(join(cwd, "providers/code_host.yaml"), catalogueFiles["slack"] ?? "");
    const { err, code } = await skyhook(["provider", "list"], { cwd });
    expect([code, err]).toEqual([
      2,
      'skyhook: providers/code_host.yaml:1: code_host is built in: write "extends: code_host", or give the file another name\n',
    ]);
  });
});
