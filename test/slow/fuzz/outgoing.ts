import fc from "fast-check";
import { Webhook } from "standardwebhooks";

import { standardSignature } from "../../../src/outbound/formats/standard-webhooks.ts";

import { jsonText } from "./json.ts";
import { target } from "./target.ts";

export const outgoing = target({
  name: "outgoing",
  about: "signatures of what we send, checked by the library of Standard Webhooks",
  shortRuns: 100,
  cases: fc.record({
    key: fc.uint8Array({ minLength: 24, maxLength: 64 }),
    id: fc.stringMatching(/^ntf_[0-9a-f]{1,32}$/),
    body: jsonText,
  }),
  check({ key, id, body }) {
    const seconds = Math.floor(Date.now() / 1_000);
    const library = new Webhook(Buffer.from(key).toString("base64"));
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": String(seconds),
      "webhook-signature": standardSignature(key, id, seconds, body),
    };
    library.verify(body, headers);
    let isTaken = true;
    try {
      library.verify(`${body} `, headers);
    } catch {
      isTaken = false;
    }
    if (isTaken) throw new Error("The library takes another body too");
  },
});
