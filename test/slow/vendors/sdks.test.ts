import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";

import { Glob } from "bun";

import type { JsonObject } from "../../../src/base/payload.ts";
import { pointerKeys, valueAt } from "../../../src/base/place.ts";
import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import type { Fresh, Sample } from "../../../src/inbound/providers/provider.ts";
import { setAt, signedSample } from "../../../src/inbound/providers/signed-sample.ts";
import { headerIn, isWeak, signaturePlaces } from "../../../src/inbound/signatures/scheme.ts";
import { json } from "../../support/app.ts";
import { noCertificates } from "../../support/certificates.ts";
import { asOperator } from "../../support/load.ts";
import { itemsOf } from "../../support/operator.ts";
import { skips } from "../../support/skips.ts";

import { installSdks, packages } from "./install.ts";
import { type Delivery, type Row, rows } from "./rows.ts";
import { publicUrl, startVendors, type Vendor, type Vendors } from "./vendors.ts";

// What the vendors' packages for receivers accept and reject, the server accepts and rejects too.

const missing = noCertificates ?? (await installSdks());

let vendors: Vendors;
beforeAll(async () => {
  if (missing === null) vendors = await startVendors(rows.map(({ provider }) => provider));
}, 60_000);
afterAll(() => vendors?.[Symbol.asyncDispose]());

function vendorOf({ provider }: Row): Vendor {
  const vendor = vendors.all.get(provider);
  if (vendor === undefined) throw new Error(`${provider} is not there`);
  return vendor;
}

const fresh = (): Fresh => ({ id: crypto.randomUUID(), now: new Date() });

/** The samples, by Skyhook's name of the event. */
function samplesOf(row: Row): readonly (readonly [string, Sample])[] {
  const { provider, file } = vendorOf(row);
  return Object.entries(provider.samples).map(([name, sample]) => {
    const type = file?.events[name]?.type ?? name;
    if (row.provider !== "aws_sns") return [type, sample];
    const SigningCertURL = vendors.certificateUrl;
    return [type, changed(sample, { body: (body) => ({ ...body, SigningCertURL }) })];
  });
}

function firstSampleOf(row: Row): Sample {
  const [[, sample] = []] = samplesOf(row);
  if (sample === undefined) throw new Error(`${row.provider} has no samples`);
  return sample;
}

const changed =
  (sample: Sample, { headers = {}, body = (same) => same }: NonNullable<Row["retry"]>): Sample =>
  (made) => {
    const before = sample(made);
    return { headers: { ...before.headers, ...headers }, body: body(before.body) };
  };

/** A sample, signed as the vendor's documentation says. */
function delivery(row: Row, sample: Sample, made = fresh(), signedAtMs = Date.now()): Delivery {
  const { provider, key } = vendorOf(row);
  const options = { url: urlOf(row), signedAtMs };
  const { headers, bytes } = signedSample(provider, sample, key, made, options);
  return sent(row, headers, bytes.toString());
}

const urlOf = ({ provider }: Row) => `${publicUrl}/webhooks/${provider}`;

const sent = (row: Row, headers: Delivery["headers"], body: string): Delivery => ({
  url: urlOf(row),
  headers,
  header: (name) => headers[name] ?? "",
  body,
  secret: vendorOf(row).key.secret,
  jwks: vendors.jwks,
});

async function packageAccepts(row: Row, given: Delivery): Promise<boolean> {
  try {
    return (await row.accepts(given)) !== false;
  } catch {
    return false;
  }
}

/** The status of the answer, and what it says. */
async function post(row: Row, { headers, body }: Delivery): Promise<string> {
  const response = await fetch(`${vendors.server.url}/webhooks/${row.provider}`, {
    method: "POST",
    headers: { ...headers, "x-forwarded-for": `192.0.2.${rows.indexOf(row)}` },
    body,
  });
  return `${response.status} ${String((await json(response))["status"])}`;
}

/** The types of the stored events. */
async function typesOf({ provider }: Row): Promise<readonly string[]> {
  const page = await asOperator(vendors.server, `/v1/events?limit=100&provider=${provider}`);
  return itemsOf((await json(page))["data"]).map(({ type }) => String(type));
}

/** Deliveries that differ in one letter or digit: in the body, or in a header with the signature. */
function tampered(row: Row, given: Delivery, id: string): readonly Delivery[] {
  const { signature } = vendorOf(row).provider;
  const { body, headers } = given;
  const signed = body.includes(id) ? body.indexOf(id) : body.search(/[a-z0-9](?=[^a-z0-9]*$)/i);
  const bodies = isWeak(signature) ? [] : [sent(row, headers, changedAt(body, signed))];
  const names = signaturePlaces(signature).map((place) => headerIn(place) ?? "");
  const signatures = names.flatMap((name) => {
    const value = given.header(name);
    const other = { ...headers, [name]: changedAt(value, value.length - 8) };
    return value === "" ? [] : [sent(row, other, body)];
  });
  return [...bodies, ...signatures];
}

const changedAt = (text: string, at: number): string =>
  text.slice(0, at) + (text[at] === "0" ? "1" : "0") + text.slice(at + 1);

/** One body with the items of several. */
function merged(bodies: readonly JsonObject[], each: string): JsonObject {
  const keys = pointerKeys(each);
  const items = bodies.flatMap((body) => valueAt(body, keys));
  // Guarantee: the payload of a file can be an array.
  if (keys.length === 0) return items as unknown as JsonObject;
  const copy = structuredClone(bodies[0] ?? {});
  setAt(copy, keys, items);
  return copy;
}

const isBatched = ({ provider }: Row) =>
  /^each: (?:\/\w+|"")$/m.test(catalogueFiles[provider] ?? "");

describe.skipIf(skips(missing))("the vendors' packages for webhooks", () => {
  test.each(rows)("$provider: each sample is accepted, as by its package", async (row) => {
    for (const [type, sample] of samplesOf(row)) {
      const given = delivery(row, sample);
      if (type !== row.wrongAbout) expect(await row.accepts(given)).not.toBe(false);
      expect(await post(row, given)).toMatch(/^200 (?!duplicate)/);
      expect(await typesOf(row)).toContain(type);
    }
  });

  test.each(rows.filter(({ names }) => names !== undefined))(
    "$provider: its file lists every event of its package",
    (row) => {
      const [glob = "", name = /$/g] = row.names ?? [];
      const files = [...new Glob(glob).scanSync({ cwd: packages, absolute: true })];
      const declared = files.flatMap((file) =>
        Array.from(readFileSync(file, "utf8").matchAll(name), ([, event = ""]) => event),
      );
      expect(declared).not.toEqual([]);
      const listed = Object.keys(vendorOf(row).file?.events ?? {});
      expect(new Set(declared).difference(new Set(listed))).toEqual(new Set());
    },
  );

  test.each(rows.filter(({ signs }) => signs !== undefined))(
    "$provider: what its package signs is accepted",
    async (row) => {
      const { headers, body } = delivery(row, firstSampleOf(row));
      const own = signaturePlaces(vendorOf(row).provider.signature).map(headerIn);
      const others = Object.entries(headers).filter(([name]) => !own.includes(name));
      const given = sent(row, Object.fromEntries(others), body);
      const signed = { ...given.headers, ...(await row.signs?.(given, new Date())) };
      expect(await post(row, sent(row, signed, body))).toBe("200 accepted");
    },
  );

  test.each(rows)("$provider: a changed delivery is rejected, as by its package", async (row) => {
    const made = fresh();
    const all = tampered(row, delivery(row, firstSampleOf(row), made), made.id);
    expect(all).not.toEqual([]);
    for (const given of all) {
      expect(await packageAccepts(row, given)).toBe(false);
      expect(await post(row, given)).toBe("401 401");
    }
  });

  test.each(rows)("$provider: its retry is a duplicate, if it can be told apart", async (row) => {
    const isNew = row.retryIsNew === true;
    const [made, sample] = [fresh(), firstSampleOf(row)];
    expect(await post(row, delivery(row, sample, made, Date.now() - 2_000))).toBe("200 accepted");
    const before = await typesOf(row);
    const retried = delivery(row, changed(sample, row.retry ?? {}), made);
    expect(await packageAccepts(row, retried)).toBe(true);
    expect(await post(row, retried)).toBe(isNew ? "200 accepted" : "200 duplicate");
    expect(await typesOf(row)).toHaveLength(before.length + (isNew ? 1 : 0));
  });

  test.each(rows.filter(isBatched))(
    "$provider: each item of a delivery is an event, and stored once",
    async (row) => {
      const each = String(vendorOf(row).file?.each);
      const { headers } = firstSampleOf(row)(fresh());
      const bodies = samplesOf(row).map(([, sample]) => sample(fresh()).body);
      const more = firstSampleOf(row)(fresh()).body;
      const itemsIn = (all: readonly JsonObject[]) =>
        all.flatMap((body) => valueAt(body, pointerKeys(each))).length;
      const batch = (all: readonly JsonObject[], retry: Row["retry"] = {}) =>
        delivery(
          row,
          changed(() => ({ headers, body: merged(all, each) }), retry),
        );
      const before = (await typesOf(row)).length;
      expect(await post(row, batch(bodies))).toBe("200 accepted");
      expect(await post(row, batch(bodies, row.retry))).toBe("200 duplicate");
      const types = await typesOf(row);
      expect(types).toHaveLength(before + itemsIn(bodies));
      expect(types.slice(0, itemsIn(bodies))).toEqual(
        expect.arrayContaining(samplesOf(row).map(([type]) => type)),
      );
      // Of a delivery that is partly stored, only the others are.
      expect(await post(row, batch([...bodies, more]))).toBe("200 accepted");
      expect(await typesOf(row)).toHaveLength(before + itemsIn([...bodies, more]));
    },
  );
});
