import { type TString, Type } from "@sinclair/typebox";

import { templateSchema as template } from "../../../base/template.ts";
import { placeSchema } from "../../signatures/signed-text.schema.ts";

const strict = { additionalProperties: false } as const;

/** No others: the values can come from anyone, and headers such as Set-Cookie or X-Accel-Redirect act on browsers and proxies. */
const answerHeaders = Type.Object(
  {
    "content-type": Type.Optional(
      Type.Union([Type.Literal("application/json"), Type.Literal("text/plain")], {
        description: "Default: by `json` or `text`.",
      }),
    ),
    "x-hook-secret": Type.Optional(template("The secret of the handshake, echoed.", "exact")),
  },
  { ...strict, description: "The only headers that an answer can set." },
);

const answer = Type.Object(
  {
    status: Type.Optional(
      Type.Integer({ minimum: 200, maximum: 204, description: "Default: 200." }),
    ),
    json: Type.Optional(
      Type.Record(
        Type.String({ maxLength: 100 }),
        Type.Union([template("A text.", "exact"), Type.Integer(), Type.Boolean()]),
        { maxProperties: 8, description: "A JSON object." },
      ),
    ),
    text: Type.Optional(template("Plain text, instead of `json`.", "exact")),
    headers: Type.Optional(answerHeaders),
  },
  { ...strict, description: "What is answered. Values are echoed up to 1,000 characters." },
);

export const conditionSchema = (place: TString, description: string) =>
  Type.Record(place, Type.String({ minLength: 1, maxLength: 200 }), {
    ...strict,
    minProperties: 1,
    maxProperties: 4,
    description: `${description} A value \`*\` is any value; at its end, \`*\` is any text.`,
  });

export const handshakeSchema = Type.Object(
  {
    method: Type.Optional(
      Type.Union([Type.Literal("GET"), Type.Literal("HEAD"), Type.Literal("POST")], {
        description: "`GET`: HEAD too. Default: `POST`.",
      }),
    ),
    when: Type.Optional(
      conditionSchema(
        placeSchema,
        "Places and the values that they have in a handshake. Required unless the method is HEAD.",
      ),
    ),
    verified: Type.Optional(
      Type.Boolean({
        description:
          "Whether the service signs it. Default: true, and it is answered only if it verifies.",
      }),
    ),
    stored: Type.Optional(
      Type.Boolean({
        description:
          "Whether the request is also an event. It is stored, then answered. Default: false.",
      }),
    ),
    adoptSecret: Type.Optional({
      ...placeSchema,
      description:
        "Where the service sends the secret. It is stored if the provider has none; another one is rejected.",
    }),
    confirm: Type.Optional(
      Type.Object(
        {
          from: placeSchema,
          hosts: Type.Array(Type.String(), { minItems: 1, maxItems: 8 }),
        },
        {
          ...strict,
          description:
            "A URL that is fetched once, to confirm. Only https and these hosts; `*` stands for one label, `{region}` for an AWS region.",
        },
      ),
    ),
    answer,
  },
  { ...strict, description: "A request that the service sends to test the URL." },
);
