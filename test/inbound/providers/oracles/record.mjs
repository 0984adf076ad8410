// Records deliveries that the vendors' own SDKs accept, for the tests of the catalogue of providers. Run in
// this folder: npm install && node record.mjs. Each delivery is signed by the SDK or, where the SDK only
// verifies, by the formula in the vendor's documentation. It is recorded if the SDK accepts it and rejects
// alterations of it. The clock is fixed: recording again changes only what is signed with a new key pair.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";

import { clock, fixClock } from "./clock.mjs";

fixClock();
const { vendors } = await import("./vendors.mjs");
const require = createRequire(import.meta.url);

for (const vendor of vendors) {
  const deliveries = [];
  for (const delivery of vendor.deliveries) deliveries.push(await record(vendor, delivery));
  const fixture = {
    provider: vendor.name,
    oracle: oracleOf(vendor),
    kind: vendor.kind ?? "sdk",
    secret: vendor.secret,
    ...(vendor.serves && { serves: vendor.serves }),
    deliveries,
  };
  writeFileSync(`./fixtures/${vendor.name}.json`, `${JSON.stringify(fixture, null, 2)}\n`);
  process.stdout.write(`${vendor.name}: ${deliveries.length}, by ${fixture.oracle}\n`);
}

async function record(vendor, delivery) {
  const body = typeof delivery.body === "string" ? delivery.body : JSON.stringify(delivery.body);
  const url = delivery.url ?? `https://hooks.example.com/webhooks/${vendor.name}`;
  const at = delivery.at ?? "2026-11-22T12:00:00.000Z";
  clock.now = Date.parse(at);
  const secret = delivery.secret ?? vendor.secret;
  const base = { method: "POST", url, body, secret };
  const headers = {
    ...delivery.headers,
    ...(delivery.signed ?? (await vendor.sign({ ...base, headers: delivery.headers ?? {} }))),
  };
  const request = { ...base, headers };
  if (vendor.accepts !== undefined) {
    await expectAnswer(vendor, delivery, "as sent", request, true);
    for (const [what, altered] of alterations(vendor, request)) {
      await expectAnswer(vendor, delivery, what, altered, false);
    }
  }
  const { title, event, source, handshake } = delivery;
  return {
    title,
    ...(source && { source }),
    ...(delivery.secret && { secret }),
    ...(event && { event }),
    ...(handshake && { handshake }),
    at,
    url,
    headers,
    body,
  };
}

function* alterations(vendor, request) {
  const alter = vendor.alterBody ?? changed;
  yield ["with another body", { ...request, body: alter(request.body) }];
  if (vendor.otherSecret) yield ["with another secret", { ...request, secret: vendor.otherSecret }];
  for (const name of vendor.signatureHeaders ?? []) {
    const headers = { ...request.headers, [name]: changedInside(request.headers[name]) };
    yield [`with another ${name}`, { ...request, headers }];
  }
}

/** Replaces the last letter or digit, so that JSON stays JSON and an encoding its length. */
function changed(text) {
  return text.replace(/[a-z0-9](?=[^a-z0-9]*$)/, (last) => (last === "0" ? "1" : "0"));
}

/** Changes a letter or digit near the middle: the last one of base64 may have bits that mean nothing. */
function changedInside(text) {
  const middle = text.slice(text.length / 2).search(/[a-zA-Z0-9]/) + Math.floor(text.length / 2);
  return text.slice(0, middle) + (text[middle] === "0" ? "1" : "0") + text.slice(middle + 1);
}

async function expectAnswer(vendor, delivery, what, request, expected) {
  let accepted;
  try {
    accepted = await vendor.accepts(request);
  } catch {
    accepted = false;
  }
  if (accepted === expected) return;
  throw new Error(
    `${vendor.name}: the oracle ${accepted ? "accepts" : "rejects"} "${delivery.title}" ${what}`,
  );
}

function oracleOf({ oracle }) {
  if (oracle.package === undefined) return oracle;
  const { version } = require(`./node_modules/${oracle.package}/package.json`);
  return `${oracle.package} ${version} (${oracle.call})`;
}
