import { Type } from "@sinclair/typebox";

import { type BodyError, bodyReader } from "../../base/validation.ts";
import { maxFileCharacters } from "../providers/files/checked-file.ts";
import { providerIdPattern } from "../providers/files/folder.ts";
import { maxSecretCharacters } from "../signatures/usable-secret.ts";

const secretFields = {
  secret: Type.Optional(
    Type.String({
      maxLength: maxSecretCharacters,
      errorMessage: `Write at most ${maxSecretCharacters} characters`,
      description:
        "What the service signs with; for a public-key scheme the service's public key. It is never shown again.",
    }),
  ),
  makeSecret: Type.Optional(
    Type.Boolean({ description: "Make a random secret, or a pair of test keys, instead." }),
  ),
};

export const newProviderSchema = Type.Object(
  {
    catalogue: Type.Optional(
      Type.String({
        maxLength: 40,
        description: "A name of the catalogue. Give either this or `file`.",
        examples: ["slack"],
      }),
    ),
    file: Type.Optional(
      Type.String({
        maxLength: maxFileCharacters,
        errorMessage: `Write at most ${maxFileCharacters} characters`,
        description: "The text of a provider file: YAML or JSON.",
      }),
    ),
    id: Type.Optional(
      Type.String({
        pattern: providerIdPattern.source,
        errorMessage: "Use 1 to 40 lower-case letters, digits and _, beginning with a letter",
        description: "The provider's name. Default: the catalogue's; required with `file`.",
        examples: ["slack_eu"],
      }),
    ),
    ...secretFields,
  },
  {
    $id: "NewProvider",
    description: "A provider to add.",
    examples: [{ catalogue: "slack", makeSecret: true }],
  },
);

export const newSecretSchema = Type.Object(secretFields, {
  $id: "NewWebhookSecret",
  description: "Give either `secret` or `makeSecret`.",
  examples: [{ makeSecret: true }],
});

export const testEventSchema = Type.Object(
  {
    event: Type.Optional(
      Type.String({
        maxLength: 100,
        description: "A sample of the provider. Default: the first one.",
        examples: ["app_mention"],
      }),
    ),
  },
  { $id: "TestEvent", description: "Which sample to send.", examples: [{ event: "app_mention" }] },
);

export const readNewProvider = bodyReader(newProviderSchema, "validation-failed", (body) => [
  ...choiceErrors(body),
  ...secretErrors(body, false),
]);

export const readNewSecret = bodyReader(newSecretSchema, "validation-failed", (body) =>
  secretErrors(body, true),
);

export const readTestEvent = bodyReader(testEventSchema, "validation-failed");

function choiceErrors(body: unknown): readonly BodyError[] {
  const has = (name: string) => isGiven(body, name);
  if (has("catalogue") === has("file")) {
    return [{ pointer: "", kind: "rule", detail: "Give either catalogue or file" }];
  }
  if (has("file") && !has("id")) {
    return [{ pointer: "/id", kind: "rule", detail: "Required with file: it names the provider" }];
  }
  return [];
}

function secretErrors(body: unknown, isRequired: boolean): readonly BodyError[] {
  const isMade = isGiven(body, "makeSecret") && Object(body).makeSecret === true;
  const isBoth = isMade && isGiven(body, "secret");
  const isNone = isRequired && !isMade && !isGiven(body, "secret");
  if (!isBoth && !isNone) return [];
  return [{ pointer: "/secret", kind: "rule", detail: "Give either secret or makeSecret" }];
}

function isGiven(body: unknown, name: string): boolean {
  return typeof body === "object" && body !== null && Object.hasOwn(body, name);
}
