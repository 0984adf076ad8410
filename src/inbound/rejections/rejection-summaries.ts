import { setNewest } from "../../base/bounded-map.ts";
import type { Clock } from "../../base/clock.ts";
import { nextTurn } from "../../base/own-turn.ts";
import type { Storage } from "../../db/storage.ts";
import type { Rejection, StoredRejection } from "../model/rejection.ts";
import { interpret } from "../providers/interpret.ts";
import type { Registry } from "../providers/registry.ts";

import { explainStored } from "./explain-stored.ts";
import type { ListedRejection } from "./rejection.schema.ts";
import { rejectionById } from "./rejections.sql.ts";

type Summary = Required<Pick<ListedRejection, "cause" | "type">>;

/** Explanations take milliseconds each. When a list has taken this long, the rest of its causes stay null. */
const budgetMs = 500;
/** A cause depends on the secrets, which can change. */
const keptMs = 60_000;
const maxKept = 2_000;

interface Parts {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly clock: Clock;
}

/** Adds the cause and the claimed type to rejections, and remembers them for a minute. */
export function rejectionSummaries({ storage, registry, clock }: Parts) {
  const known = new Map<Rejection["id"], Summary & { readonly untilMs: number }>();

  async function summaryOf({ id }: Rejection, deadlineMs: number): Promise<Summary> {
    const kept = known.get(id);
    const now = clock.now();
    if (kept !== undefined && kept.untilMs > now) return kept;
    const [stored] = now < deadlineMs ? await storage.all(rejectionById, { id }) : [];
    if (stored === undefined) return { cause: null, type: null };
    await nextTurn();
    const { cause } = await explainStored(registry, stored);
    const summary = { cause, type: claimedType(registry, stored), untilMs: now + keptMs };
    setNewest(known, id, summary, maxKept);
    return summary;
  }

  return async (rejections: readonly Rejection[]): Promise<readonly ListedRejection[]> => {
    const deadlineMs = clock.now() + budgetMs;
    const found: ListedRejection[] = [];
    for (const rejection of rejections) {
      const { cause, type } = await summaryOf(rejection, deadlineMs);
      found.push({ ...rejection, cause, type });
    }
    return found;
  };
}

/** The type of the first event that the body claims to be, or the path of no provider. Nothing verified it: only to be shown. */
function claimedType(registry: Registry, { provider: id, body, headers }: StoredRejection) {
  const provider = registry.provider(id);
  if (provider === undefined || body === null) return headers[":path"] ?? null;
  const [first] = interpret(provider, { bytes: body }, (name) => headers[name] || null, 1) ?? [];
  return first?.type ?? null;
}
