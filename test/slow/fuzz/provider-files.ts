import fc from "fast-check";

import { AppError } from "../../../src/base/errors.ts";
import { FileError } from "../../../src/base/file-error.ts";
import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../../src/inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../../../src/inbound/providers/files/provider-file.ts";
import { interpret } from "../../../src/inbound/providers/interpret.ts";
import type { Interpretation } from "../../../src/inbound/providers/provider.ts";

import { encoded, hostileBody, type Json, spoilt } from "./json.ts";
import { target } from "./target.ts";
import { damaged, hostileHeaderValue, hostileText } from "./text.ts";

const providers = Object.entries(catalogueFiles).map(([name, text]) =>
  fileProvider(name, `${name}.yaml`, readProviderFile(`${name}.yaml`, text)),
);

/** A payload longer than this must not take longer to read than its size explains. */
const slowMs = 2_000;

const payloads = fc.constantFrom(...providers).chain((provider) => {
  const fresh = { id: "0b9f3c52-8c1e-4d7a-9f26-51a1c0de7e11", now: new Date(1_763_716_364_000) };
  const bodies = Object.values(provider.samples).map((sample) => sample(fresh).body);
  // Guarantee: samples are read from YAML, which has the values of JSON.
  const good = fc.constantFrom(...bodies).map((body) => body as Json);
  return fc.record({
    provider: fc.constant(provider),
    body: fc.oneof({ weight: 4, arbitrary: encoded(spoilt(good)) }, hostileBody),
    header: hostileHeaderValue,
  });
});

/** Events that files make of hostile payloads: bounded, printable, links only to the web. */
export const filePayloads = target({
  name: "file-payloads",
  about: "hostile payloads through the templates of every file of the catalogue",
  shortRuns: 500,
  cases: payloads,
  show: ({ provider, body }) => `${provider.id}: ${Buffer.from(body).toString("base64")}`,
  check({ provider, body, header }) {
    const startedMs = performance.now();
    try {
      const events = interpret(provider, { bytes: body }, () => header) ?? [];
      for (const event of events) requireHarmless(event);
    } catch (error) {
      // A delivery with too many items is 413.
      if (!(error instanceof AppError && error.code === "body-too-large")) throw error;
    }
    if (performance.now() - startedMs > slowMs) throw new Error("It took too long");
  },
});

function requireHarmless({
  type,
  title,
  url,
  actor,
  subject,
  data,
  deliveryId,
}: Interpretation): void {
  for (const text of [title, actor, subject, ...Object.values(data)]) {
    if (typeof text !== "string") continue;
    const isPrintable = !/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text) && text.isWellFormed();
    if (text.length > 500 || !isPrintable) throw new Error(`Not a printable line: ${text}`);
  }
  if (title === "") throw new Error("The title is empty");
  if (!/^[\w.:-]{1,80}$/.test(type)) throw new Error(`Not a type: ${type}`);
  if (url !== null && !/^https?:\/\/[\x21-\x7e]{1,2040}$/.test(url)) {
    throw new Error(`Not a link: ${url}`);
  }
  if (deliveryId !== null && !/^[\x21-\x7e]{1,200}$/.test(deliveryId)) {
    throw new Error(`Not an id: ${deliveryId}`);
  }
}

const texts = Object.values(catalogueFiles);
const fileTexts = fc.oneof(
  hostileText,
  damaged(fc.constantFrom(...texts).map((text) => Buffer.from(text))).map((bytes) =>
    Buffer.from(bytes).toString(),
  ),
  fc.tuple(fc.constantFrom(...texts), fc.nat(60), hostileText).map(([text, line, inserted]) =>
    text
      .split("\n")
      .with(line % 20, inserted)
      .join("\n"),
  ),
);

/** Files that are read or refused with a line, whatever is in them. */
export const fileSyntax = target({
  name: "file-syntax",
  about: "damaged provider files: each is read, or each of its errors is one line",
  shortRuns: 300,
  cases: fileTexts,
  check(text) {
    try {
      fileProvider("any", "any.yaml", readProviderFile("any.yaml", text));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const odd = error.messages.find((message) => !/^any\.yaml:\d+: [^\n]+$/.test(message));
      if (odd !== undefined) throw new Error(`Not one line: ${odd}`, { cause: error });
    }
  },
});
