import fc from "fast-check";

import { at, isObject, type JsonObject } from "../../../src/base/payload.ts";
import { catalogue } from "../../../src/inbound/providers/catalogue.ts";

import { hostileHeaders } from "./headers.ts";
import { encoded, hostileBody, type Json, spoilt } from "./json.ts";
import { checkAnswer } from "./oracle.ts";
import { type FuzzRequest, get } from "./request.ts";
import { requestTarget } from "./target.ts";
import { hostileHeaderValue } from "./text.ts";
import type { Answer, World } from "./world.ts";

const fresh = { id: "019377b0-7d40-7000-8000-000000000001", now: new Date("2026-11-21T09:00:00Z") };

/** A listed event's sample: what the provider really sends, to be spoilt. */
function samplesOf(provider: string): readonly { headers: [string, string][]; body: Json }[] {
  const samples = catalogue.find(({ id }) => id === provider)?.samples ?? {};
  return Object.values(samples).map((make) => {
    const { headers, body } = make(fresh);
    return { headers: Object.entries(headers), body: jsonOf(body) };
  });
}

function jsonOf(body: JsonObject): Json {
  // Guarantee: whatever JSON.parse returns is JSON.
  return JSON.parse(JSON.stringify(body)) as Json;
}

const oddHeaders = hostileHeaders(["content-type", "content-encoding"]);

const requests: fc.Arbitrary<FuzzRequest> = fc
  .constantFrom(...catalogue.map(({ id }) => id))
  .chain((provider) => {
    const samples = samplesOf(provider);
    const sample = fc.constantFrom(...samples);
    return fc
      .record({
        sample,
        // Delivery ids and event names are not signed: anyone can send anything for them.
        values: fc.array(fc.option(hostileHeaderValue), { minLength: 8, maxLength: 8 }),
        spoil: sample.chain(({ body }) =>
          fc.oneof(
            { weight: 4, arbitrary: encoded(spoilt(fc.constant(body))) },
            { weight: 1, arbitrary: hostileBody },
          ),
        ),
        odd: oddHeaders,
        isSigned: fc.constantFrom(true, true, true, false),
      })
      .map(({ sample: { headers }, values, spoil, odd, isSigned }) => ({
        method: "POST",
        path: `/webhooks/${provider}`,
        headers: [
          ...headers.map(([name, value], index) => [name, values[index] ?? value] as const),
          ...odd,
        ],
        as: null,
        body: spoil,
        ...(isSigned && { signedFor: provider }),
      }));
  });

/** What a delivery must be answered, and that operators can read what came of it. */
async function expectAnswer(request: FuzzRequest, answer: Answer, world: World): Promise<void> {
  const { status, text } = answer;
  const codings = request.headers.filter(([name]) => name === "content-encoding");
  // Two headers of one name arrive as one list.
  const isCoded = codings.length > 1 || codings.some(([, value]) => value !== "identity");
  const allowed = isCoded ? [415] : request.signedFor === undefined ? [401] : [200, 400];
  if (!allowed.includes(status)) {
    throw new Error(`Answered ${status} instead of ${allowed.join(" or ")}: ${text}`);
  }
  if (status !== 200) return;
  const acknowledgement: unknown = JSON.parse(text);
  const id = at(acknowledgement, "id");
  const read = get(`/v1/events/${String(id)}`, "operator");
  const event = await world.send(read);
  checkAnswer(read, event, world);
  if (event.status !== 200 || !isObject(JSON.parse(event.text))) {
    throw new Error(`The event is read as ${event.status}: ${event.text}`);
  }
}

export const deliveries = requestTarget({
  name: "deliveries",
  about: "signed and unsigned deliveries of all providers, read again as events",
  shortRuns: 100,
  requests,
  expect: expectAnswer,
});
