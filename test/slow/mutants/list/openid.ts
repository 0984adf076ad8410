import type { Mutant } from "../mutant.ts";

const issuer = "src/identity/oidc/issuer.ts";
const service = "src/identity/oidc/oidc.ts";
const tests = "test/identity/oidc/oidc.test.ts";

/** Ways to break sign-in by OpenID Connect. */
export const openid: readonly Mutant[] = [
  {
    name: "oidc-state-unchecked",
    breaks: "only the browser that began a sign-in ends it",
    changes: [
      [
        issuer,
        "(server, client, parameters, state);",
        "(server, client, parameters, library.skipStateCheck);",
      ],
    ],
    noticedBy: [tests, `rejects a callback with the parameter state="wrong"`],
  },
  {
    name: "oidc-nonce-unchecked",
    breaks: "an ID token is for the sign-in that asked for it",
    changes: [
      [
        issuer,
        "{ expectedNonce: nonce, requireIdToken: true }",
        `{
                expectedNonce: JSON.parse(
                  atob(JSON.parse(await response.clone().text()).id_token.split(".")[1]),
                ).nonce ?? library.expectNoNonce,
                requireIdToken: true,
              }`,
      ],
    ],
    noticedBy: [tests, "rejects an ID token with another nonce [API2-16]"],
  },
  {
    name: "oidc-verifier-constant",
    breaks: "a stolen code is of no use without the verifier",
    changes: [[issuer, "library.generateRandomCodeVerifier()", `"v".repeat(43)`]],
    noticedBy: [tests, "has its own state, nonce and verifier"],
  },
  {
    name: "oidc-signature-unchecked",
    breaks: "an ID token is signed by a key of the issuer",
    changes: [
      [issuer, "await library.validateApplicationLevelSignature(server, response, options);", ""],
    ],
    noticedBy: [tests, "rejects an ID token that is signed with: hidden [API2-19]"],
  },
  {
    name: "oidc-callback-repeated",
    breaks: "a callback works once",
    changes: [[service, "await markUsed(attempt);", ""]],
    noticedBy: [tests, "a replayed callback opens no session [API2-17]"],
  },
  {
    name: "oidc-mixed-up",
    breaks: "the code of one issuer is never sent to another",
    changes: [[service, "JSON.stringify([name, clientId, redirectUri])", `"oidc"`]],
    noticedBy: [tests, "sends no code to another issuer"],
  },
  {
    name: "oidc-role-in-group-name",
    breaks: "a group whose name ends in a role grants none",
    changes: [
      [
        "src/identity/auth/role-claim.ts",
        "Array.isArray(value) ? value : [value];",
        "Array.isArray(value) ? value : String(value).split(/[\\s,]+/);",
      ],
    ],
    noticedBy: ["test/identity/auth/role-claim.test.ts", '{"roles":"Sales admin"}'],
  },
  {
    name: "oidc-private-endpoint",
    breaks: "no metadata makes the server call a private address",
    changes: [
      [
        "src/identity/oidc/endpoints.ts",
        "url.origin === issuer.origin || (await isPrivate(issuer, resolve))",
        `url.origin === issuer.origin || (await isPrivate(issuer, resolve)) || url.hostname !== ""`,
      ],
    ],
    noticedBy: [
      "test/identity/oidc/endpoints.test.ts",
      `is refused at a private address: https://127.0.0.1:8443/token [] [API7-7]`,
    ],
  },
];
