import { signatureOf } from "../../../support/app.ts";
import { bookingBody } from "../../../support/flights.ts";

import { answered, type Attack, flood, head, mebibyte, post, Wire } from "./attack.ts";

const json = (value: unknown): string => JSON.stringify(value);
const as = (token: string) => ({ authorization: `Bearer ${token}` });

/** Texts that make a careless regular expression or parser take more than linear time. */
const hardTexts = (length: number): readonly string[] => [
  "a".repeat(length),
  "a@".repeat(length / 2),
  `a@${"a.".repeat(length / 2)}`,
  `${"a.".repeat(length / 2)}@`,
  " ".repeat(length),
  `x${" ".repeat(length - 2)}x`,
  "- ".repeat(length / 2),
  `${"1".repeat(length - 1)}x`,
  ",".repeat(length),
  "a=,".repeat(length / 3),
  `${"é".repeat(length / 2)}!`,
  "\\u0000".repeat(length / 6),
];

/** A head with hard texts as values, sent as bytes: our own library would refuse some. */
const headersOf = (name: string, length = 8_000): readonly string[] =>
  hardTexts(length).map((text) => `${name}: ${text.replaceAll("é", "e")}`);

export const textAttacks: readonly Attack[] = [
  {
    name: "e-mail-texts",
    about: "hard texts of 200 KB as e-mail address and name of a user",
    async run({ fetch, bearers }) {
      const texts = hardTexts(200_000);
      await flood(texts.length * 2, 4, (n) => {
        const text = texts[n >> 1] ?? "";
        const user =
          n % 2 === 0 ? { name: "Ada", email: text } : { name: text, email: "a@b.example" };
        return answered(fetch("/v1/users", post(json(user), as(bearers.user))));
      });
    },
  },
  {
    name: "passport-texts",
    about: "hard texts of 100 KB as passport, date, name and contact of a booking",
    async run({ fetch, bearers }) {
      const texts = hardTexts(100_000);
      const right = bookingBody(1);
      const fields = ["passportNumber", "dateOfBirth", "firstName", "contactEmail"];
      await flood(texts.length * fields.length, 4, (n) => {
        const field = fields[n % fields.length] ?? "";
        const text = texts[Math.floor(n / fields.length)] ?? "";
        const passengers = right.passengers.map((passenger) => ({ ...passenger, [field]: text }));
        const body = json({ ...right, [field]: text, passengers });
        return answered(fetch("/v1/api/bookings", post(body, as(bearers.user))));
      });
    },
  },
  {
    name: "query-texts",
    about: "hard texts of 8 KB as cursor, limit, filter, date and airport",
    async run({ fetch, bearers }) {
      const texts = hardTexts(8_000).map((text) => encodeURIComponent(text).slice(0, 8_000));
      const paths = [
        "/v1/events?cursor=",
        "/v1/events?limit=",
        "/v1/events?provider=",
        "/v1/events?q=",
        "/v1/events?from=",
        "/v1/api/flights?origin=JFK&destination=LHR&passengers=1&departureDate=",
        "/v1/api/flights?destination=LHR&departureDate=2030-01-01&passengers=1&origin=",
        "/v1/users?page=",
        "/v1/events/",
      ];
      await flood(paths.length * texts.length, 8, (n) => {
        const path = `${paths[n % paths.length]}${texts[Math.floor(n / paths.length)]}`;
        return answered(fetch(path, { headers: as(bearers.admin) }));
      });
    },
  },
  {
    name: "header-texts",
    about: "hard texts of 8 KB in every header that is read",
    async run(victim) {
      const names = [
        "Accept",
        "Accept-Encoding",
        "Authorization",
        "Content-Type",
        "Cookie",
        "Forwarded",
        "Idempotency-Key",
        "If-None-Match",
        "Last-Event-ID",
        "Origin",
        "Prefer",
        "Range",
        "traceparent",
        "X-Forwarded-For",
        "X-Request-Id",
      ];
      const lines = names.flatMap((name) => headersOf(name));
      const targets = ["POST /graphql", "GET /console", "GET /v1/feed", "POST /v1/users"];
      await flood(lines.length, 8, async (n) => {
        using wire = await Wire.open(victim);
        const line = lines[n] ?? "";
        for (const first of targets) await wire.send(head(first, line, "Content-Length: 0"));
        await wire.status(1_000);
      });
    },
  },
  {
    name: "forwarded-lists",
    about: "300 X-Forwarded-For lists of 8 KB, with ports and brackets",
    run: ({ fetch }) =>
      flood(300, 8, (n) => {
        const entries = ["[::1]:80,", "1.2.3.4:5,", "a,", " ,", "[[[[", ":::::", "%,"];
        const entry = entries[n % entries.length] ?? "";
        const list = entry.repeat(Math.floor(8_000 / entry.length));
        return answered(
          fetch("/webhooks/task_tracker", post("{}", { "x-forwarded-for": `${list}${n}` })),
        );
      }),
  },
  {
    name: "signed-wrongly",
    about: "20 bodies of 5 MiB with a signature that is wrong, and white space to remove",
    growthLimitBytes: 300 * mebibyte,
    async run({ fetch }) {
      const bodies = [Buffer.alloc(5 * mebibyte, " "), Buffer.alloc(5 * mebibyte, '"a" ')];
      const wrong = signatureOf("shared_inbox", "another body");
      await flood(20, 4, (n) =>
        answered(fetch("/webhooks/shared_inbox", post(bodies[n % 2] ?? "", wrong))),
      );
    },
  },
];
