import { Elysia } from "elysia";

import { AppError } from "../../base/errors.ts";
import { membersOf } from "../../base/json-text.ts";
import { readBytes } from "../../web/body.ts";
import type { AddressOf } from "../../web/client-address.ts";
import { problemResponses } from "../../web/rest/problem.schema.ts";
import { type FailureLimiter, requireUnblocked, tooManyFailures } from "../limiter.ts";

import { type AccessToken, accessTokenSchema, tokenRequestSchema } from "./access-token.schema.ts";
import type { Clients } from "./clients.ts";

interface Parts {
  readonly clients: Clients;
  readonly limiter: FailureLimiter;
  readonly addressOf: AddressOf;
}

const maxBodyBytes = 16 * 1024;

/** The client-credentials grant (RFC 6749 section 4.4), as a form or as JSON. */
export const authRest = ({ clients, limiter, addressOf }: Parts) =>
  new Elysia({ name: "auth" }).post(
    "/v1/auth/token",
    async (exchange): Promise<AccessToken> => {
      exchange.set.headers["cache-control"] = "no-store";
      const address = addressOf(exchange);
      return countingFailures(limiter, address, async () => {
        const { id, secret } = await readCredentials(exchange.request, address);
        return clients.grant(id, secret);
      });
    },
    {
      parse: "none",
      body: tokenRequestSchema,
      response: { 200: accessTokenSchema, ...problemResponses(401, 413, 415, 429) },
      detail: {
        operationId: "issueToken",
        tags: ["Authentication"],
        security: [{}, { client: [] }],
        summary: "Get an access token",
        description:
          "For clients made by `skyhook client add`. Limited to 20 failed attempts per address and minute.",
      },
    },
  );

/** Throws `too-many-auth-failures` for a blocked address, and counts credentials of a client that are wrong. */
export async function countingFailures<Result>(
  limiter: FailureLimiter,
  address: string,
  authenticated: () => Promise<Result>,
): Promise<Result> {
  requireUnblocked(limiter, address);
  try {
    return await authenticated();
  } catch (error) {
    const isFailure = error instanceof AppError && error.code === "authentication-required";
    if (isFailure && !limiter.fail(address)) throw tooManyFailures(limiter, address);
    throw error;
  }
}

interface Credentials {
  readonly id: string;
  readonly secret: string;
}

async function readCredentials(request: Request, address: string): Promise<Credentials> {
  const fields = await readFields(request, address);
  const grantType = fields.get("grant_type");
  if (grantType !== "client_credentials") {
    const detail = "grant_type must be client_credentials";
    const error = grantType === undefined ? "invalid_request" : "unsupported_grant_type";
    throw badFields(detail, ["grant_type"], error);
  }
  const sent = clientIn(request, fields);
  if (sent !== null) return sent;
  const missing = ["client_id", "client_secret"].filter((name) => !fields.has(name));
  throw badFields("client_id and client_secret are required", missing, "invalid_request");
}

/** A client's credentials, from the body or from HTTP Basic (RFC 6749 section 2.3.1); null if one is missing. */
export function clientIn(
  request: Request,
  fields: ReadonlyMap<string, string>,
): Credentials | null {
  const header = request.headers.get("authorization") ?? "";
  const basic = basicCredentials(header);
  if (basic === null && /^basic(?: |$)/i.test(header)) {
    // The response to a client that used Basic (RFC 6749 section 5.2).
    const detail = "The Authorization header is malformed. Send Basic and base64 of id:secret";
    throw new AppError("authentication-required", detail, { oauthError: "invalid_client" });
  }
  if (
    basic !== null &&
    (fields.has("client_secret") || (fields.get("client_id") ?? basic.id) !== basic.id)
  ) {
    const detail = "Send the client's id and secret once: in the header or in the body";
    throw badFields(detail, ["client_id", "client_secret"], "invalid_request");
  }
  const id = basic?.id ?? fields.get("client_id");
  const secret = basic?.secret ?? fields.get("client_secret");
  return id === undefined || secret === undefined ? null : { id, secret };
}

export function badFields(
  detail: string,
  names: readonly string[],
  oauthError: "invalid_request" | "unsupported_grant_type",
): AppError {
  const errors = names.map((name) => ({ pointer: `/${name}`, code: "rule-broken", detail }));
  return new AppError("bad-request", detail, { errors, oauthError });
}

/** The parameters of a form or of a JSON object. */
export async function readFields(request: Request, address: string): Promise<Map<string, string>> {
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";", 1);
  const text = await readText(request, address);
  switch (type.trim().toLowerCase()) {
    case "application/x-www-form-urlencoded":
      return fieldsOf([...new URLSearchParams(text)]);
    case "application/json":
      return fieldsOf(membersIn(text));
    default: {
      const accept = "application/x-www-form-urlencoded, application/json";
      throw new AppError("unsupported-media-type", `Send one of: ${accept}`, { accept });
    }
  }
}

async function readText(request: Request, address: string): Promise<string> {
  return new TextDecoder().decode(await readBytes(request, maxBodyBytes, address));
}

/** The members of a JSON object. */
function membersIn(json: string): [string, unknown][] {
  try {
    JSON.parse(json);
  } catch {
    throw new AppError("invalid-body", "The body is not JSON", { oauthError: "invalid_request" });
  }
  return membersOf(json).map(({ name, text }) => [name, JSON.parse(text)]);
}

/** The parameters that are texts. None may be sent twice, and an empty one is none (RFC 6749 section 3.2). */
function fieldsOf(sent: readonly [string, unknown][]): Map<string, string> {
  const names = sent.map(([name]) => name);
  const repeated = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
  if (repeated.length > 0) {
    throw badFields(`${repeated.join(", ")} must not be repeated`, repeated, "invalid_request");
  }
  return new Map(
    sent.filter(
      (field): field is [string, string] => typeof field[1] === "string" && field[1] !== "",
    ),
  );
}

function basicCredentials(header: string): Credentials | null {
  const encoded = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(header)?.[1];
  if (encoded === undefined) return null;
  const [id = "", ...rest] = Buffer.from(encoded, "base64").toString().split(":");
  // RFC 6749 section 2.3.1: both are form-encoded before they are joined.
  return { id: formDecoded(id), secret: formDecoded(rest.join(":")) };
}

function formDecoded(text: string): string {
  return new URLSearchParams(`v=${text.replaceAll("&", "%26")}`).get("v") ?? "";
}
