import type { Clock } from "../../base/clock.ts";
import { type Context, requireOperator } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { MakeId } from "../../base/ids.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import { paginate } from "../../db/paginate.ts";
import {
  insertRejection,
  pruneRejections,
  rejectionById,
  rejectionPages,
} from "./rejections.sql.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";

import { bodyText } from "../body-text.ts";
import { explain, type Known } from "./explain.ts";
import type { ExplainedRejection, Explanation } from "./explanation.ts";
import { prettyJson } from "./printable-json.ts";
import { failureLimiter } from "../../identity/limiter.ts";
import type { Delivery } from "../delivery.ts";
import type { Rejection, RejectionReason, StoredRejection } from "../rejection.ts";
import { providerById } from "../providers/catalogue.ts";
import type { Registry } from "../providers/registry.ts";
import { withoutSecrets, withoutValues } from "../stored-headers.ts";

/** Rejected deliveries stored per provider. */
export const keptPerProvider = 200;
/** Larger bodies are not stored, because they come from unauthenticated senders. */
const maxKeptBodyBytes = 256 * 1024;

export interface Rejections {
  /** Stores a rejected delivery. Never throws, because the response to the sender does not depend on it. */
  keep(
    provider: string,
    reason: RejectionReason,
    delivery: Delivery,
    bytes: Uint8Array | null,
  ): Promise<void>;
  /** Operators only. Newest first. */
  list(
    ctx: Context,
    request: PageRequest,
    filters: { readonly provider: string | undefined },
  ): Promise<Page<Rejection>>;
  /** Operators only. Explains the rejection with the current secrets. Throws `not-found`. */
  read(ctx: Context, id: string): Promise<ExplainedRejection>;
}

interface Parts {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly log: Log;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

export function rejections({ storage, registry, log, clock, makeId }: Parts): Rejections {
  const withoutBody = failureLimiter(clock);
  return {
    async keep(provider, reason, { headers, address, requestId }, bytes) {
      // Anyone can cause these rejections without a signature. They must not fill the disk or displace others.
      if (bytes === null && !withoutBody.fail(address)) return;
      const now = clock.now();
      const { signature, readHeaders } = registry.get(provider)?.provider ?? {};
      const declaredBytes = Number(headers.get("content-length") ?? 0);
      const rejection = {
        id: makeId("rej", now),
        provider,
        createdAt: new Date(now),
        reason,
        address,
        requestId,
        headers: { ...withoutValues(headers), ...withoutSecrets(headers, readHeaders) },
        signatures: sentHeaders(headers, signature?.headers ?? []),
        bodyBytes: bytes?.length ?? (Number.isSafeInteger(declaredBytes) ? declaredBytes : 0),
        body: bytes !== null && bytes.length <= maxKeptBodyBytes ? bytes : null,
      };
      try {
        await storage.atomically(
          write(insertRejection, rejection),
          write(pruneRejections, { provider, keep: keptPerProvider }),
        );
      } catch (error) {
        log.error({ provider, requestId, err: error }, "failed to store rejected delivery");
      }
    },
    list(ctx, request, filters) {
      requireOperator(ctx);
      return paginate(rejectionPages(storage, filters), request);
    },
    async read(ctx, id) {
      requireOperator(ctx);
      const [found] = isRejectionId(id) ? await storage.all(rejectionById, { id }) : [];
      if (found === undefined) {
        throw new AppError(
          "not-found",
          "No rejection with this id exists, or it was deleted by retention.",
        );
      }
      const { signatures, body, ...rejection } = found;
      return {
        ...rejection,
        signatureHeaders: Object.keys(signatures),
        ...bodyText(body),
        bodyPretty: body === null ? null : prettyJson(body),
        explanation: explanationOf(registry, found),
      };
    },
  };
}

function isRejectionId(id: string): id is Rejection["id"] {
  return /^rej_[0-9a-f]{1,64}$/.test(id);
}

function explanationOf(registry: Registry, rejection: StoredRejection): Explanation {
  const registered = registry.get(rejection.provider);
  const provider = registered?.provider ?? providerById(rejection.provider);
  if (provider === undefined) {
    return { cause: "unknown", detail: "This version of Skyhook does not support the provider." };
  }
  const { reason, headers, signatures, body, bodyBytes, createdAt } = rejection;
  const known = {
    provider,
    secrets: registered?.secrets ?? null,
    others: othersThan(registry, provider.id),
  };
  return explain(known, {
    reason,
    headers: new Headers({ ...headers, ...signatures }),
    bytes: body,
    bodyBytes,
    receivedAtMs: createdAt.getTime(),
  });
}

function othersThan(registry: Registry, id: string): Known["others"] {
  return [...registry].flatMap(({ provider, secrets }) =>
    provider.id === id || secrets === null ? [] : [{ displayName: provider.displayName, secrets }],
  );
}

function sentHeaders(headers: Headers, names: readonly string[]): Record<string, string> {
  const sent = names.map((name) => [name, headers.get(name)?.slice(0, 1_024)] as const);
  return Object.fromEntries(
    sent.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
