import type { Mutant } from "../mutant.ts";

const tests = "test/inbound/onboarding/onboarding.test.ts";

/** Admins add and connect providers; a mistake changes nothing. */
export const onboarding: readonly Mutant[] = [
  {
    name: "operators-add-providers",
    breaks: "only admins add and connect providers",
    changes: [
      [
        "src/inbound/onboarding/onboarding.ts",
        "requireAdmin(ctx);\n      return catalogue();",
        "return catalogue();",
      ],
    ],
    noticedBy: [tests, "the role operator gets 403 everywhere"],
  },
  {
    name: "failed-addition-leaves-its-secret",
    breaks: "a provider that cannot be added leaves nothing behind",
    changes: [
      [
        "src/inbound/onboarding/onboarding.ts",
        "if (added !== null) secrets.removeWebhookSecret(id);",
        "",
      ],
    ],
    noticedBy: [tests, "says that the folder of PROVIDERS_DIR cannot be written"],
  },
  {
    name: "added-secret-shown-again",
    breaks: "a pasted secret is never shown",
    changes: [
      [
        "src/inbound/onboarding/onboarding.ts",
        "return { ...setupOf(find(id)), madeSecret: added?.isMade === true ? added.secret : null };\n    },\n\n    async setSecret",
        "return { ...setupOf(find(id)), madeSecret: added?.secret ?? null };\n    },\n\n    async setSecret",
      ],
    ],
    noticedBy: [tests, "from the catalogue stores file and secret, and receives at once"],
  },
  {
    name: "weak-secret-accepted",
    breaks: "a secret that others can guess or know is not stored",
    changes: [
      [
        "src/inbound/onboarding/provider-secrets.ts",
        "\n  requireStrong(text, provider, registered);",
        "",
      ],
    ],
    noticedBy: [tests, "is rejected with what to do, wherever it is entered"],
  },
  {
    name: "shared-secret-adopted",
    breaks: "a secret of another provider is not stored from a handshake",
    changes: [
      [
        "src/inbound/receive/handshakes.ts",
        "weaknessOf(secret, provider, registry)",
        "weaknessOf(secret, provider, [])",
      ],
    ],
    noticedBy: [
      "test/inbound/receive/provider-files.test.ts",
      "is not stored if others can guess or know it",
    ],
  },
  {
    name: "used-secret-dropped",
    breaks: "a second replacement keeps the secret that the service still signs with",
    changes: [
      [
        "src/inbound/onboarding/provider-secrets.ts",
        'return lastMs("previous") > lastMs("current") ? "previous" : "current";',
        'return lastMs("previous") > lastMs("current") ? "current" : "current";',
      ],
    ],
    noticedBy: [tests, "keeps the secret that the service still signs with"],
  },
  {
    name: "test-event-moves-a-rotation",
    breaks: "a test event does not show which secret the service signs with",
    changes: [["src/inbound/receive/receive.ts", "if (delivery.isTest !== true) {", "{"]],
    noticedBy: [tests, "keeps the secret that the service still signs with"],
  },
  {
    name: "provider-file-replaced",
    breaks: "a new file replaces nothing and follows no link",
    changes: [
      [
        "src/base/private-file.ts",
        "linkSync(temporary, file);\n  } catch (error) {\n    if (lstatSync",
        "renameSync(temporary, file);\n  } catch (error) {\n    if (lstatSync",
      ],
    ],
    noticedBy: ["test/base/private-file.test.ts", "a new file replaces nothing"],
  },
  {
    name: "key-fetch-unguarded",
    breaks: "a provider file cannot make the server call private addresses",
    changes: [
      [
        "src/base/guarded-fetch.ts",
        "if (allowsPrivate) return null;",
        'if (url.host !== "") return null;',
      ],
    ],
    noticedBy: [
      "test/inbound/receive/provider-files.test.ts",
      "a stranger's key id causes 0 requests to this machine",
    ],
  },
  {
    name: "answer-headers-free",
    breaks: "an answer to a handshake has no headers of a file's choice",
    changes: [
      [
        "src/inbound/providers/files/handshake.schema.ts",
        `{ ...strict, description: "The only headers that an answer can set." }`,
        `{ description: "The only headers that an answer can set." }`,
      ],
    ],
    noticedBy: [
      "test/inbound/providers/files/provider-file.test.ts",
      "cannot have handshakes answered with the header",
    ],
  },
  {
    name: "confirmed-key-evicted",
    breaks: "a key that verified a delivery is not evicted by naming others",
    changes: [
      [
        "src/inbound/signatures/key-store.ts",
        "setNewest(group.confirmed, name, cached, maxKeys);",
        "setNewest(group.fetched, name, cached, maxKeys);",
      ],
    ],
    noticedBy: [
      "test/inbound/signatures/tokens.test.ts",
      "cannot evict a key that verified a delivery by naming others of the service",
    ],
  },
];
