import type { Victim } from "../victim.ts";

import { answered, type Attack, expectStatus, flood, mebibyte, post } from "./attack.ts";

/** A service that signs members of the payload, which are therefore read before it is known who sent them. */
const unverified = "mailgun";

async function addUnverified({ fetch, bearers }: Victim): Promise<void> {
  const headers = { authorization: `Bearer ${bearers.admin}` };
  const body = JSON.stringify({ catalogue: unverified, makeSecret: true });
  // The second attack on a victim finds it there.
  await answered(fetch("/v1/providers", post(body, headers)));
}

/** JSON of 1 MiB that is slow to parse: every object has a shape of its own. */
function slowJson(): string {
  let text = '{"signature":{"signature":"0","token":"a","timestamp":"1"},"a":[';
  for (let n = 0; text.length < 1_048_000; n += 1) text += `{"${n.toString(36)}":1},`;
  return `${text}0]}`;
}

/** Of a body of 256 KiB. */
const maxFileBytes = 255 * 1024;
const writtenBytes = (text: string) => JSON.stringify(text).length - 2;
/** As often as a body can hold it. */
const repeated = (text: string) => text.repeat(Math.floor(maxFileBytes / writtenBytes(text)));

function keys(): string {
  let text = "{";
  for (let n = 0; text.length < maxFileBytes - 20; n += 1) text += `${n.toString(36)}: ,`;
  return `${text}}`;
}

/** Each of two of the one before. */
function aliases(): string {
  const names = Array.from({ length: 60 }, (_, n) => `k${n}`);
  const lines = names.map((name, n) => `${name}: &${name} [*k${n - 1}, *k${n - 1}]`);
  return ["k0: &k0 [1, 1]", ...lines.slice(1)].join("\n");
}

/** Provider files that are hard to parse. */
const hardFiles: Readonly<Record<string, string>> = {
  "different keys": keys(),
  commas: `[${repeated(",")}`,
  quotes: repeated('"'),
  "open brackets": repeated("["),
  entries: repeated("-\n"),
  "aliases of aliases": aliases(),
};

/** What the sources of webhooks that admins add bring with them. */
export const providerAttacks: readonly Attack[] = [
  {
    name: "unverified-payloads",
    about: "64 bodies of 1 MiB at once, which are parsed before they are verified",
    // The bodies themselves, and what parsing them leaves to the collector.
    growthLimitBytes: 512 * mebibyte,
    // Bun reads 32 MiB of 64 sockets in one turn. Where a page fault takes 16 µs, that takes 130 ms before the
    // program sees the first byte, and as much again when the bodies are read.
    livezLimitMs: 400,
    async run(victim) {
      await addUnverified(victim);
      const body = slowJson();
      await flood(64, 64, () =>
        answered(
          victim.fetch(`/webhooks/${unverified}`, post(body, { "x-forwarded-for": "192.0.2.77" })),
        ),
      );
    },
  },
  {
    name: "provider-files",
    about: `bodies of 256 KiB with a new provider file: ${Object.keys(hardFiles).join("; ")}`,
    // An admin sends them.
    livezLimitMs: 400,
    async run({ fetch, bearers }) {
      const headers = { authorization: `Bearer ${bearers.admin}` };
      for (const file of Object.values(hardFiles)) {
        const body = JSON.stringify({ id: "hard", file });
        expectStatus(await answered(fetch("/v1/providers", post(body, headers))), 422);
      }
    },
  },
];
