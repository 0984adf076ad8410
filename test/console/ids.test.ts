import { expect, test } from "bun:test";

import { idIn } from "../../src/console/page/kit/ids.ts";

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
