import { expect, test } from "bun:test";

import { resealDestinations } from "../../../src/outbound/destinations/operator-gateway.ts";
import { openSecrets } from "../../../src/outbound/model/destination-secrets.ts";
import { destinationById } from "../../../src/outbound/model/destinations.sql.ts";
import { contextOf } from "../../support/operator.ts";
import { appForAll } from "../../support/running-app.ts";

const app = appForAll({ DESTINATIONS_ALLOW_PRIVATE: "true" });
const keyOf = (byte: number) => Buffer.alloc(32, byte);
/** That of the app. */
const own = keyOf(7);
const next = keyOf(8);

test("secrets are sealed with the current key at the start, and kept if their key is missing", async () => {
  const url = "http://127.0.0.1:1099/hook";
  const input = { name: "ops", format: "json", url };
  const { storage, destinations } = app.services;
  const { id } = (await destinations.create(contextOf("root", "admin"), input)).made;
  const stored = async () => {
    const [found] = await storage.all(destinationById, { id });
    if (found === undefined) throw new Error("Not stored");
    return found;
  };
  const before = await stored();
  await resealDestinations(storage, [keyOf(9)]);
  expect(await stored()).toEqual(before);
  await resealDestinations(storage, [next, own]);
  expect(openSecrets([next], await stored())).toEqual(openSecrets([own], before));
});
