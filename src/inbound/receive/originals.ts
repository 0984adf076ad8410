import { positionIn } from "../../base/ids.ts";
import type { Storage } from "../../db/storage.ts";
import { storedReceipt } from "../../event/receipts.ts";
import { MissingOriginal, type OriginalOf } from "../../outbound/formats/original.ts";
import { forwarded } from "../providers/forwarded.ts";
import type { Registry } from "../providers/registry.ts";
import { hasSharedSecret } from "../signatures/scheme.ts";

const noRequest =
  "Skyhook made this event, so there is no request to forward. To test the destination, replay an event of a provider";

/** Finds the requests of events, to send them on signed with the secrets of their providers. */
export function originals(storage: Storage, registry: Registry): OriginalOf {
  return async ({ id, provider: providerId }, url, atMs) => {
    const { body, headers, address } = await storedReceipt(storage, positionIn(id));
    // Events that Skyhook creates come from no address.
    if (address === null) throw new MissingOriginal(noRequest);
    if (body === null) throw new MissingOriginal("retention has deleted the original body");
    const registered = registry.get(providerId);
    if (registered === undefined || registered.secrets === null) {
      throw new Error(`${providerId} has no secret now, with which its requests are signed`);
    }
    const { provider, secrets } = registered;
    const key = hasSharedSecret(provider.signature) ? { secret: secrets.current } : null;
    const bytes = new Uint8Array(body);
    const request = forwarded({ headers: headers ?? {}, bytes }, provider, key, { url, atMs });
    return { headers: request.headers, body: bytes };
  };
}
