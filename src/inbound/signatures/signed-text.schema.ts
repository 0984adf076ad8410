import { type TSchema, Type } from "@sinclair/typebox";

import { eventPlacePattern, placePattern } from "../../base/place.ts";

import { maxAheadSeconds } from "./signed-time.ts";

// What a scheme says of the text that is signed and of the signature, shared by the schemes.

export const strict = { additionalProperties: false } as const;

/** One text or a list of them. */
const oneOrMore = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Array(schema, { minItems: 1, maxItems: 8 })], { description });

export const words = <const Words extends readonly string[]>(values: Words, description: string) =>
  Type.Unsafe<Words[number]>(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description },
    ),
  );

export const placeSchema = Type.String({
  pattern: placePattern,
  description:
    "A place in the delivery: `header.<lower-case name>`, `query.<name>`, a JSON pointer such as `/event/id`, or `payload` for the whole payload.",
});

export const eventPlaceSchema = Type.String({
  pattern: eventPlacePattern,
  description: `${placeSchema.description} With \`each\`, pointers are relative to the item, and \`delivery/id\` is \`/id\` of the whole payload.`,
});

export const toleranceSeconds = Type.Integer({
  minimum: 1,
  // Idempotency keys are kept for at least 7 days, so a request sent again within the tolerance is a duplicate.
  maximum: 604_800,
  description: `The maximum age of the signed time. It may also be this far ahead of now, but at most ${maxAheadSeconds} s.`,
});

const timeUnit = words(
  ["seconds", "milliseconds", "iso8601"],
  "How the time is written. Default: `seconds`.",
);

const timestamp = Type.Object(
  {
    from: Type.Optional(
      oneOrMore(placeSchema, "Where it is: of several places, the first that is sent."),
    ),
    item: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 20,
        description: "Instead of `from`: the prefix of the item in the signature header, as `t=`.",
      }),
    ),
    unit: Type.Optional(timeUnit),
    toleranceSeconds,
  },
  {
    ...strict,
    description: "The signed time. Give either `from` or `item`.",
  },
);

const items = Type.Object(
  {
    separator: words([",", ";", " "], "What separates the items."),
    signature: Type.String({
      minLength: 1,
      maxLength: 20,
      description:
        "The prefix of items that are signatures, as `v1=` or `v1,`. Others are skipped.",
    }),
  },
  {
    ...strict,
    description: "If one value holds several signatures, or a signature and a time.",
  },
);

const encoding = words(
  ["hex", "hex-upper", "hex-any-case", "base64", "base64url"],
  "`hex` is lower case. `base64` is padded, `base64url` is not.",
);

export const secretEncoding = words(
  ["text", "base64", "hex", "whsec"],
  "How the secret becomes the key. Default: `text`, the bytes of the text. `whsec`: an optional `whsec_`, then base64 (Standard Webhooks).",
);

const from = oneOrMore(
  placeSchema,
  "Where the signature is. If several places are listed, any may be used; if several are sent, each must verify.",
);
export const prefix = Type.String({
  minLength: 1,
  maxLength: 40,
  description: "Fixed text before the encoded signature, as `sha256=`.",
});

const template = Type.String({ minLength: 1, maxLength: 1_000 });
const signs = Type.Union(
  [
    template,
    Type.Array(template, { minItems: 1, maxItems: 4 }),
    Type.Object(
      {
        lines: Type.Array(Type.String({ pattern: "^/.{1,200}$" }), { minItems: 1, maxItems: 20 }),
      },
      {
        ...strict,
        description:
          "For each of these JSON pointers that the payload has: the member's name and its value, each followed by a line break (AWS SNS).",
      },
    ),
  ],
  {
    description:
      'The signed text: fixed text and `{body}`, `{compactJson}`, `{bodySha256}`, `{bodyCrc32}`, `{method}`, `{url}`, `{urlWithPort}`, `{urlWithoutPort}`, `{path}`, `{timestamp}`, `{id}`, `{secret}`, `{form}`, `{sortedForm}` or a place, as `{header.x-id}` or `{/token}`; `{/token ?? ""}` if it may be missing. Of a list, any may match.',
  },
);

export const secretAt = Type.Optional({
  ...placeSchema,
  description:
    "A place whose value must equal the secret, as an account's id: it binds deliveries to your account where the key is the service's.",
});

/** What the schemes that sign a text have in common. */
export const signed = {
  from,
  prefix: Type.Optional(prefix),
  items: Type.Optional(items),
  encoding,
  signs,
  timestamp: Type.Optional(timestamp),
  id: Type.Optional(
    oneOrMore(
      placeSchema,
      "Where `{id}` in `signs` is: of several places, the first that is sent.",
    ),
  ),
};
