import { type TSchema, Type } from "@sinclair/typebox";

import { instantIn } from "../base/parameters.ts";
import { type BodyError, bodyReader } from "../base/validation.ts";
import { eventStatuses } from "../event/event-words.ts";
import { deliveryStates } from "../outbound/notification-words.ts";

import type { ReplayFilters } from "./replay.ts";

/** Null is not a filter, as in the filters that a preview and a replay return. */
const orNull = <Schema extends TSchema>(schema: Schema, errorMessage: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { errorMessage }));

const oneOf = <const Words extends readonly string[]>(words: Words, description: string) => {
  const choice = Type.Union(
    words.map((word) => Type.Literal(word)),
    { description },
  );
  return orNull(Type.Unsafe<Words[number]>(choice), `One of: ${words.join(", ")}`);
};
const instantDetail = "Write an instant in ISO 8601, such as 2026-11-21T09:00:00Z";
const time = (description: string) =>
  orNull(Type.String({ description, examples: ["2026-11-21T09:00:00Z"] }), instantDetail);
const maxLength = 200;
const filter = (description: string, example: string) =>
  orNull(
    Type.String({ minLength: 1, maxLength, description, examples: [example] }),
    `Write 1 to ${maxLength} characters`,
  );

export const maxRatePerSecond = 1_000;
/** Without one of these, all events of a provider or type, or all there are, would be replayed. */
const limiting = ["from", "delivery", "q", "subject", "idempotencyKey"] as const;

export const replayInputSchema = Type.Object(
  {
    from: time("Received at or after this time."),
    to: time("Received before this time. Default: now."),
    provider: filter("Only events of this provider.", "code_host"),
    type: filter("Only events of this type, or of these types.", "deploy.*"),
    status: oneOf(eventStatuses, "Only events with this status."),
    delivery: oneOf(deliveryStates, "Only events with this state of their notifications."),
    subject: filter("Only events about this resource.", "pull_request/42"),
    idempotencyKey: filter("Only the event with this key.", "code_host:72d3162e"),
    q: filter("Only events with all of these words, as in the list of events.", "build fail*"),
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
    description: `Which events to replay. Needs one of: ${limiting.join(", ")}.`,
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
    if (typeof value !== "string" || instantIn(value) !== null) continue;
    errors.push({ pointer: `/${name}`, kind: "rule", detail: instantDetail });
  }
  const [start, end] = [fields["from"], fields["to"]].map((value) =>
    typeof value === "string" ? instantIn(value) : null,
  );
  if (start && end && start > end) {
    errors.push({ pointer: "/to", kind: "rule", detail: "Must not be before from" });
  }
  if (limiting.every((name) => (fields[name] ?? null) === null)) {
    errors.push({
      pointer: "/from",
      kind: "rule",
      detail: `Write at least one of ${limiting.join(", ")}, so that not all events are replayed by mistake`,
    });
  }
  return errors;
}

/** The filters of a body. `now` bounds them, so that a replay ends. Throws `validation-failed`, `invalid-body`. */
export function readReplayInput(
  body: unknown,
  now: number,
): { readonly filters: ReplayFilters; readonly ratePerSecond: number | undefined } {
  const { from, to, ratePerSecond, ...others } = read(body);
  const { provider, type, status, delivery, subject, idempotencyKey, q } = others;
  const [start, end] = [from, to].map((text) => (text ? instantIn(text) : null));
  return {
    filters: {
      from: start?.toISOString() ?? null,
      to: new Date(Math.min(now, end?.getTime() ?? now)).toISOString(),
      provider: provider ?? null,
      type: type ?? null,
      status: status ?? null,
      delivery: delivery ?? null,
      subject: subject ?? null,
      idempotencyKey: idempotencyKey ?? null,
      q: q ?? null,
    },
    ratePerSecond,
  };
}
