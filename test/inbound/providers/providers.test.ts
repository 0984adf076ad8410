import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { isObject, type JsonObject } from "../../../src/base/payload.ts";
import { bookingsProvider } from "../../../src/booking/model/booking-words.ts";
import { queryHeader, withoutSecrets, withoutValues } from "../../../src/event/stored-headers.ts";
import { catalogue, defaultProviders } from "../../../src/inbound/providers/catalogue.ts";
import { interpret } from "../../../src/inbound/providers/interpret.ts";
import type { Provider } from "../../../src/inbound/providers/provider.ts";
import { signatureHeaders } from "../../../src/inbound/signatures/scheme.ts";
import { complete } from "../../support/complete.ts";
import {
  expectBounded,
  expectPrintable,
  fresh,
  headerOf,
  interpretPayload,
  notificationsOf,
  now,
  type Path,
  replaced,
} from "../../support/providers.ts";
import { forAll, runs } from "../../support/runs.ts";

const specified: Readonly<Record<string, readonly string[]>> = {
  task_tracker: ["comment.added", "task.completed", "task.created"],
  shared_inbox: ["message.received", "message.sent", "assignee.changed"],
  deploy_platform: ["deploy.created", "deploy.succeeded", "deploy.error", "deploy.canceled"],
  code_host: ["workflow_run.completed", "package.published"],
};

test("the four providers of the specification are registered by default", () => {
  expect(defaultProviders).toEqual(Object.keys(specified));
});

for (const [id, types] of Object.entries(specified)) {
  test(`${id} lists the events of the specification`, () => {
    const provider = catalogue.find((entry) => entry.id === id);
    expect(Object.keys(provider?.samples ?? {}).toSorted()).toEqual(types.toSorted());
  });
}

test("every provider has a unique id, which differs from that of booking events", () => {
  const ids = [...catalogue.map(({ id }) => id), bookingsProvider];
  expect(new Set(ids).size).toBe(ids.length);
});

/** Their payloads name no customer. */
const ofNobody = new Set([
  "refund.updated",
  "charge.refund.updated",
  "refund.failed",
  "radar.early_fraud_warning.created",
  "review.opened",
  "payout.failed",
]);

for (const provider of catalogue) {
  describe(provider.id, () => {
    test("keeps the name of an event that is not listed, in any member", () => {
      for (const member of ["type", "event", "event_name"]) {
        const body = { [member]: "custom.thing", id: "1" };
        expect(interpretPayload(provider, body)).toMatchObject({
          status: "ignored",
          type: "custom.thing",
          title: "Ignored: custom.thing",
        });
      }
    });

    test("has an id that is valid in an environment variable, and lower-case headers", () => {
      const { id, signature, foreignHeaders = [], readHeaders = [] } = provider;
      // A shell cannot export ALARM-CLOCK_WEBHOOK_SECRET.
      expect(id).toMatch(/^[a-z][a-z_]*$/);
      expect(signatureHeaders(signature)).not.toBeEmpty();
      const names = [...signatureHeaders(signature), ...foreignHeaders, ...readHeaders];
      expect(names).toEqual(names.map((name) => name.toLowerCase()));
    });

    test("declares the headers that it reads, so that they are stored for replays", () => {
      const read = new Set<string>();
      for (const sample of Object.values(provider.samples)) {
        const bytes = Buffer.from(JSON.stringify(sample(fresh()).body));
        interpret(provider, { bytes }, (name) => {
          read.add(name);
          return null;
        });
      }
      for (const other of ["content-type", queryHeader]) read.delete(other);
      expect([...read].toSorted()).toEqual([...(provider.readHeaders ?? [])].toSorted());
    });

    for (const [type, sample] of Object.entries(provider.samples)) {
      test(`sample ${type} becomes a complete event of that type`, () => {
        const event = interpretPayload(provider, sample(fresh()).body, sample(fresh()).headers);
        expect(event).toMatchObject({ status: "accepted", type });
        expect(event.title.length).toBeGreaterThan(10);
        expect(event.subject).toBeString();
        expect(event.deliveryId).toBeString();
        // Some providers send whole seconds.
        expect(event.occurredAt?.getTime()).toBeWithin(now.getTime() - 999, now.getTime() + 1);
        expectBounded(event);

        const messages = notificationsOf(provider, event);
        expect(messages.length).toBeGreaterThan(0);
        for (const message of messages) {
          expect(message.title).not.toBe("");
          expect(message.text).not.toBe("");
        }
        if (!complete.includes(provider.id)) return;
        if (!ofNobody.has(type)) expect(event.actor).toBeString();
        for (const { url } of [event, ...messages]) expect(url).toStartWith("https://");
      });

      test(`sample ${type} has a delivery id from ${provider.deliveryIdIsSigned ? "the signed body" : "a header"}`, () => {
        const { body, headers } = sample(fresh());
        const lookups = [headerOf(headers), headerOf({}), () => "any-value-at-all"];
        const ids = lookups.map(
          (header) => provider.interpret({ payload: body, header }).deliveryId,
        );
        // If the flag is true, body hashes need not be unique, so a forged id would allow a duplicate.
        expect(new Set(ids).size).toBe(provider.deliveryIdIsSigned ? 1 : ids.length);
      });

      test(`two samples ${type} of the same time differ in body and delivery id`, () => {
        const [first, second] = [sample(fresh()), sample(fresh())];
        expect(JSON.stringify(first.body)).not.toBe(JSON.stringify(second.body));
        const ids = [first, second].map(
          ({ body, headers }) => interpretPayload(provider, body, headers).deliveryId,
        );
        expect(new Set(ids).size).toBe(2);
      });

      test(`sample ${type} has neutral headers and no signature`, () => {
        for (const name of Object.keys(sample(fresh()).headers)) {
          expect(name).not.toMatch(/todoist|front|vercel|github|hub|stripe/i);
          expect(signatureHeaders(provider.signature)).not.toContain(name.toLowerCase());
        }
      });
    }

    test("interprets any JSON object with any headers", () => {
      forAll(runs(300), [anyObject, anyHeaders(provider)], (payload, headers) => {
        expectHarmless(provider, payload, headers);
      });
    });

    test("interprets its samples with random values at random paths", () => {
      const bodies = Object.values(provider.samples).map((sample) => sample(fresh()));
      fc.assert(
        fc.property(
          fc.constantFrom(...bodies),
          fc.array(fc.tuple(fc.nat(), anyValue), { minLength: 1, maxLength: 4 }),
          ({ body, headers }, replacements) => {
            let mutated: unknown = body;
            for (const [pick, replacement] of replacements) {
              const paths = pathsOf(mutated);
              const path = paths[pick % Math.max(paths.length, 1)] ?? [];
              mutated = replaced(mutated, path, replacement);
            }
            if (!isObject(mutated)) return;
            expectHarmless(provider, mutated, headers);
          },
        ),
        { numRuns: runs(600) },
      );
    });

    test("interprets special keys of JavaScript, deep values and huge values", () => {
      const keys = ["__proto__", "constructor", "toString", "hasOwnProperty"];
      const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
      const huge = JSON.stringify("🦉\u202e\n".repeat(runs(1_000_000)));
      for (const value of ["null", "[]", deep, huge]) {
        for (const key of keys) expectHarmless(provider, parsed(`{"${key}":${value}}`));
        for (const sample of Object.values(provider.samples)) {
          const { body, headers } = sample(fresh());
          for (const key of Object.keys(body)) {
            expectHarmless(provider, { ...body, [key]: parsed(value) }, headers);
          }
        }
      }
    });

    for (const [type, sample] of Object.entries(provider.samples)) {
      test.each(["type", "event", "event_name"])(
        `accepts ${type} by that name in the member %s`,
        (member) => {
          const body = { ...sample(fresh()).body, event_name: "", type: "" };
          for (const payload of [{ [member]: type }, { ...body, [member]: type }]) {
            const event = interpretPayload(provider, payload);
            expect(event).toMatchObject({ status: "accepted", type });
            expect(event.title).toMatch(/^[A-Z]\w+ [a-z]+/);
            expect(event.title).not.toMatch(/[(:]$|no name|null|undefined/);
            expectBounded(event);
            expect(notificationsOf(provider, event)).not.toBeEmpty();
          }
        },
      );
    }

    test("ignores event names that are properties of every object", () => {
      for (const name of ["constructor", "__proto__", "toString"]) {
        const body = { type: name, event_name: name, action: name, object: "event" };
        expect(interpretPayload(provider, body, { "X-CodeHost-Event": name }).status).toBe(
          "ignored",
        );
      }
    });
  });
}

test("only values of known harmless headers and of headers that the provider reads are stored [API10-11]", () => {
  const secrets = [
    ..."authorization cf-access-client-secret cf-access-jwt-assertion cookie x-alarm-mac".split(
      " ",
    ),
    ..."proxy-authorization x-amz-security-token x-api-key x-auth-key x-vault-token".split(" "),
    ..."x-forwarded-access-token x-goog-iap-jwt-assertion x-ms-client-principal".split(" "),
    "x-whatever-comes-next",
  ];
  const headers = new Headers({
    ...Object.fromEntries(secrets.map((name) => [name, "hush"])),
    "user-agent": "Alarm",
    "x-alarm-id": "a".repeat(2_000),
  });
  expect(withoutSecrets(headers)).toEqual({ "user-agent": "Alarm" });
  expect(withoutSecrets(headers, ["x-alarm-id"])).toEqual({
    "user-agent": "Alarm",
    "x-alarm-id": "a".repeat(1_024),
  });
  expect(Object.keys(withoutValues(headers))).toEqual([...headers.keys()]);
  expect(JSON.stringify(withoutValues(headers))).not.toContain("hush");
});

/** Expects that interpreting does not throw, is deterministic, and copies only bounded, printable text. */
function expectHarmless(
  provider: Provider,
  payload: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const event = interpretPayload(provider, payload, headers);
  expectBounded(event);
  expect(interpretPayload(provider, payload, headers)).toEqual(event);
  for (const message of notificationsOf(provider, event)) {
    expectPrintable(message.title, 500);
    expectPrintable(message.text, 500);
  }
}

function parsed(json: string): unknown {
  return JSON.parse(json);
}

/** Values that break naive parsers. */
const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: "binary", maxLength: 700 }),
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, {}, [], [[]], [null], { id: {} }),
  fc.constantFrom("", " ", "..", "\ud800", "a\u0000b\u001b[31m\u202e", "x".repeat(100_000)),
  fc.constantFrom("https://", "https://a@b.example/", `https://e/${"é".repeat(900)}`),
);

/** Any JSON object, sometimes with an own `__proto__`. */
const anyObject: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.oneof(fc.string(), fc.constantFrom("type", "action", "__proto__")), anyValue)
  .map((object) => parsed(JSON.stringify(object)))
  .filter(isObject);

/** Any values for the headers that a provider reads. */
function anyHeaders(provider: Provider): fc.Arbitrary<Readonly<Record<string, string>>> {
  const names = Object.values(provider.samples).flatMap((sample) =>
    Object.keys(sample(fresh()).headers),
  );
  return fc.dictionary(fc.constantFrom("X-Other", ...names), fc.string({ maxLength: 700 }));
}

/** The paths to all nested values of objects and arrays. */
function pathsOf(value: unknown, to: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null || to.length > 8) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = [...to, key];
    return [path, ...pathsOf(inner, path)];
  });
}
