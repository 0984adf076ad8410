import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

let registry: Bun.Server<undefined> | undefined;
afterEach(() => registry?.stop(true));

/** Runs the audit against a registry that responds with `advisories`. */
async function audit(advisories: () => Response) {
  const requests: string[] = [];
  registry = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      requests.push(`${request.method} ${new URL(request.url).pathname}`);
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
  // Bun repeats the request after an error response.
  expect(requests[0]).toBe("POST /-/npm/v1/security/advisories/bulk");
  return { out, err, code };
}

const advisory = (severity: string) => () =>
  Response.json({
    elysia: [
      {
        id: 1,
        url: "https://github.com/advisories/GHSA-test",
        title: "Test advisory",
        severity,
        vulnerable_versions: "<99.0.0",
        cwe: [],
        cvss: { score: 9, vectorString: null },
      },
    ],
  });

describe("the package audit", () => {
  test.each(["high", "critical"])(
    "fails if a package has a %s vulnerability [API8-15]",
    async (severity) => {
      const { err, code } = await audit(advisory(severity));
      expect(code).toBe(1);
      expect(err).toContain(`${severity}: Test advisory`);
    },
  );

  test("passes without vulnerabilities of severity high or critical", async () => {
    for (const found of [() => Response.json({}), advisory("moderate")]) {
      const { out, code } = await audit(found);
      expect([code, out]).toEqual([
        0,
        "audit: no known vulnerabilities of severity high or critical\n",
      ]);
      await registry?.stop(true);
    }
  });

  test.each([
    ["405", () => new Response("no", { status: 405 })],
    ["500", () => new Response("no", { status: 500 })],
    ["invalid JSON", () => new Response("<html>")],
  ])(
    "reports that it could not check, and passes, if the registry responds with %s [API8-16]",
    async (_, answer) => {
      const { out, code } = await audit(answer);
      expect(code).toBe(0);
      expect(out).toContain("skipped: the registry returned no advisories");
    },
  );
});
