import { guardedFetch } from "../../base/guarded-fetch.ts";
import { unlessAborted } from "../../base/in-time.ts";
import { AddressError } from "../../base/public-address.ts";

import { type AddressRules, decodePart, destinationUrl } from "./address.ts";
import type { Post } from "./post.ts";
import { renewed, textsIn } from "./renewed.ts";
import type { ConnectionParts } from "./transport.ts";

const example = "https://client:secret@auth.example.com/token?scope=events";
/** Of the request, in the URL of a destination (RFC 8707 for `resource`). Others stay in the URL. */
const parameters = ["scope", "audience", "resource"];
/** Of a token without `expires_in`. */
const usualLifeSeconds = 300;
/** A 401 that comes later is the answer: with another token, the attempt could take too long. */
const secondTokenMs = 4_000;

/**
 * The request for a token of the client whose login is in a URL (RFC 6749, 4.4.2 and 2.3.1). Throws an `AddressError`,
 * which repeats no secret.
 */
export function tokenRequest(text: string, rules: AddressRules) {
  const url = URL.parse(text);
  const login = [url?.username ?? "", url?.password ?? ""].map(decodePart);
  if (url === null || login.includes("")) {
    throw new AddressError(`The URL of the token server must be like ${example}`);
  }
  const form = new URLSearchParams({ grant_type: "client_credentials" });
  for (const name of parameters) {
    for (const value of url.searchParams.getAll(name)) form.append(name, value);
    url.searchParams.delete(name);
  }
  [url.username, url.password, url.hash] = ["", "", ""];
  const encoded = login.map((part) => new URLSearchParams([["", part]]).toString().slice(1));
  const authorization = `Basic ${Buffer.from(encoded.join(":")).toString("base64")}`;
  const headers = { authorization, accept: "application/json" };
  return { url: destinationUrl(url.href, rules), init: { method: "POST", headers, body: form } };
}

/** Posts with a token of the server at `tokenUrl`. If the destination answers 401, asks for another token, once. */
export function postWithToken(
  post: Post,
  tokenUrl: string,
  { rules, resolve, clock }: Omit<ConnectionParts, "platform">,
): Post {
  const fetchUrl = guardedFetch({ allowsPrivate: rules.allowsPrivate, resolve });
  const tokens = renewed(clock, `token server ${URL.parse(tokenUrl)?.host}`, async () => {
    const { url, init } = tokenRequest(tokenUrl, rules);
    const { value, livesSeconds } = tokenIn(await fetchUrl(url, init));
    return { value, endsAtMs: clock.now() + livesSeconds * 1_000 };
  });
  return async (url, request, signal) => {
    const startedMs = performance.now();
    async function send() {
      const token = await unlessAborted(signal, tokens.get());
      const headers = { ...request.headers, authorization: `Bearer ${token}` };
      const response = await post(url, { ...request, headers }, signal, startedMs);
      if (response.status === 401) tokens.drop(token);
      return response;
    }
    const response = await send();
    const hasTime = performance.now() - startedMs < secondTokenMs;
    return response.status === 401 && hasTime ? send() : response;
  };
}

/** Reads an answer (RFC 6749, 5.1 and 5.2). The errors repeat nothing of it but its error code. */
function tokenIn({ ok, status, text }: Awaited<ReturnType<ReturnType<typeof guardedFetch>>>) {
  const names = ["access_token", "token_type", "expires_in", "error"];
  const [value = "", type = "", lives = "", code = ""] = textsIn(text, names);
  if (!ok) throw new Error(`HTTP ${status} ${/^[a-z_]{1,40}$/.exec(code)?.[0] ?? ""}`.trim());
  if (value === "") throw new Error("its answer has no access_token, or one that is too long");
  if (type.toLowerCase() !== "bearer") throw new Error("its token_type is not Bearer");
  return { value, livesSeconds: Number(lives) > 0 ? Number(lives) : usualLifeSeconds };
}
