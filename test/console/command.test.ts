import { describe, expect, test } from "bun:test";

import {
  type Command,
  idIn,
  matching,
  referenceOf,
} from "../../src/console/page/palette/command.ts";

const command = (group: string, label: string, more: Partial<Command> = {}): Command => ({
  id: label,
  group,
  label,
  address: "#/",
  ...more,
});
const commands = [
  command("Destinations", "deploys", { hint: "json" }),
  command("Actions", "New destination", { keywords: "add create" }),
  command("Views", "Destinations", { hint: "6" }),
  command("Views", "Issues", { hint: "1" }),
  command("Actions", "Sign out"),
];
const labels = (text: string) => matching(commands, text).map(({ label }) => label);

describe("the command palette", () => {
  test("finds commands by all words of label, group, hint and keywords, in any case and order", () => {
    expect(labels("")).toHaveLength(commands.length);
    expect(labels("OUT sign")).toEqual(["Sign out"]);
    expect(labels("create")).toEqual(["New destination"]);
    expect(labels("json deploys")).toEqual(["deploys"]);
    expect(labels("  destination ")).toEqual(["Destinations", "New destination", "deploys"]);
    expect(labels("nothing")).toEqual([]);
  });

  test("finds the id in a pasted text and the view that shows it", () => {
    const id = "evt_019377b07d4070008000000000000001";
    expect(idIn(id)).toEqual({ id, view: "events", what: "event" });
    expect(idIn(`  "${id.toUpperCase()}"\n`)?.id).toBe(id);
    expect(idIn(`https://hooks.example.com/console#/events/${id}?q=1`)?.id).toBe(id);
    expect(idIn("bk_1")?.view).toBe("bookings");
    expect(idIn("dst_1")?.view).toBe("destinations");
    expect(idIn("rej_1")?.view).toBe("rejections");
    for (const text of ["", "evt", "evt_", "sub_evt_1x_", "req_1", "evt-1"]) {
      expect([text, idIn(text)]).toEqual([text, null]);
    }
  });

  test("takes six letters for a booking reference", () => {
    expect(referenceOf(" kxqjzp ")).toBe("KXQJZP");
    expect(referenceOf("KXQJZ")).toBeNull();
    expect(referenceOf("KXQ JZP")).toBeNull();
    expect(referenceOf("KXQJZ1")).toBeNull();
  });
});
