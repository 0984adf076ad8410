import { connectionError, errorCode } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { isObject, printable } from "../../base/payload.ts";
import { plainFetch } from "../../base/plain-fetch.ts";
import { startCommand } from "../../base/program-name.ts";
import { responseText } from "../../base/response-text.ts";
import type { Config } from "../../config/config.ts";

import { messageOf } from "./errors.ts";
import { UsageError } from "./output.ts";

/** How long a command waits for an answer. */
const timeoutMs = 15_000;
/** Default limit for the size of a response. */
const maxAnswerBytes = 8 * 1024 * 1024;

export interface Answer {
  readonly status: number;
  readonly ok: boolean;
  readonly location: string | null;
  readonly text: string;
  /** The body as a JSON object; null if it is something else. */
  readonly json: Readonly<Record<string, unknown>> | null;
}

/**
 * Sends a request and reads the response within 15 seconds. Redirects are not followed, so that secrets and
 * tokens do not reach another server. Throws an error that ends in `hint` if there is no response.
 */
export async function request(
  url: string,
  init: RequestInit,
  hint: string,
  maxBytes = maxAnswerBytes,
): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await plainFetch(url, {
      ...init,
      signal,
      redirect: "manual",
      keepalive: false,
    });
    const { status, ok, headers } = response;
    const text = await responseText(response, maxBytes);
    return { status, ok, location: headers.get("location"), text, json: jsonObject(text) };
  } catch (error) {
    throw new Error(`${new URL(url).origin} cannot be reached (${reasonOf(error)}): ${hint}`, {
      cause: error,
    });
  }
}

/** A JSON object; null for any other text. */
export function jsonObject(text: string): Answer["json"] {
  try {
    const value: unknown = parseJson(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Bun's code, and that of the system. */
const refusedCodes: readonly (string | null)[] = ["ConnectionRefused", "ECONNREFUSED"];

/** Whether nothing listens at the address. */
export function isRefused(error: unknown): boolean {
  return refusedCodes.includes(errorCode(error));
}

/** Why there is no response. */
export function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") {
    return `no response within ${timeoutMs / 1_000} s`;
  }
  const known = connectionError(error);
  if (known !== null) return known;
  // Bun's messages end in advice for the program's authors. Those of its JSON parser quote the server.
  const reason = messageOf(error).replace(/\.? For more information, .*$/, "");
  return printable(reason, maxProblemLength) ?? "unknown error";
}

const maxProblemLength = 2_000;

/**
 * The code and detail of a problem (RFC 9457), else the beginning of the text. Without control characters: another
 * server than expected may have answered, and the text is for a terminal.
 */
export function problemOf({ json, text }: Answer): string {
  const { code, detail } = json ?? {};
  if (typeof code === "string" && typeof detail === "string") {
    return printable(`${code}: ${detail}`, maxProblemLength) ?? "(empty response)";
  }
  return printable(text, 200) ?? "(empty response)";
}

/** The hint for a server that does not respond. */
export const isItRunning = `is \`${startCommand}\` running? --server names another one`;

/** The URL of a server with this configuration on this machine. */
export function localUrl({ host, port }: Pick<Config, "host" | "port">): string {
  if (port === 0)
    throw new UsageError("PORT is 0, so the server's URL is unknown: pass it with --server");
  const address = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** An http or https URL without the trailing slash. Throws an `Error` that says what to write. */
export function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new Error("Write a URL like http://127.0.0.1:3111.");
  }
  return url.href.replace(/\/+$/, "");
}
