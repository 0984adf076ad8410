import { unlessAborted } from "../../../base/in-time.ts";
import { AddressError } from "../../../base/public-address.ts";
import { addressLookup, type AddressRules, decodePart, destinationUrl } from "../address.ts";
import { poster, type PostRequest, type PostResponse } from "../post.ts";
import { bytesOf, type ConnectionParts, TransportError } from "../transport.ts";

import { type AwsCredentials, platformCredentials } from "./platform-credentials.ts";

const maxAnswerBytes = 64 * 1024;

/** A URL of Amazon Web Services or a compatible service. */
export interface AwsTarget {
  /** Without the login and the parameters below. */
  readonly url: URL;
  /** What signs requests to it; null: the credentials that this server has from its platform. */
  readonly login: AwsCredentials | null;
  readonly region: string;
}

/** Parses a URL, with `key:secret@` or without a login. Throws an `AddressError`, which repeats no secret. */
export function awsTarget(text: string, example: string, rules: AddressRules): AwsTarget {
  const parsed = URL.parse(text);
  const [accessKeyId, secretAccessKey] = [parsed?.username ?? "", parsed?.password ?? ""].map(
    decodePart,
  );
  if (parsed === null || !accessKeyId !== !secretAccessKey) {
    throw new AddressError(`The URL must be like ${example}`);
  }
  const sessionToken = parsed.searchParams.get("sessionToken");
  const region = parsed.searchParams.get("region") ?? regionIn(parsed.hostname);
  // It is a part of the host that the server's own token is sent to.
  if (region === undefined || !/^[\w-]{1,40}$/.test(region)) {
    throw new AddressError(`The URL must have region=, like ${example}`);
  }
  [parsed.username, parsed.password, parsed.search] = ["", "", ""];
  const url = destinationUrl(parsed.href, rules);
  const login =
    accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, sessionToken } : null;
  return { url, login, region };
}

/** `eu-west-1` in `sqs.eu-west-1.amazonaws.com`. */
const regionIn = (host: string) =>
  /(?:^|\.)([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com(?:\.cn)?$/.exec(host)?.[1];

interface AwsRequest extends Required<PostRequest> {
  readonly url: URL;
}

export type AwsSend = (request: AwsRequest, signal: AbortSignal) => Promise<PostResponse>;

/**
 * Returns how to send requests that are signed with Signature Version 4, the hash of the body included, so that a changed
 * body is refused. Throws a `TransportError` for any status but 2xx.
 */
export function awsSender(
  { login, region }: AwsTarget,
  service: "sqs" | "s3",
  parts: ConnectionParts,
): AwsSend {
  const { clock } = parts;
  const post = poster({
    clock,
    addressesOf: addressLookup(parts),
    // Any web server could answer 200. The answer of a queue names the message.
    ...(service === "sqs" && { maxAnswerBytes }),
  });
  const credentials =
    login === null ? platformCredentials(parts, region) : { get: async () => login, drop() {} };
  return async ({ method, url, headers, body }, signal) => {
    const startedMs = performance.now();
    const used = await unlessAborted(signal, credentials.get());
    const { accessKeyId, secretAccessKey, sessionToken } = used;
    const { AwsV4Signer } = await import("aws4fetch");
    const datetime = new Date(clock.now()).toISOString().replaceAll(/[:-]|\.\d{3}/g, "");
    const bytes = bytesOf(body);
    const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    const signed = await new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, "x-amz-content-sha256": hash },
      body: bytes,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== null && { sessionToken }),
      service,
      region,
      datetime,
      allHeaders: true,
    }).sign();
    const sent = { method, headers: Object.fromEntries(signed.headers), body };
    const response = await post(signed.url, sent, signal, startedMs);
    const { status, text, retryAfterMs } = response;
    if (status >= 200 && status < 300) return response;
    if (/ExpiredToken|InvalidToken|InvalidClientTokenId/.test(text)) credentials.drop(used);
    const isFinal =
      status === 413 || /EntityTooLarge|InvalidMessageContents|must be shorter/.test(text);
    throw new TransportError(`HTTP ${status}: ${text}`, { status, isFinal, retryAfterMs });
  };
}
