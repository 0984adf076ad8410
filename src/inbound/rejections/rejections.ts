import type { Clock } from "../../base/clock.ts";
import { type Context, requireAdmin, requireOperator } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import { isId, type MakeId } from "../../base/ids.ts";
import { prettyJson } from "../../base/json-text.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { printable } from "../../base/payload.ts";
import { invalid } from "../../base/validation.ts";
import { paginate } from "../../db/paginate.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { bodyText } from "../../event/body-text.ts";
import { withoutSecrets, withoutValues } from "../../event/stored-headers.ts";
import type { Reveals } from "../../identity/audit/reveals.ts";
import { type CallerLimiter, failureLimiter } from "../../identity/limiter.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Rejection, RejectionReason, StoredRejection } from "../model/rejection.ts";
import type { WebhookRequest } from "../model/webhook-request.ts";
import type { CheckProvider } from "../providers/provider-filter.ts";
import type { Registry } from "../providers/registry.ts";
import {
  isWeak,
  readHeadersOf,
  signatureHeaders,
  type SignatureScheme,
  signsUrl,
} from "../signatures/scheme.ts";
import { requireUsable } from "../signatures/usable-secret.ts";

import { explainStored } from "./explain-stored.ts";
import type { Explanation } from "./explanation.ts";
import type { RejectionFilters } from "./rejection-filters.ts";
import { rejectionSummaries } from "./rejection-summaries.ts";
import {
  type ExplainedRejection,
  type ListedRejection,
  readTriedSecret,
} from "./rejection.schema.ts";
import {
  insertRejection,
  pruneRejectionBytes,
  pruneRejections,
  rejectionById,
  rejectionPages,
} from "./rejections.sql.ts";

/** Rejected requests stored per provider. */
export const keptPerProvider = 200;
/** Bodies and headers stored over all providers. With several processes, 1/16 more for each but the first. */
const maxKeptBytesOfAll = 256 * 1024 * 1024;
/** Deleted in one transaction beyond that limit. If more are to be deleted, the next rejection continues. */
const maxPrunedAtOnce = 2_000;
/** Larger bodies are not stored, because they come from unauthenticated senders. */
const maxKeptBodyBytes = 256 * 1024;
const maxUrlLength = 2_048;
const maxPathLength = 200;
/** Tokens with a certificate chain are the longest signatures. */
const maxValueLength = 4_096;

export interface Rejections {
  /** Stores a rejected request. Never throws, because the response to the sender does not depend on it. */
  keep(
    provider: string,
    reason: RejectionReason,
    request: WebhookRequest,
    bytes: Uint8Array | null,
  ): Promise<void>;
  /** Operators only. Newest first. Throws `invalid-parameter` for an unknown provider. */
  list(
    ctx: Context,
    request: PageRequest,
    filters: RejectionFilters,
    extras?: { readonly cause: boolean },
  ): Promise<Page<ListedRejection>>;
  /** Operators only. Explains the rejection with the current secrets. Records who read the body. Throws `not-found`. */
  read(ctx: Context, id: string): Promise<ExplainedRejection>;
  /** Like `read`, without the body, so that nobody has read it. */
  explain(ctx: Context, id: string): Promise<Rejection & Pick<ExplainedRejection, "explanation">>;
  /** Admins only. Explains the rejection with another secret. Throws `not-found`, `too-many-tests`, `validation-failed`. */
  trySecret(ctx: Context, id: string, body: unknown): Promise<Explanation>;
}

interface Parts {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly reveals: Reveals;
  readonly tests: CallerLimiter;
  readonly checkProvider: CheckProvider;
  readonly log: Log;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly maxKeptBytes?: number;
}

export function rejections(parts: Parts): Rejections {
  const { storage, registry, reveals, tests, checkProvider, log, clock, makeId } = parts;
  const { maxKeptBytes = maxKeptBytesOfAll } = parts;
  const withoutBody = failureLimiter(clock);
  const summarised = rejectionSummaries(parts);
  const pruneEveryBytes = maxKeptBytes / 16;
  /** The first rejection prunes: what earlier processes stored is not known. */
  let unprunedBytes = pruneEveryBytes;

  /** Stores a rejection, and deletes the oldest ones of its provider and, now and then, of all. */
  async function store(rejection: StoredRejection): Promise<void> {
    unprunedBytes += sizeOf(rejection);
    const isPruning = unprunedBytes >= pruneEveryBytes;
    if (isPruning) unprunedBytes = 0;
    const bound = { maxBytes: maxKeptBytes - pruneEveryBytes, limit: maxPrunedAtOnce };
    try {
      const results = await storage.atomically(
        write(insertRejection, rejection),
        write(pruneRejections, { provider: rejection.provider, keep: keptPerProvider }),
        ...(isPruning ? [write(pruneRejectionBytes, bound)] : []),
      );
      const isMore = isPruning && results.at(-1)?.changes === maxPrunedAtOnce;
      if (isMore) unprunedBytes = pruneEveryBytes;
    } catch (error) {
      if (isPruning) unprunedBytes = pruneEveryBytes;
      throw error;
    }
  }

  async function find(id: string): Promise<StoredRejection> {
    const [found] = isId("rej", id) ? await storage.all(rejectionById, { id }) : [];
    if (found !== undefined) return found;
    const detail = "No rejection with this id exists, or it was deleted by retention.";
    throw new AppError("not-found", detail);
  }

  return {
    async keep(provider, reason, request, bytes) {
      // Anyone can cause these rejections without a signature. They must not fill the disk or displace others.
      if (bytes === null && !withoutBody.fail(request.address)) return;
      const now = clock.now();
      const { headers, address, requestId } = request;
      const { signature, readHeaders } = registry.get(provider)?.provider ?? {};
      const path = reason === "unknown-provider" && {
        ":path": printable(shownPath(request), maxPathLength) ?? "",
      };
      const declaredBytes = Number(headers.get("content-length") ?? 0);
      const rejection = {
        id: makeId("rej", now),
        provider,
        createdAt: new Date(now),
        reason,
        address,
        requestId,
        headers: { ...path, ...withoutValues(headers), ...withoutSecrets(headers, readHeaders) },
        signatures: signature === undefined ? {} : signedValues(signature, request),
        bodyBytes: bytes?.length ?? (Number.isSafeInteger(declaredBytes) ? declaredBytes : 0),
        body: bytes !== null && bytes.length <= maxKeptBodyBytes ? bytes : null,
      };
      try {
        await store(rejection);
      } catch (error) {
        log.error({ provider, requestId, err: error }, "failed to store rejected webhook");
      }
    },
    async list(ctx, request, { from, to, ...filters }, { cause } = { cause: false }) {
      requireOperator(ctx);
      await checkProvider(filters.provider);
      const page = await paginate(rejectionPages(storage, filters, { from, to }), request);
      return cause ? { ...page, data: await summarised(page.data) } : page;
    },
    async read(ctx, id) {
      requireOperator(ctx);
      const found = await find(id);
      const { signatures, body, ...rejection } = found;
      if (body !== null) await reveals.record(ctx, "rejection.revealed", found.id);
      return {
        ...rejection,
        signatureHeaders: Object.keys(signatures).filter((name) => !name.startsWith(":")),
        ...bodyText(body),
        bodyPretty: body === null ? null : prettyJson(new TextDecoder().decode(body)),
        explanation: await explainStored(registry, found),
      };
    },
    async explain(ctx, id) {
      requireOperator(ctx);
      const found = await find(id);
      const { signatures: _, body: __, ...rejection } = found;
      return { ...rejection, explanation: await explainStored(registry, found) };
    },
    async trySecret(ctx, id, body) {
      requireAdmin(ctx);
      tests.count(ctx);
      const { secret } = readTriedSecret(body);
      const found = await find(id);
      const scheme = registry.provider(found.provider)?.signature;
      if (scheme !== undefined) requireTryable(scheme, secret);
      const secrets = { current: secret, previous: null };
      const explanation = await explainStored(registry, found, secrets);
      if (explanation.cause !== "verifies-now") return explanation;
      const detail =
        "The webhook verifies with this secret. Set it as the provider's secret, then have the provider send the webhook again.";
      return { ...explanation, detail };
    },
  };
}

/** A path without what may be a secret: its query, and what follows a provider or stands in its place. */
function shownPath({ providerId, isLonger = false }: WebhookRequest): string {
  const isName = providerId.length < 22;
  return `/webhooks/${isName ? providerId : "…"}${isLonger ? "/…" : ""}`;
}

/** Throws `validation-failed` if nothing can be said about a secret. */
function requireTryable(scheme: SignatureScheme, secret: string): void {
  if (isWeak(scheme)) {
    const detail = "The webhook contained its secret, which is not stored: nothing can be compared";
    throw invalid("/secret", detail);
  }
  requireUsable(scheme, secret);
}

/** As the database measures it. */
function sizeOf({ body, headers, signatures }: StoredRejection): number {
  return (body?.length ?? 0) + JSON.stringify(headers).length + JSON.stringify(signatures).length;
}

/**
 * What the signature is made of, for explanations. Not for secrets that are sent themselves: a wrong one may be that of another
 * service.
 */
function signedValues(
  scheme: SignatureScheme,
  { headers, method, url }: Pick<WebhookRequest, "headers" | "method" | "url">,
): Record<string, string> {
  if (isWeak(scheme)) return {};
  const names = [...signatureHeaders(scheme), ...readHeadersOf(scheme)];
  const isUrlSigned = signsUrl(scheme);
  return {
    ...sentHeaders(headers, names),
    ...(isUrlSigned && { ":method": method, ":url": url.slice(0, maxUrlLength) }),
  };
}

function sentHeaders(headers: Headers, names: readonly string[]): Record<string, string> {
  const sent = names.map((name) => [name, headers.get(name)?.slice(0, maxValueLength)] as const);
  return Object.fromEntries(
    sent.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
