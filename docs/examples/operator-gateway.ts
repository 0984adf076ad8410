// Receives notifications from Skyhook, verifies them (https://www.standardwebhooks.com) and prints them.
// Run it with Bun, with the OPERATOR_GATEWAY_SECRET that Skyhook has: bun operator-gateway.ts
import { createHmac, timingSafeEqual } from "node:crypto";

const key = Buffer.from((process.env["OPERATOR_GATEWAY_SECRET"] ?? "").slice(6), "base64");
if (key.length < 24) throw new Error("OPERATOR_GATEWAY_SECRET must be whsec_ and base64");
/** Older or newer ones may be someone's copy. */
const toleranceSeconds = 300;
/** What came before: after a crash or a lost answer the same one comes again. */
const seen = new Set<string>();

function isGenuine(headers: Headers, body: string): boolean {
  const id = headers.get("webhook-id") ?? "";
  const time = headers.get("webhook-timestamp") ?? "";
  if (!(Math.abs(Date.now() / 1_000 - Number(time)) <= toleranceSeconds)) return false;
  const wanted = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest();
  // There are several while the secret is being changed: one that fits is enough.
  return (headers.get("webhook-signature") ?? "").split(" ").some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ""), "base64");
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}

const server = Bun.serve({
  port: Number(process.env["GATEWAY_PORT"] ?? 4000),
  maxRequestBodySize: 1_000_000,
  async fetch(request) {
    // The signature is over these very characters: read them before parsing.
    const body = await request.text();
    if (!isGenuine(request.headers, body)) return new Response("not from Skyhook", { status: 401 });
    const id = request.headers.get("webhook-id") ?? "";
    if (!seen.has(id)) {
      const { title, text, severity, url } = JSON.parse(body).data;
      console.log([`[${severity}] ${title}`, text, url].filter(Boolean).join("\n    "));
      seen.add(id);
    }
    return new Response("thanks");
  },
});
console.log(`Listening at ${server.url.href}`);
