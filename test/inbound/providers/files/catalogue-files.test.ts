import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import {
  catalogueFile,
  catalogueFiles,
} from "../../../../src/inbound/providers/files/catalogue-files.ts";
import { readPlaces } from "../../../../src/inbound/providers/files/places.ts";
import { readProviderFile } from "../../../../src/inbound/providers/files/provider-file.ts";
import { recordedDeliveries } from "../oracles/recorded.ts";

const folder = join(import.meta.dir, "../../../../src/inbound/providers/files/catalogue");

test("the catalogue carries every file of its folder", () => {
  const names = readdirSync(folder).map((name) => name.replace(/\.yaml$/, ""));
  expect(Object.keys(catalogueFiles).toSorted()).toEqual(names.toSorted());
  expect(names.length).toBeGreaterThanOrEqual(20);
  const recorded = readdirSync(join(import.meta.dir, "../oracles/fixtures"));
  expect(recorded.toSorted()).toEqual(names.map((name) => `${name}.json`).toSorted());
});

describe.each(Object.entries(catalogueFiles))("%s", (name, text) => {
  const file = readProviderFile(`${name}.yaml`, text);

  test("is the same without the checks", () => {
    expect(catalogueFile(text)).toStrictEqual(file);
  });

  test("has samples of listed events only", () => {
    const unlisted = Object.keys(file.samples).filter((event) => !(event in file.events));
    if (!("*" in file.events)) expect(unlisted).toEqual([]);
  });

  test("shows no link that opens without a sign-in", () => {
    const secret =
      /order_status|receipt|hosted|invoice_pdf|customer_portal|share_url|join_url|start_url|cancel_url|reschedule_url|play_url|signed_url/;
    const places = readPlaces(file).filter((place) => secret.test(place));
    expect(places.filter((place) => /url|uri|link|receipt|portal/.test(place))).toEqual([]);
  });

  test("says how to set it up and where the service documents it", () => {
    expect(file.setUp).toMatch(/secret/i);
    expect(file.docs).toStartWith("https://");
  });

  test("says whether the service's own SDK or vector confirms it", () => {
    const { kind, oracle } = recordedDeliveries(name);
    const confirmed = kind === "sdk" || kind === "vector";
    expect(file.checkedWith?.includes("not tried against") ?? true).toBe(!confirmed);
    // Such as `@slack/bolt 5.1.0`.
    if (kind === "sdk") expect(file.checkedWith).toContain(oracle.replace(/ \(.*/, ""));
  });
});

test("at least 20 entries are confirmed by the service's own SDK or vector", () => {
  const confirmed = Object.keys(catalogueFiles).filter((name) =>
    ["sdk", "vector"].includes(recordedDeliveries(name).kind),
  );
  expect(confirmed.length).toBeGreaterThanOrEqual(20);
});
