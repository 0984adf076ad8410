import { signatureOf } from "../../../support/app.ts";

import { answered, type Attack, flood, post } from "./attack.ts";

const nested = (open: string, close: string, levels: number, inner = ""): string =>
  open.repeat(levels) + inner + close.repeat(levels);

/** JSON of less than 256 KiB that is hard on a parser, or on what reads it afterwards. */
const hardJson: Readonly<Record<string, string>> = {
  "arrays 120,000 deep": nested("[", "]", 120_000),
  "arrays 250,000 deep, not closed": "[".repeat(250_000),
  "objects 40,000 deep": nested('{"a":', "}", 40_000, "1"),
  "20,000 keys": `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":1`).join(",")}}`,
  "one key 40,000 times": `{${Array.from({ length: 40_000 }, () => '"k":1').join(",")}}`,
  "numbers of 250,000 digits": `{"name":${"9".repeat(250_000)}}`,
  "a fraction of 250,000 digits": `{"name":0.${"3".repeat(250_000)}e-9}`,
  "exponents out of range": `{"name":1e400,"email":-1e-400,"x":1e99999999}`,
  "__proto__ 8,000 deep": nested('{"__proto__":', "}", 8_000, "{}"),
  "constructor and prototype": '{"constructor":{"prototype":{"x":1}},"__proto__":{"y":2}}',
  "escapes alone": `"${String.raw`\u0000`.repeat(40_000)}"`,
  "lone surrogates": `{"name":"${String.raw`\ud800`.repeat(20_000)}","email":"a@b.example"}`,
};

const bodies = Object.values(hardJson);

export const bodyAttacks: readonly Attack[] = [
  {
    name: "json-users",
    about: `hard JSON of 256 KiB as a user and as a booking: ${Object.keys(hardJson).join("; ")}`,
    async run({ fetch, bearers }) {
      const headers = { authorization: `Bearer ${bearers.user}` };
      await flood(bodies.length * 8, 4, (n) => {
        const path = n % 2 === 0 ? "/v1/users" : "/v1/api/bookings";
        return answered(fetch(path, post(bodies[(n >> 1) % bodies.length] ?? "", headers)));
      });
    },
  },
  {
    name: "json-webhooks",
    about: "the same, rightly signed, as a delivery of each provider",
    async run({ fetch }) {
      const providers = ["task_tracker", "shared_inbox", "deploy_platform", "code_host"];
      await flood(bodies.length * providers.length, 4, (n) => {
        const provider = providers[n % providers.length] ?? "";
        const body = bodies[Math.floor(n / providers.length)] ?? "";
        return answered(fetch(`/webhooks/${provider}`, post(body, signatureOf(provider, body))));
      });
    },
  },
  {
    name: "forms",
    about: "forms of 16 KB to 5 MB with many fields, as a token request and as deliveries",
    async run({ fetch }) {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const fields = (bytes: number) => "a=%41&".repeat(bytes / 6);
      await flood(40, 8, () => answered(fetch("/v1/auth/token", post(fields(16_000), headers))));
      const body = `payload=${fields(5_000_000)}`;
      await flood(4, 2, () =>
        answered(
          fetch(
            "/webhooks/code_host",
            post(body, { ...headers, ...signatureOf("code_host", body) }),
          ),
        ),
      );
    },
  },
];
