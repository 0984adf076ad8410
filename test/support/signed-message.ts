import { expect } from "bun:test";

import { Webhook } from "standardwebhooks";

interface Signed {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Verifies a message as its consumer would, at the time of the test's clock. */
export function requireSigned({ body, headers }: Signed, secret: string, prefix = ""): void {
  const [id = "", at = "", signature] = ["id", "timestamp", "signature"].map(
    (name) => headers[`${prefix}webhook-${name}`],
  );
  expect(signature).toBe(new Webhook(secret).sign(id, new Date(Number(at) * 1_000), body));
}
