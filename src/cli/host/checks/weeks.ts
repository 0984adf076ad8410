import type { Config } from "../../../config/config.ts";
import type { Storage } from "../../../db/storage.ts";
import { readWeeks } from "../../../events/retention/weeks.ts";
import { ago } from "../../kit/durations.ts";
import { counted } from "../../kit/output.ts";

import { type Finding, good, odd } from "./finding.ts";

/** A week that is due for longer than this was not deleted. */
const lateMs = 86_400_000;

/** Reports which weeks of events exist on PostgreSQL, what retention deleted last, and when it deletes the next. */
export async function checkWeeks(
  storage: Storage,
  { eventRetentionDays }: Pick<Config, "eventRetentionDays">,
): Promise<readonly Finding[]> {
  const weeks = await readWeeks(storage, eventRetentionDays);
  if (weeks === null) return [];
  const { count, oldest, nextAt, last } = weeks;
  const day = (time: Date) => time.toISOString().slice(0, 10);
  const deleted =
    last === null
      ? "none deleted yet"
      : `that of ${day(last.week)} deleted ${ago(Date.now() - last.at.getTime())}, ${last.kept} of its events kept`;
  const state = `${counted(count, "week")} of events, the oldest from ${day(oldest)}; ${deleted}`;
  if (Date.now() > nextAt.getTime() + lateMs) {
    const why = "start an instance, or look for transactions that stay open (pg_stat_activity)";
    return [odd("retention", `${state}; the next was due on ${day(nextAt)}: ${why}`)];
  }
  return [good("retention", `${state}; the next is due on ${day(nextAt)}`)];
}
