import { oneOrMore } from "../../../base/place.ts";
import { forwarded } from "../../../inbound/providers/forwarded.ts";
import type { Provider } from "../../../inbound/providers/provider.ts";
import {
  type DevelopmentSecret,
  signingKeyWith,
} from "../../../inbound/signatures/development-secret.ts";
import { isTextScheme } from "../../../inbound/signatures/scheme.ts";
import { note, type Paint, timeOfDay } from "../../kit/output.ts";

import { localAnswer } from "./local-answer.ts";
import { type ReceivedDelivery, throwawaySecret } from "./local-request.ts";
import type { StateFile } from "./state.ts";

interface Parts {
  readonly to: string;
  readonly withAllHeaders: boolean;
  readonly providerOf: (id: string) => Provider | undefined;
  readonly state: StateFile;
  readonly signal: AbortSignal;
  readonly paint: Paint;
}

/** Sends deliveries to the local address, and prints a line for each. */
export interface Forwarder {
  /** False if it was interrupted before the local address answered. */
  forward(delivery: ReceivedDelivery): Promise<boolean>;
  /** Sends the last delivery again, if there is one. */
  again(): Promise<void>;
  /** Prints the throwaway secret of a provider, once. */
  showSecret(provider: string): void;
}

/** A caution for services that sign a time in the body, which is sent unchanged; null for others. */
function timeInBody(scheme: Provider["signature"]): string | null {
  const { from, toleranceSeconds = 0 } = isTextScheme(scheme) ? (scheme.timestamp ?? {}) : {};
  const places = oneOrMore(from).filter((place) => place.startsWith("/"));
  return places.length > 0
    ? `the signed time is in the body (${places.join(", ")}): a library that checks it accepts a delivery for ${toleranceSeconds} s`
    : null;
}

export function forwarder(parts: Parts): Forwarder {
  const { to, withAllHeaders, providerOf, state, signal, paint } = parts;
  const shown = new Set<string>();
  let last: ReceivedDelivery | null = null;

  /** The provider's throwaway secret, made on first use and printed once per run. */
  function secretOf(provider: Provider | undefined): DevelopmentSecret | null {
    if (provider === undefined) return null;
    const { secrets } = state.current;
    const known = Object.hasOwn(secrets, provider.id) ? secrets[provider.id] : undefined;
    const secret = known ?? throwawaySecret(provider);
    if (secret !== null && known === undefined) {
      state.save({ secrets: { ...secrets, [provider.id]: secret } });
    }
    if (!shown.has(provider.id)) {
      shown.add(provider.id);
      const about =
        secret === null
          ? `${provider.id}: only the service can sign; its deliveries arrive unsigned`
          : `${provider.id}: deliveries are signed with the secret ${secret.secret.trim()}`;
      note(about);
      const timed = secret === null ? null : timeInBody(provider.signature);
      if (timed !== null) note(`${provider.id}: ${timed}`);
    }
    return secret;
  }

  async function send(delivery: ReceivedDelivery, remark: string): Promise<boolean> {
    const { id, provider: providerId, type, bytes } = delivery;
    const line = (what: string) =>
      console.log(`${timeOfDay()} ${what} ${providerId} ${type} ${id}${remark}`);
    if (bytes === null) {
      line(paint("yellow", "gone: retention deleted the body,"));
      return true;
    }
    const provider = providerOf(providerId);
    const secret = secretOf(provider);
    const key = secret === null ? null : signingKeyWith(secret);
    const request = { headers: delivery.headers, bytes };
    const make = () =>
      forwarded(request, provider, key, { url: to, atMs: Date.now(), withAll: withAllHeaders });
    const { unsigned } = make();
    if (unsigned !== null && !shown.has(`${providerId} unsigned`)) {
      shown.add(`${providerId} unsigned`);
      note(`${providerId}: sent without a signature (${unsigned})`);
    }
    const answer = await localAnswer(to, make, bytes, signal, () =>
      note(`nothing listens at ${to}: waiting for it`),
    );
    if (answer === null) return false;
    const { status, error, durationMs } = answer;
    const isGood = status !== null && status >= 200 && status < 300;
    const said = paint(isGood ? "green" : "red", status === null ? "ERR" : String(status));
    line(`${said} ${durationMs} ms${error === null ? "" : ` (${error})`}`);
    return true;
  }

  return {
    async forward(delivery) {
      const isDone = await send(delivery, "");
      if (isDone) last = delivery;
      return isDone;
    },
    async again() {
      if (last === null) note("no delivery to send again yet");
      else await send(last, " (again)");
    },
    showSecret: (provider) => void secretOf(providerOf(provider)),
  };
}
