import { type Static, Type } from "@sinclair/typebox";

import {
  placeSchema,
  prefix,
  secretAt,
  secretEncoding,
  signed,
  strict,
  toleranceSeconds,
  words,
} from "./signed-text.schema.ts";

// The signature part of a provider, as data. Built-in providers and provider files share it.

const keySource = Type.Object(
  {
    url: Type.Optional(
      Type.String({ pattern: "^https?://", maxLength: 500, description: "A fixed URL." }),
    ),
    from: Type.Optional({ ...placeSchema, description: "Instead of `url`: where the URL is." }),
    hosts: Type.Optional(
      Type.Array(
        Type.String({ pattern: "^(?:\\{region\\}\\.|[a-z0-9*-]+\\.)*[a-z0-9-]+\\.[a-z]{2,}$" }),
        {
          minItems: 1,
          maxItems: 8,
          description:
            "With `from`, required: the only hosts that keys are fetched from. `*` stands for one label, `{region}` for an AWS region.",
        },
      ),
    ),
    path: Type.Optional(
      Type.String({
        pattern: "^/[A-Za-z0-9._/-]*(?:\\{hex\\}[A-Za-z0-9._/-]*)?$",
        maxLength: 200,
        description:
          "With `from`: the only path that keys are fetched from. `{hex}` stands for lower-case hexadecimal digits.",
      }),
    ),
    format: words(
      ["certificate", "public-key", "jwks", "jwk"],
      "What is there: an X.509 certificate (PEM), a public key (PEM, base64 or hex), or JSON Web Keys.",
    ),
    at: Type.Optional({
      ...placeSchema,
      description: "The JSON pointer to the key in the response.",
    }),
    expiresAt: Type.Optional({
      ...placeSchema,
      description:
        "The JSON pointer to the time in the response from which the key must not be used, in seconds since 1970. Null: none.",
    }),
    post: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 200 }), {
        description:
          "Send a POST with this JSON object. `{kid}`, `{user}` and `{password}` are replaced; the secret is then `user:password`.",
      }),
    ),
    cacheMinutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_440 })),
  },
  {
    ...strict,
    description:
      "Where the service publishes its key. Without it, the provider's secret is the public key (hex, base64 or PEM).",
  },
);

const digest = words(["sha1", "sha256", "sha384", "sha512"], "The hash function.");

const hmacSchema = Type.Object(
  {
    kind: Type.Literal("hmac"),
    algorithm: digest,
    secretEncoding: Type.Optional(secretEncoding),
    ...signed,
  },
  { ...strict, description: "An HMAC (RFC 2104) with a shared secret." },
);

const publicKey = { ...signed, key: Type.Optional(keySource), secretAt };

const ed25519Schema = Type.Object(
  { kind: Type.Literal("ed25519"), ...publicKey },
  { ...strict, description: "An Ed25519 signature (RFC 8032)." },
);

const ecdsaSchema = Type.Object(
  {
    kind: Type.Literal("ecdsa-p256"),
    format: words(["der", "ieee-p1363"], "How the two numbers of the signature are written."),
    ...publicKey,
  },
  { ...strict, description: "An ECDSA signature on P-256 with SHA-256 (FIPS 186-5)." },
);

const rsaSchema = Type.Object(
  {
    kind: words(
      ["rsa-pkcs1", "rsa-pss"],
      "RSASSA-PKCS1-v1_5 or RSASSA-PSS (RFC 8017); the salt of PSS is as long as the hash.",
    ),
    algorithm: digest,
    ...publicKey,
  },
  { ...strict, description: "An RSA signature." },
);

const jwtSchema = Type.Object(
  {
    kind: Type.Literal("jwt"),
    from: Type.Union([Type.Literal("body"), placeSchema], {
      description: "Where the token is. `body`: the whole body is the token.",
    }),
    prefix: Type.Optional(prefix),
    algorithms: Type.Array(
      words(
        [
          "HS256",
          "HS384",
          "HS512",
          "RS256",
          "RS384",
          "RS512",
          "PS256",
          "PS384",
          "PS512",
          "ES256",
          "EdDSA",
        ],
        "",
      ),
      { minItems: 1, maxItems: 4, description: "The only algorithms that are accepted." },
    ),
    secretEncoding: Type.Optional(secretEncoding),
    toleranceSeconds: Type.Optional(toleranceSeconds),
    bodyHash: Type.Optional(
      Type.Union([
        Type.Object(
          {
            claim: Type.String({ minLength: 1, maxLength: 100 }),
            algorithm: words(["sha256", "sha384", "sha512"], "The hash function."),
            encoding: words(["hex", "base64", "base64url"], "How the hash is written."),
          },
          { ...strict, description: "The claim that holds the hash of the body." },
        ),
        Type.Literal("none", {
          description:
            "The token does not cover the body. As weak as a shared secret until the token expires.",
        }),
      ]),
    ),
    issuer: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    audience: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: "`{secret}`: the secret; `{url}`: the URL as the service knows it.",
      }),
    ),
    claims: Type.Optional(
      Type.Record(
        Type.String({ minLength: 1, maxLength: 100 }),
        Type.Union([Type.String({ minLength: 1, maxLength: 500 }), Type.Boolean()]),
        {
          minProperties: 1,
          maxProperties: 4,
          description: "Other claims that the token must have. `{secret}` stands for the secret.",
        },
      ),
    ),
    key: Type.Optional(keySource),
    secretAt,
  },
  {
    ...strict,
    description:
      "A JSON Web Token (RFC 7519). With `from: body` or a JSON pointer and `payload: jwt`, its claims are the payload; elsewhere it needs `bodyHash`.",
  },
);

const sharedSecretSchema = Type.Object(
  { kind: Type.Literal("shared-secret"), from: placeSchema, prefix: Type.Optional(prefix) },
  {
    ...strict,
    description:
      "The secret itself, sent with each delivery. Weaker than a signature: anyone who sees one delivery can make others.",
  },
);

const basicAuthSchema = Type.Object(
  { kind: Type.Literal("basic-auth") },
  {
    ...strict,
    description:
      "HTTP basic authentication (RFC 7617); the secret is `user:password`. As weak as a shared secret.",
  },
);

const urlSchema = Type.Object(
  { kind: Type.Literal("url") },
  {
    ...strict,
    description:
      "For services that cannot sign: the secret is the end of the URL, as `/webhooks/{provider}/{secret}`. The weakest: a URL is seen by more programs and people than a header.",
  },
);

export const schemeSchema = Type.Union(
  [
    hmacSchema,
    ed25519Schema,
    ecdsaSchema,
    rsaSchema,
    jwtSchema,
    sharedSecretSchema,
    basicAuthSchema,
    urlSchema,
  ],
  { description: "How the service proves that a delivery comes from it." },
);

export type HmacScheme = Static<typeof hmacSchema>;
export type PublicKeyScheme = Static<typeof ed25519Schema | typeof ecdsaSchema | typeof rsaSchema>;
export type JwtScheme = Static<typeof jwtSchema>;
export type SharedSecretScheme = Static<typeof sharedSecretSchema>;
export type BasicAuthScheme = Static<typeof basicAuthSchema>;
export type UrlScheme = Static<typeof urlSchema>;
/** The schemes that sign a text. */
export type TextScheme = HmacScheme | PublicKeyScheme;
export type KeySource = Static<typeof keySource>;
