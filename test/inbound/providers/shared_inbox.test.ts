import { describe, expect, test } from "bun:test";

import { sharedInbox } from "../../../src/inbound/providers/shared_inbox.ts";
import { interpretPayload, sampleBody } from "../../support/providers.ts";

describe("shared_inbox", () => {
  const body = (type: string) => sampleBody(sharedInbox, type);

  test("includes sender and subject of a message", () => {
    expect(interpretPayload(sharedInbox, body("message.received"))).toMatchObject({
      title: "Message from kim@example.net: Refund for order 77",
      actor: "kim@example.net",
      url: "https://app.frontapp.com/open/cnv_a1",
      subject: "conversation/cnv_a1",
      data: { inbox: "Support", preview: "Hello, I would like my money back for order 77" },
    });
  });

  test("maps outbound and out_reply to message.sent", () => {
    const reply = body("message.sent");
    expect(interpretPayload(sharedInbox, reply)).toMatchObject({
      type: "message.sent",
      title: "Reply sent by ada: Refund for order 77",
    });
    expect(interpretPayload(sharedInbox, { ...reply, type: "outbound" })).toMatchObject({
      type: "message.sent",
      title: "Message sent by ada: Refund for order 77",
    });
  });

  test("includes the assignee and the actor of an assignment, which may be a rule", () => {
    const assign = body("assignee.changed");
    expect(interpretPayload(sharedInbox, assign)).toMatchObject({
      title: "Assigned to grace: Refund for order 77",
      actor: "ada",
      data: { assignee: "grace" },
    });
    const source = { _meta: { type: "rule" }, data: { id: "rul_1", name: "VIP to Grace" } };
    expect(interpretPayload(sharedInbox, { ...assign, source }).actor).toBe("rule VIP to Grace");
    const api = { _meta: { type: "api" } };
    expect(interpretPayload(sharedInbox, { ...assign, source: api }).actor).toBe("api");
  });

  test("maps an unassignment, which has no target, to assignee.changed", () => {
    const unassign = { ...body("assignee.changed"), type: "unassign", target: null };
    const event = interpretPayload(sharedInbox, unassign);
    expect(event).toMatchObject({
      status: "accepted",
      type: "assignee.changed",
      title: "Unassigned: Refund for order 77",
      actor: "ada",
    });
    expect(event.data).not.toHaveProperty("assignee");
  });

  test("gives a preview payload, which contains only ids, a title and a link", () => {
    const preview = {
      id: "evt_2k1",
      type: "inbound",
      emitted_at: 1_763_716_364.12,
      conversation: { id: "cnv_a1", _links: { self: "https://api2.frontapp.com/…" } },
      target: { _meta: { type: "message" }, data: { id: "msg_9" } },
    };
    expect(interpretPayload(sharedInbox, preview)).toMatchObject({
      status: "accepted",
      deliveryId: "evt_2k1",
      occurredAt: new Date(1_763_716_364_120),
      title: "Message received: conversation cnv_a1",
      url: "https://app.frontapp.com/open/cnv_a1",
      actor: null,
    });
  });
});
