import { describe, expect, test } from "bun:test";

import { catalogueFiles } from "../../../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../../../src/inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../../../../src/inbound/providers/files/provider-file.ts";
import { interpret } from "../../../../src/inbound/providers/interpret.ts";
import { fetchedKey } from "../../../../src/inbound/signatures/fetched-key.ts";
import type { KeyStore } from "../../../../src/inbound/signatures/key-store.ts";
import { coversBody } from "../../../../src/inbound/signatures/scheme.ts";
import { verifier } from "../../../../src/inbound/signatures/signature.ts";
import type { Secrets, SignedRequest } from "../../../../src/inbound/signatures/signed-request.ts";
import { recordedDeliveries } from "../oracles/recorded.ts";

const day = 86_400_000;

for (const [name, text] of Object.entries(catalogueFiles)) {
  const provider = fileProvider(name, `${name}.yaml`, readProviderFile(`${name}.yaml`, text));
  const { signature } = provider;
  const { secret: usual, serves = {}, deliveries } = recordedDeliveries(name);
  const keys: KeyStore = {
    confirm() {},
    find(source, { url, kid }) {
      const served = serves[url];
      if (served === undefined) return null;
      const response = typeof served === "string" ? served : JSON.stringify(served);
      // The certificates were made when the deliveries were recorded.
      return fetchedKey(source, response, kid, Date.parse(deliveries[0]?.at ?? "") + day);
    },
  };
  const outcomeOf = async (request: SignedRequest, secrets: Secrets) => {
    const result = await verifier(signature, secrets, keys)(request);
    return "verified" in result ? result.verified.signedWith : result.rejection;
  };

  describe(`${name}: what its oracle accepts`, () => {
    for (const delivery of deliveries) {
      const { title, at, url, body, event, handshake } = delivery;
      const headers = new Headers(delivery.headers);
      const bytes = Buffer.from(body);
      const receivedAtMs = Date.parse(at);
      const request = { method: "POST", url, headers, bytes, receivedAtMs };
      const current = delivery.secret ?? usual;
      const isUnsigned = provider.handshakes?.some(
        (each) => each.kind === "unsigned" && each.matches({ headers, url, payload: () => null }),
      );
      if (isUnsigned === true) continue;

      test(`${title} verifies, also with a previous secret`, async () => {
        expect(await outcomeOf(request, { current, previous: null })).toBe("current");
      });

      test(`${title} does not verify after a change`, async () => {
        const rejection = /^(?!current|previous)/;
        if (coversBody(signature)) {
          const altered = Buffer.concat([bytes, Buffer.from(" ")]);
          expect(
            await outcomeOf({ ...request, bytes: altered }, { current, previous: null }),
          ).toMatch(rejection);
        }
        const none = { ...request, headers: new Headers(), bytes: Buffer.from("{}") };
        expect(await outcomeOf(none, { current, previous: null })).toMatch(rejection);
      });

      if (event === undefined || handshake !== undefined) continue;
      test(`${title} becomes the event ${event}`, () => {
        const [meaning] = interpret(provider, { bytes }, (header) => headers.get(header)) ?? [];
        expect(meaning).toMatchObject({ status: "accepted" });
        expect(meaning?.title).toMatch(/^.{4,500}$/);
      });
    }
  });
}
