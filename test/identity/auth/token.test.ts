import { describe, expect, test } from "bun:test";

import { SignJWT, UnsecuredJWT } from "jose";

import { tokens } from "../../../src/identity/auth/token.ts";
import { manualClock } from "../../support/clock.ts";
import { failure } from "../../support/failure.ts";

const key = Buffer.from("a test key of thirty-two bytes!!");
const clock = manualClock();
const nowSeconds = Math.floor(clock.now() / 1_000);
const subject = tokens({ key, issuer: "skyhook", audience: "skyhook" }, clock);
const actor = { id: "u1", roles: ["operator"] } as const;

/** A token that is valid except for `claims` and `header`. */
const forged = (claims: object, header: object = {}, signingKey: Uint8Array = key) =>
  new SignJWT({
    iss: "skyhook",
    aud: "skyhook",
    sub: "u1",
    jti: "j",
    iat: nowSeconds,
    exp: nowSeconds + 60,
    roles: ["admin"],
    ...claims,
  })
    .setProtectedHeader({ alg: "HS256", typ: "at+jwt", ...header })
    .sign(signingKey);

/** A correctly signed token with a header, or an `exp`, that no library would write. */
function handmade(header: object, exp = String(nowSeconds + 60)): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const claims = { iss: "skyhook", aud: "skyhook", sub: "u1", jti: "j", iat: nowSeconds };
  const payload = JSON.stringify(claims).replace(/\}$/, `,"exp":${exp}}`);
  const head = encode({ alg: "HS256", typ: "at+jwt", ...header });
  const text = `${head}.${Buffer.from(payload).toString("base64url")}`;
  return `${text}.${new Bun.CryptoHasher("sha256", key).update(text).digest("base64url")}`;
}

describe("an access token", () => {
  test("holds its subject and roles", async () => {
    const session = await subject.verify(await subject.mint(actor, 60));
    const [expiresAt, issuedAt] = [
      new Date((nowSeconds + 90) * 1_000),
      new Date(nowSeconds * 1_000),
    ];
    expect(session).toEqual({ actor, expiresAt, issuedAt, token: expect.any(String) });
    const other = await subject.verify(await forged({}));
    expect(other.actor).toEqual({ id: "u1", roles: ["admin"] });
  });

  test("is valid until it expires, plus 30 s for clock skew [API2-2]", async () => {
    const late = (ms: number) =>
      tokens({ key, issuer: "skyhook", audience: "skyhook" }, manualClock(clock.now() + ms));
    const token = await subject.mint(actor, 60);
    expect((await late(89_000).verify(token)).actor).toEqual(actor);
    expect(await failure(late(91_000).verify(token))).toMatchObject({ code: "invalid-token" });
  });

  test("assembled by hand is valid too, which the invalid ones below rely on", async () => {
    expect((await subject.verify(handmade({}))).actor).toEqual({ id: "u1", roles: [] });
  });

  test("loses roles that do not exist", async () => {
    const token = await forged({ roles: ["admin", "root", 7, null] });
    expect((await subject.verify(token)).actor).toEqual({ id: "u1", roles: ["admin"] });
  });

  test.each([
    [
      "signed with another key",
      () => forged({}, {}, Buffer.from("another key of thirty-two bytes!")),
    ],
    ["from another issuer", () => forged({ iss: "other" })],
    ["for another audience", () => forged({ aud: "other" })],
    ["of another type", () => forged({}, { typ: "JWT" })],
    ["signed with another algorithm", () => forged({}, { alg: "HS512" }, Buffer.alloc(64, 1))],
    ["signed with another algorithm and the right key", () => forged({}, { alg: "HS384" })],
    ["that never expires", () => forged({ exp: undefined })],
    ["whose expiry is too large for a number", async () => handmade({}, "1e999")],
    ["whose expiry is too large for a date", async () => handmade({}, "1e300")],
    ["that has expired", () => forged({ exp: nowSeconds - 31 })],
    ["that is not yet valid", () => forged({ nbf: nowSeconds + 60 })],
    ["without a subject", () => forged({ sub: undefined })],
    ["with an empty subject", () => forged({ sub: "" })],
    ["without an id", () => forged({ jti: undefined })],
    ["without a time of issue", () => forged({ iat: undefined })],
    ["whose roles are not a list", () => forged({ roles: "admin" })],
    ["with an unknown critical header", async () => handmade({ crit: ["x"], x: 1 })],
    ["without a signature", async () => new UnsecuredJWT({ sub: "u1" }).encode()],
    ["of 5,000 characters", async () => "a".repeat(5_000)],
    [
      "with two parts instead of three",
      async () => (await forged({})).split(".").slice(0, 2).join("."),
    ],
  ])("%s is invalid [API2-1]", async (_, make) => {
    const token = await make();
    expect(await failure(subject.verify(token))).toMatchObject({ code: "invalid-token" });
  });
});
