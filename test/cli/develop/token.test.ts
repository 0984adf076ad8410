import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { at, textAt } from "../../../src/base/payload.ts";
import { besideServer } from "../../support/cli.ts";

const { beside, get, skyhook, newFolder } = besideServer();

describe("skyhook token", () => {
  test("prints only a token that the running server accepts", async () => {
    const made = await beside("token", "--email", "Ada@Example.com", "--role", "operator");
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(made.err).toContain("created user");
    expect(await get("/v1/events", made.out.trim())).toMatchObject({ status: 200 });

    const again = await beside("token", "--email", "ada@EXAMPLE.com", "--name", "Other");
    expect(again.err).toContain("found user");
    expect(made.err + again.err).not.toContain("signing key");
    expect(again.err).toContain("Ada@Example.com (Ada)");
    expect(again.err).toContain("keeps its name");
    const [one, other] = [made, again].map(({ out }) => claimsOf(out));
    expect(textAt(one, "sub")).toBe(textAt(other, "sub") ?? "");
    expect(await get("/v1/events", again.out.trim())).toMatchObject({ status: 403 });
  });

  test("needs no server and has the given lifetime", async () => {
    const { out, err } = await skyhook([
      "token",
      "--email",
      "a@b.c",
      "--name",
      "A B",
      "--ttl",
      "15m",
    ]);
    const claims = claimsOf(out);
    // The JWT plugin reads the clock for `iat` after `exp` is set; a second may begin in between.
    expect([899, 900]).toContain(Number(at(claims, "exp")) - Number(at(claims, "iat")));
    expect(at(claims, "roles")).toEqual(["user"]);
    expect(err).toContain("(A B)");
    expect(err).toMatch(
      /created a signing key in .+: a server with another DATA_DIR or JWT_SECRET/,
    );
  });

  test("warns that the user is not stored if the database is in memory", async () => {
    const env = { DATABASE_URL: "sqlite::memory:" };
    const { out, err, code } = await skyhook(["token", "--email", "a@b.c"], { env });
    expect(claimsOf(out)).toMatchObject({ roles: ["user"] });
    expect(err).toContain("is not stored");
    expect(code).toBe(0);
  });

  test("run several times at once creates one key and one user", async () => {
    const cwd = newFolder();
    const made = await Promise.all(
      [1, 2, 3].map(() => skyhook(["token", "--email", "a@b.c"], { cwd })),
    );
    expect(made.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(new Set(made.map(({ out }) => textAt(claimsOf(out), "sub"))).size).toBe(1);
    expect(made.filter(({ err }) => err.includes("created user"))).toHaveLength(1);
    const key = readFileSync(join(cwd, "data/jwt_secret"), "utf8").trim();
    for (const { out } of made) {
      const [head = "", body = "", mac = ""] = out.trim().split(".");
      const expected = new Bun.CryptoHasher("sha256", key).update(`${head}.${body}`);
      expect(expected.digest("base64url")).toBe(mac);
    }
  });
});

function claimsOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}
