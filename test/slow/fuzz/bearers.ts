import { createHmac } from "node:crypto";

import fc from "fast-check";

import { jwtSecret } from "../../support/load.ts";

import { jsonText } from "./json.ts";
import { type FuzzRequest, get } from "./request.ts";
import { requestTarget } from "./target.ts";
import { hostileHeaderValue } from "./text.ts";

const base64url = (text: string): string => Buffer.from(text.toWellFormed()).toString("base64url");
const inHours = (hours: number): number => Math.floor(Date.now() / 1_000) + hours * 3_600;

/** A token that is good but for what is changed in it. */
interface Forgery {
  readonly header: Readonly<Record<string, string>>;
  readonly claims: Readonly<Record<string, string>>;
  readonly key: string;
  readonly hash: string;
}

const goodHeader = { alg: '"HS256"', typ: '"at+jwt"' };
const goodClaims = () => ({
  iss: '"skyhook"',
  aud: '"skyhook"',
  sub: '"fuzz-user"',
  jti: '"1"',
  iat: String(inHours(0)),
  exp: String(inHours(1)),
  roles: '["admin"]',
});

/** Single faults; each alone must keep the token from opening anything. */
const forgeries: fc.Arbitrary<Partial<Forgery>> = fc.oneof(
  fc
    .constantFrom('"none"', '"None"', '"HS512"', '"HS384"', '"RS256"', "null", '""', "[]", "256")
    .map((alg) => ({ header: { ...goodHeader, alg } })),
  fc
    .constantFrom('"JWT"', '"jwt"', "null", '"at+jwt "')
    .map((typ) => ({ header: { ...goodHeader, typ } })),
  fc.constantFrom('["x"]', '["b64"]').map((crit) => ({ header: { ...goodHeader, crit } })),
  fc
    .constantFrom('"other"', "null", "1", '"Skyhook"', '["skyhook"]')
    .map((iss) => ({ claims: { ...goodClaims(), iss } })),
  fc
    .constantFrom('"other"', "null", "[]", '["other"]')
    .map((aud) => ({ claims: { ...goodClaims(), aud } })),
  fc
    .constantFrom("0", "-1", '"9999999999"', "null", String(inHours(-1)))
    .map((exp) => ({ claims: { ...goodClaims(), exp } })),
  fc.constantFrom('""', "null", "1", "{}").map((sub) => ({ claims: { ...goodClaims(), sub } })),
  fc
    .constantFrom('"admin"', "{}", "null", '{"0":"admin","length":1}')
    .map((roles) => ({ claims: { ...goodClaims(), roles } })),
  fc.constantFrom(String(inHours(2)), '"1"').map((nbf) => ({ claims: { ...goodClaims(), nbf } })),
  fc.constantFrom("", "skyhook", `${jwtSecret} `, jwtSecret.toUpperCase()).map((key) => ({ key })),
  fc.constantFrom("sha1", "sha384", "sha512").map((hash) => ({ hash })),
);

const objectText = (fields: Readonly<Record<string, string>>): string =>
  `{${Object.entries(fields)
    .map(([name, value]) => `"${name}":${value}`)
    .join(",")}}`;

function tokenOf(forgery: Partial<Forgery>): string {
  const { header = goodHeader, claims = goodClaims(), key = jwtSecret, hash = "sha256" } = forgery;
  const signed = `${base64url(objectText(header))}.${base64url(objectText(claims))}`;
  return `${signed}.${createHmac(hash, key).update(signed).digest("base64url")}`;
}

/** Anything that is no token of ours, signed by our own key or not. */
const badToken: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: forgeries.map(tokenOf) },
  {
    weight: 2,
    arbitrary: fc.tuple(jsonText, jsonText).map(([header, claims]) => {
      const signed = `${base64url(header)}.${base64url(claims)}`;
      return `${signed}.${createHmac("sha256", jwtSecret).update(signed).digest("base64url")}`;
    }),
  },
  // Changed after it was signed; but for the last letter, which has bits that count for nothing.
  fc.nat(10_000).map((place) => {
    const token = tokenOf({});
    const index = place % (token.length - 1);
    return token.slice(0, index) + (token[index] === "A" ? "B" : "A") + token.slice(index + 1);
  }),
  fc.constantFrom(
    "..",
    "a.b",
    "a.b.c.d",
    "e30.e30.",
    "x".repeat(5_000),
    `${tokenOf({})}.`,
    tokenOf({}).replace(/\.[^.]+$/, "."),
  ),
  hostileHeaderValue,
);

const requests: fc.Arbitrary<FuzzRequest> = fc
  .record({
    token: badToken,
    scheme: fc.constantFrom("Bearer ", "Bearer ", "Bearer ", "bearer  ", "Basic ", ""),
    path: fc.constantFrom(
      "/v1/api/bookings",
      "/v1/users",
      "/v1/events",
      "/v1/feed",
      "/v1/events/feed",
      "/v1/rejections",
    ),
  })
  .map(({ token, scheme, path }) => ({
    ...get(path),
    headers: [["authorization", `${scheme}${token}`]],
  }));

export const bearers = requestTarget({
  name: "bearers",
  about: "forged, damaged and malformed bearer tokens: none opens anything",
  shortRuns: 200,
  requests,
  expect(_, { status }) {
    if (status !== 401) throw new Error(`A bad token is answered ${status}`);
  },
});
