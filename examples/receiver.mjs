// Receives notifications from Skyhook: verifies them (https://www.standardwebhooks.com), stores each once, answers, then works.
// Run it: WEBHOOK_SECRET=whsec_… node receiver.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const key = Buffer.from((process.env.WEBHOOK_SECRET ?? "").replace(/^whsec_/, ""), "base64");
if (key.length < 24) throw new Error("WEBHOOK_SECRET must be whsec_ and base64");
const toleranceSeconds = 300;
const maxBytes = 1_000_000;
/** In your program, use a database table with a unique key: a restart loses nothing and repeats nothing. */
const stored = new Map();

function isGenuine(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signatures } = headers;
  if (!id || !time || !signatures) return false;
  // An old message may be a replay by somebody who copied it.
  if (!(Math.abs(Date.now() / 1_000 - Number(time)) <= toleranceSeconds)) return false;
  const wanted = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest();
  // During a rotation there are several signatures. One must match.
  return signatures.split(" ").some((signature) => {
    if (!signature.startsWith("v1,")) return false;
    const given = Buffer.from(signature.slice(3), "base64");
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}

/** The raw body, because the signature covers its bytes; null if it is too large. */
async function bodyOf(request) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > maxBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function work(body) {
  const { severity, title } = JSON.parse(body).data;
  console.log(`[${severity}] ${title}`);
}

const server = createServer(async (request, response) => {
  const body = await bodyOf(request);
  if (body === null) return response.writeHead(413, { connection: "close" }).end();
  if (!isGenuine(request.headers, body)) return response.writeHead(401).end();
  const id = request.headers["webhook-id"];
  const isNew = !stored.has(id);
  if (isNew) stored.set(id, body);
  // Skyhook retries if there is no response within 10 s, so respond first, then work.
  response.writeHead(204).end();
  if (isNew) setImmediate(work, body);
});
server.listen(Number(process.env.PORT ?? 4000), "127.0.0.1", () => {
  console.log(`Listening at http://127.0.0.1:${server.address().port}`);
});
