import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

let registry: Bun.Server<undefined> | undefined;
afterEach(() => registry?.stop(true));

/** Runs the check against a registry that gives `advisories`. */
async function audit(advisories: () => Response) {
  const asked: string[] = [];
  registry = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      asked.push(`${request.method} ${new URL(request.url).pathname}`);
      return advisories();
    },
  });
  const child = Bun.spawn([process.execPath, "test/security/audit.ts"], {
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", BUN_CONFIG_REGISTRY: registry.url.href },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  // More than once where it does not like the answer.
  expect(asked[0]).toBe("POST /-/npm/v1/security/advisories/bulk");
  return { out, err, code };
}

const advisory = (severity: string) => () =>
  Response.json({
    elysia: [
      {
        id: 1,
        url: "https://github.com/advisories/GHSA-test",
        title: "Made up for a test",
        severity,
        vulnerable_versions: "<99.0.0",
        cwe: [],
        cvss: { score: 9, vectorString: null },
      },
    ],
  });

describe("the audit of packages", () => {
  test.each(["high", "critical"])(
    "fails when one has a %s vulnerability [API8-15]",
    async (severity) => {
      const { err, code } = await audit(advisory(severity));
      expect(code).toBe(1);
      expect(err).toContain(`${severity}: Made up for a test`);
    },
  );

  test("passes when there is none, or none that is high", async () => {
    for (const found of [() => Response.json({}), advisory("moderate")]) {
      const { out, code } = await audit(found);
      expect([code, out]).toEqual([
        0,
        "audit: no vulnerability of severity high or critical is known\n",
      ]);
      await registry?.stop(true);
    }
  });

  test.each([
    ["405", () => new Response("no", { status: 405 })],
    ["500", () => new Response("no", { status: 500 })],
    ["no JSON", () => new Response("<html>")],
  ])(
    "says that it could not look, and passes, when the registry answers %s [API8-16]",
    async (_, answer) => {
      const { out, code } = await audit(answer);
      expect(code).toBe(0);
      expect(out).toStartWith("audit: NOT CHECKED, the registry gives no advisories (");
    },
  );
});
