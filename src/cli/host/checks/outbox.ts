import { programName } from "../../../base/program-name.ts";
import type { Storage } from "../../../db/storage.ts";
import { readBacklog } from "../../../outbound/model/backlog.ts";
import { newestFailure } from "../../../outbound/model/notifications.sql.ts";
import { ago } from "../../kit/durations.ts";

import { type Finding, good, odd } from "./finding.ts";

/** Checks whether notifications fail to reach the destinations of the operators. */
export async function checkOutbox(storage: Storage): Promise<Finding> {
  const about = "notifications";
  const { retrying, dead, oldestRetryingMs } = await readBacklog(storage, Date.now());
  if (retrying === 0 && dead === 0) return good(about, "none failed");
  const [failure] = await storage.all(newestFailure, {});
  const parts = [
    oldestRetryingMs !== null && `${retrying} retrying, the oldest from ${ago(oldestRetryingMs)}`,
    dead > 0 && `${dead} dead`,
  ].filter((part) => part !== false);
  const why = failure?.lastError ?? "unknown";
  return odd(
    about,
    `${parts.join("; ")} (${why}): repair the destinations that fail, then run \`${programName} replay --delivery ${dead > 0 ? "dead" : "retrying"}\``,
  );
}
