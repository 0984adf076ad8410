import { withHeaders } from "@elysiajs/openapi/openapi";
import { type TSchema, Type } from "@sinclair/typebox";

/** A schema whose answer, say the API documents, has headers: what each is for, by name. */
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
  Link: "The pages next to this one, as `rel=next` and `rel=prev` (RFC 8288).",
};

export const totalHeaders = {
  "X-Total-Count": "Items in the whole list; only with `include=total`.",
};

export const madeHeaders = {
  Location: "Where the new thing can be read.",
  "Idempotent-Replayed": "`true` when a request with this Idempotency-Key had made it before.",
};
