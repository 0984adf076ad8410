import { consoleHeaders, sessionPath } from "./kit/early.ts";

// Sends the first requests while the console's code, which is much larger than this script, is still loading.

const early = new Map<string, Promise<Response>>();
globalThis.earlyResponses = early;

function request(path: string): Promise<Response> {
  const response = fetch(path, { headers: consoleHeaders, signal: AbortSignal.timeout(20_000) });
  early.set(path, response);
  return response;
}

const everywhere = ["v1/providers", "v1/issues"];
const byAddress: Readonly<Record<string, string>> = {
  "#/events": "v1/events?include=severity%2Cdelivery&limit=50",
};

async function start(): Promise<void> {
  const { ok } = await request(sessionPath);
  if (!ok) return;
  const own = byAddress[location.hash] ?? [];
  await Promise.all(everywhere.concat(own).map(request));
}

// The page makes failed requests again, or shows why they failed.
start().catch(() => {});
