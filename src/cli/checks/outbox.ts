import type { Storage } from "../../db/storage.ts";
import { newestFailure, undelivered } from "../../outbound/notifications.sql.ts";
import { ago } from "../durations.ts";
import { programName } from "../program.ts";

import { type Finding, good, odd } from "./finding.ts";

/** Checks whether notifications fail to reach the destinations of the operators. */
export async function checkOutbox(storage: Storage): Promise<Finding> {
  const about = "notifications";
  const waiting = await storage.all(undelivered, {});
  const [failure] = await storage.all(newestFailure, {});
  const of = (status: string) => waiting.find((group) => group.status === status);
  const [retrying, dead] = [of("retrying"), of("dead")];
  if (retrying === undefined && dead === undefined) return good(about, "none failed");
  const parts = [
    retrying && `${retrying.count} retrying, the oldest from ${ago(Date.now() - retrying.oldest)}`,
    dead && `${dead.count} dead`,
  ].filter((part) => part !== undefined);
  const why = failure?.lastError ?? "unknown";
  return odd(
    about,
    `${parts.join("; ")} (${why}): repair the destinations that fail, then run \`${programName} replay --undelivered\``,
  );
}
