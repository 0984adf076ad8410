import type { Config } from "../config/config.ts";
import { responseText } from "../base/response-text.ts";
import { isObject, printable } from "../gateway/providers/payload.ts";

import { codeOf, messageOf } from "./failures.ts";
import { UsageError } from "./output.ts";
import { programName } from "./program.ts";

/** How long a command waits for an answer. */
const timeoutMs = 15_000;
/** More than this of an answer is not read, unless more is asked for. */
const maxAnswerBytes = 8 * 1024 * 1024;

export interface Answer {
  readonly status: number;
  /** In the 200s. */
  readonly ok: boolean;
  readonly location: string | null;
  readonly text: string;
  /** The JSON object of the body; null when it is none. */
  readonly json: Readonly<Record<string, unknown>> | null;
}

/**
 * Sends a request and reads the whole answer, within 15 seconds. Redirects are not followed: secrets
 * and tokens go where they were meant to. Throws an error that ends in `hint` when no answer comes.
 */
export async function request(
  url: string,
  init: RequestInit,
  hint: string,
  maxBytes = maxAnswerBytes,
): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { ...init, signal, redirect: "manual", keepalive: false });
    const { status, ok, headers } = response;
    const text = await responseText(response, maxBytes);
    return { status, ok, location: headers.get("location"), text, json: parse(text) };
  } catch (error) {
    throw new Error(`${new URL(url).origin} cannot be reached (${reasonOf(error)}): ${hint}`, {
      cause: error,
    });
  }
}

function parse(text: string): Answer["json"] {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") {
    return `no answer in ${timeoutMs / 1_000} s`;
  }
  if (codeOf(error) === "ECONNREFUSED") return "nothing listens there";
  if (codeOf(error) === "ENOTFOUND") return "its name is not known";
  return messageOf(error);
}

/** What an answer says is wrong: the code and detail of a problem (RFC 9457), else its first words. */
export function problemOf({ json, text }: Answer): string {
  const { code, detail } = json ?? {};
  if (typeof code === "string" && typeof detail === "string") return `${code}: ${detail}`;
  return printable(text, 200) ?? "(an empty answer)";
}

/** What to do when the server does not answer. */
export const isItRunning = `is \`${programName} serve\` running? --url names another address`;

/** Where a server of this configuration answers on this machine. */
export function localUrl({ host, port }: Pick<Config, "host" | "port">): string {
  if (port === 0) throw new UsageError("PORT is 0, so the address is not known: give it by --url");
  const address = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** An http or https URL without the slash at its end. Throws an `Error` that says what to write. */
export function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new Error("Write a URL like http://127.0.0.1:3111.");
  }
  return url.href.replace(/\/+$/, "");
}

/** Whether a URL stays on this machine. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}
