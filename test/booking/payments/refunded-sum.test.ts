import { describe, expect, test } from "bun:test";

import { refundedSum } from "../../../src/booking/payments/refunded-sum.ts";

/** `<letter><minor>@<seconds>`: R reports the sum of refunds, F one that failed, A and C are an admin's, B of another payment. */
function reports(text: string) {
  return text.split(" ").map((word) => {
    const [, kind = "", minor = "", seconds = ""] = /^(\w)(\d+)@(\d+)$/.exec(word) ?? [];
    const isOwn = kind === "A" || kind === "C";
    return {
      provider: isOwn ? "bookings" : "payment_processor",
      reference: isOwn ? null : kind === "B" ? "pi_2" : "pi_1",
      outcome: ({ F: "refund_failed", C: "corrected" } as const)[kind] ?? ("refunded" as const),
      amountMinor: Number(minor),
      currency: "USD",
      occurredAt: new Date(Number(seconds) * 1_000),
    };
  });
}

describe("the sum of refunds", () => {
  test.each([
    ["R100@1 R300@2", 300],
    ["R300@2 R100@1", 300],
    ["R300@1 R100@1", 300],
    ["R100@1 B50@2", 150],
    ["R100@1 F100@2", 0],
    // In any order of receipt.
    ["F100@2 R100@1", 0],
    ["R100@1 F100@2 R100@3", 100],
    ["R100@3 F100@2 R100@1", 100],
    ["F100@2 R100@3", 100],
    ["R300@1 F100@2 R250@3 F50@4", 200],
    ["R100@1 B50@2 F100@3", 50],
    // In the same second, by receipt.
    ["R100@1 F100@1", 0],
    ["F100@1 R100@1", 0],
    ["F100@1 R100@1 R100@1", 100],
    ["R100@1 F100@1 R100@1", 100],
    ["F100@2", 0],
    // An admin's record may be of the same money.
    ["A100@1 R100@2", 100],
    ["R100@1 A100@2 F100@3", 0],
    ["A100@2 R50@1", 100],
    ["A100@1 C40@2", 40],
    ["R100@1 C0@2 R100@3", 100],
    ["C0@2 R100@1", 0],
    ["R100@1 B50@2 C20@3 B60@4", 60],
  ])("of %s is %d", (text, sum) => {
    expect(refundedSum(reports(text), "USD")).toBe(sum);
  });

  test("counts no other currency", () => {
    expect(refundedSum(reports("R100@1"), "EUR")).toBe(0);
  });
});
