import { interpret } from "../../inbound/providers/interpret.ts";
import { requestReader } from "../../inbound/providers/kept-query.ts";
import type { Provider } from "../../inbound/providers/provider.ts";
import { signedSample } from "../../inbound/providers/signed-sample.ts";
import { developmentSecret, signingKeyWith } from "../../inbound/signatures/development-secret.ts";
import { verifier } from "../../inbound/signatures/signature.ts";

import { checkSample } from "./sample-rows.ts";

/** What a check of a provider found. Each failure is one line. */
interface CheckResult {
  /** The attempts that were made. */
  readonly attempts: number;
  readonly failures: readonly string[];
  /** What makes the samples less useful. */
  readonly notes: readonly string[];
}

/** Checks a provider without a network: changes of a signed sample, then each sample. */
export async function checkProvider(provider: Provider): Promise<CheckResult> {
  const results = [await checkChanges(provider), await checkSamples(provider)];
  return {
    attempts: results.reduce((sum, { attempts }) => sum + attempts, 0),
    failures: results.flatMap(({ failures }) => failures),
    notes: results.flatMap(({ notes }) => notes),
  };
}

/** Changes of the first sample. */
async function checkChanges(provider: Provider): Promise<CheckResult> {
  const [sample] = Object.entries(provider.samples);
  if (sample === undefined) return { attempts: 0, failures: [], notes: [] };
  const { attempts, failures } = await checkSample(provider, sample[1]);
  const named = failures.map((failure) => `sample ${sample[0]}: ${failure}`);
  return { attempts, failures: named, notes: [] };
}

/** Each sample must be an event that the file lists, with an id of its own, and verify if it can be signed here. */
async function checkSamples(provider: Provider): Promise<CheckResult> {
  const [failures, notes]: [string[], string[]] = [[], []];
  const names = Object.keys(provider.samples);
  for (const name of names) {
    const found = await sampleProblems(provider, name);
    failures.push(...found.failures.map((problem) => `sample ${name}: ${problem}`));
    notes.push(...found.notes.map((problem) => `sample ${name}: ${problem}`));
  }
  return { attempts: names.length, failures, notes };
}

async function sampleProblems(
  provider: Provider,
  name: string,
): Promise<Pick<CheckResult, "failures" | "notes">> {
  const failed = (...failures: readonly string[]) => ({ failures, notes: [] });
  const sample = provider.samples[name];
  if (sample === undefined) return failed();
  const now = new Date();
  const made = developmentSecret(provider.signature, provider.secretPrefix);
  // Only the service can sign; what the sample means can be checked all the same.
  if (made === null) return failed();
  const key = signingKeyWith(made);
  const url = `https://hooks.example.com/webhooks/${provider.id}`;
  const sign = () => signedSample(provider, sample, key, { id: crypto.randomUUID(), now }, { url });
  const [first, second] = [sign(), sign()];
  const headers = new Headers(first.headers);
  const request = {
    method: "POST",
    url: url + first.urlEnd,
    headers,
    bytes: first.bytes,
    receivedAtMs: now.getTime(),
  };
  const result = await verifier(provider.signature, { current: made.secret, previous: null })(
    request,
  );
  if ("rejection" in result) return failed(`its signature is ${result.rejection}`);
  const [meaning] = interpret(provider, result.verified, requestReader(provider, request)) ?? [];
  if (meaning === undefined)
    return failed('its body cannot be read: write what it is in "payload"');
  if (meaning.status !== "accepted") return failed(unlisted(meaning.type));
  const notes: string[] = [];
  const others = new Headers(second.headers);
  const [other] =
    interpret(provider, second, requestReader(provider, { ...request, headers: others })) ?? [];
  const isIdentified = provider.deliveryIdIsSigned && meaning.deliveryId !== null;
  if (!isIdentified && Bun.deepEquals(first.bytes, second.bytes)) {
    notes.push("two of them are equal, so a second one is a duplicate: write {id} into the body");
  }
  if (meaning.deliveryId !== null && meaning.deliveryId === other?.deliveryId) {
    notes.push(
      "two of them have the same delivery id, so a second one is a duplicate: write {id} there",
    );
  }
  return { failures: [], notes };
}

function unlisted(type: string): string {
  return `it is ${type}, of which operators are not notified: list it in "events" without "notify: false", or leave the sample out`;
}
