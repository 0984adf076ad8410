import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { asPayload } from "../../src/base/payload.ts";
import { template, type TemplateMode } from "../../src/base/template.ts";
import { describer } from "../../src/inbound/providers/files/describe.ts";
import type { ProviderFile } from "../../src/inbound/providers/files/provider-file.schema.ts";
import { forAll, runs } from "../support/runs.ts";

const payload = {
  id: 7,
  name: "Ada\nLovelace",
  paid: true,
  price: 1234,
  text: "4200",
  currency: "eur",
  yen: "JPY",
  dinar: "KWD",
  coin: "XBT",
  krona: "ISK",
  ref: "refs/heads/main",
  state: "past_due",
  list: [1, 2, 3],
  "a/b": "slash",
  odd: [" ", "0x10", "1e3", "-5"],
  markup: "a &lt;b&gt; &amp;lt;",
  empty: "",
  none: null,
  inner: { "": "nameless", length: 5 },
};

function rendered(text: string, mode: TemplateMode = "line") {
  const headers = new Headers({ "x-topic": "orders/paid" });
  const source = { headers, url: "/?c=1", payload: () => payload };
  return template(text, mode).render({
    source,
    event: "order_paid",
    type: "order.paid",
    secret: "s",
    decimals: { ISK: 2 },
  });
}

describe("a template", () => {
  test.each([
    ["plain", "plain"],
    ["{/id} {/paid}", "7 true"],
    ["{/name}", "Ada"],
    ["{/a~1b}", "slash"],
    ["{/list/1}", "2"],
    ["{/inner/}", "nameless"],
    ["{header.x-topic | last}", "paid"],
    ["{/missing ?? /empty ?? /id}", "7"],
    ['{/missing ?? "some | one ?? }"}', "some | one ?? }"],
    ["by{/missing}[ {/none}][ {/id}]", "by 7"],
    ["{/state | words | upper}", "PAST DUE"],
    ["{/price | money /currency}", "EUR 12.34"],
    ["{/text | money /yen} {/none | money /yen}{/price | money /none}", "JPY 4,200 "],
    ["{/price | money /dinar} {/price | money /coin}", "KWD 1.234 XBT 1234"],
    ["{/price | money /krona}", "ISK 12.34"],
    ["{/name | money /currency}{/id | count}", ""],
    ["{/odd/0 | money /yen}{/odd/1 | money /yen}{/odd/2 | money /yen}", ""],
    ["{/odd/3 | money /yen}", "JPY -5"],
    ["{/list | count} {payload | count} {payload | count}", "3 19 19"],
    ['{/missing ?? /price ?? /id | key} {/missing | key}{"a" | key}', "price "],
    ["{/markup | unescape}", "a <b> &lt;"],
    ["{event} {type}", "order_paid order.paid"],
    ["{{a}} [[b]]", "{a} [b]"],
  ])("%s becomes %j", (text, expected) => {
    expect(rendered(text).text).toBe(expected);
  });

  test.each(["{/constructor}", "{/__proto__}", "{/list/length}", "{/name/0}", "{/list/-1}"])(
    "%s finds no key that the payload does not have",
    (text) => {
      expect(rendered(text)).toEqual({ text: "", isWhole: false });
    },
  );

  test("of a link encodes what follows fixed text", () => {
    expect(rendered("https://e.example/{/state}?q={/ref}", "url").text).toBe(
      "https://e.example/past_due?q=refs%2Fheads%2Fmain",
    );
  });

  test.each([
    ["{name}", "{/name}"],
    ["{/a", '"{{"'],
    ["a}", '"}}"'],
    ["[a]", '"[["'],
    ["[{/a}", '"[["'],
    ["{/a}]", '"]]"'],
    ["[{/a}[{/b}]]", "brackets"],
    ["{/a | uper}", '"upper"'],
    ["{/a | hmacSha256Hex}", "handshakes"],
    ["{Header.X}", "header.x-name"],
    ["{/a | cents}", "| money /currency"],
    ["{/a | money}", "| money /currency"],
    ["{/a | upper /b}", "no argument"],
    ["{}", "JSON pointer"],
  ])("%s is an error that says %s", (text, hint) => {
    expect(() => template(text)).toThrow(hint);
  });
});

const file: ProviderFile = {
  displayName: "Any",
  signature: {
    kind: "hmac",
    algorithm: "sha256",
    encoding: "hex",
    from: "header.x-signature",
    signs: "{body}",
  },
  deliveryId: "/id",
  event: "{/type}[.{/action}]",
  title: "{/title} {/list | count} {/a ?? payload | words | upper}",
  text: "{/text}[ by {/user/name}]",
  url: "{/url}",
  actor: "{/user/name | lower}",
  subject: "thing/{/id}",
  occurredAt: ["/at", "/time"],
  severity: { from: "/level", is: { high: "error" }, otherwise: "warning" },
  data: { ref: "{/ref | short}", link: "{/url | last}", price: "{/price | money /currency}" },
  events: { "*": {} },
  samples: { any: { body: {} } },
};

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom(
    "x".repeat(10_000_000),
    "/".repeat(1_000_000),
    "_".repeat(1_000_000),
    "<script>alert(1)</script>",
    "javascript:alert(1)",
    "a\u0000b\u001b[31m\u202e\ud800",
    "https://e.example/",
    "2026-11-21T09:12:44Z",
  ),
);
const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  anyText,
  fc.jsonValue(),
  fc.constantFrom<unknown>(
    1e300,
    -0,
    [[]],
    {},
    Array.from({ length: 100_000 }, () => 0),
  ),
);
const keys = ["id", "type", "action", "title", "list", "a", "text", "user", "url", "at", "level"];
const anyPayload = fc.dictionary(
  fc.constantFrom(...keys, "ref", "price", "time", "__proto__", "constructor"),
  anyValue,
);

test("every payload becomes bounded, printable text, and a link only if it is one", () => {
  const interpret = describer(file);
  forAll(runs(300), [anyPayload, anyText], (value, header) => {
    const event = interpret({ payload: asPayload(value) ?? {}, header: () => header });
    const { title, url, actor, subject, data, type, deliveryId } = event;
    for (const text of [title, actor, subject, ...Object.values(data)]) {
      if (typeof text !== "string") continue;
      expect(text.length).toBeLessThanOrEqual(500);
      expect(text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
      expect(text.isWellFormed()).toBe(true);
    }
    expect(title).not.toBe("");
    expect(type).toMatch(/^[\w.:-]{1,80}$/);
    if (deliveryId !== null) expect(deliveryId).toMatch(/^[\x21-\x7e]{1,200}$/);
    if (url !== null) expect(url).toMatch(/^https?:\/\/[\x21-\x7e]{1,2040}$/);
  });
});

test("an event without notify is ignored under its own type and title", () => {
  const events = { opened: { type: "mail.opened", title: "{/title}", notify: false as const } };
  const request = { payload: { type: "opened", title: "Read" }, header: () => null };
  expect(describer({ ...file, events })(request)).toMatchObject({
    status: "ignored",
    type: "mail.opened",
    title: "Read",
  });
});
