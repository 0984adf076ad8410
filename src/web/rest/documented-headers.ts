import { withHeaders } from "@elysiajs/openapi/openapi";
import { type TSchema, Type } from "@sinclair/typebox";

/** Documents response headers, as descriptions by header name. */
export function documentedHeaders<Schema extends TSchema>(
  schema: Schema,
  headers: Readonly<Record<string, string>>,
): Schema {
  const schemas = Object.entries(headers).map(([name, description]) => [
    name,
    Type.String({ description }),
  ]);
  return withHeaders(schema, Object.fromEntries(schemas));
}

export const linkHeaders = {
  Link: "The next and previous pages, as `rel=next` and `rel=prev` (RFC 8288).",
};

export const totalHeaders = {
  "X-Total-Count": "The number of items in the whole list. Only with `include=total`.",
};

export const locationHeader = { Location: "The URL of the new resource." };

export const madeHeaders = {
  ...locationHeader,
  "Idempotent-Replayed":
    "`true` if an earlier request with this Idempotency-Key created the resource.",
};
