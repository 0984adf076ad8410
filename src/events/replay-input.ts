import { Type } from "@sinclair/typebox";

import { jsonFilters, readFilters } from "../base/filters.ts";
import { isoTime } from "../base/times.ts";
import { type BodyError, bodyReader } from "../base/validation.ts";
import { filterInputs, instantDetail } from "../web/filters.schema.ts";

import { limitingFilters, replayFilters } from "./event-filters.ts";
import type { ReplayFilters } from "./replay.ts";

export const maxRatePerSecond = 1_000;
export const replayInputSchema = Type.Object(
  {
    ...filterInputs(replayFilters),
    onlyUndelivered: Type.Optional(
      Type.Boolean({
        description:
          "Leaves out events whose notifications were all delivered. Default: true. If false, these are sent again, under new ids.",
      }),
    ),
    ratePerSecond: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxRatePerSecond,
        errorMessage: `Use a whole number from 1 to ${maxRatePerSecond}`,
        description: "Events per second. Default: 50.",
      }),
    ),
  },
  {
    $id: "ReplayInput",
    description: `Which events to replay. Needs one of: ${limitingFilters.join(", ")}.`,
    examples: [{ from: "2026-11-21T09:00:00Z", type: "deploy.*" }],
  },
);

const read = bodyReader(replayInputSchema, "validation-failed", rules);

/** So that a misspelt filter does not replay everything. */
function rules(body: unknown): readonly BodyError[] {
  // The schema rejects it. The characters of a string and the items of an array are no fields.
  if (typeof body !== "object" || body === null || Array.isArray(body)) return [];
  const fields: Readonly<Record<string, unknown>> = { ...body };
  const known = Object.keys(replayInputSchema.properties);
  const unknown = Object.keys(fields).filter((name) => !known.includes(name));
  const errors: BodyError[] = unknown.slice(0, 20).map((name) => ({
    pointer: `/${name.slice(0, 100)}`,
    kind: "rule",
    detail: `Unknown field. Known fields: ${known.join(", ")}`,
  }));
  for (const name of ["from", "to"]) {
    const value = fields[name];
    if (typeof value !== "string" || isoTime(value) !== null) continue;
    errors.push({ pointer: `/${name}`, kind: "rule", detail: instantDetail });
  }
  const [start, end] = [fields["from"], fields["to"]].map((value) =>
    typeof value === "string" ? isoTime(value) : null,
  );
  if (start && end && start > end) {
    errors.push({ pointer: "/to", kind: "rule", detail: "Must not be before from" });
  }
  if (limitingFilters.every((name) => (fields[name] ?? null) === null)) {
    errors.push({
      pointer: "/from",
      kind: "rule",
      detail: `Write at least one of ${limitingFilters.join(", ")}, so that not all events are replayed by mistake`,
    });
  }
  return errors;
}

/** The filters of a body. `now` bounds them, so that a replay ends. Throws `validation-failed`, `invalid-body`. */
export function readReplayInput(
  body: unknown,
  now: number,
): { readonly filters: ReplayFilters; readonly ratePerSecond: number | undefined } {
  const { ratePerSecond, onlyUndelivered = true, ...given } = read(body);
  const filters = readFilters(replayFilters, given);
  const end = Math.min(now, filters.to?.getTime() ?? now);
  // A replay from a later time is empty. An end before its start would be an error.
  const to = new Date(Math.max(end, filters.from?.getTime() ?? end));
  return {
    filters: { onlyUndelivered, ...jsonFilters(replayFilters, filters), to: to.toISOString() },
    ratePerSecond,
  };
}
