import type { Fresh, Sample } from "./provider.ts";

const inboxes = {
  _meta: { type: "inboxes" },
  data: [{ id: "inb_1", name: "Support", address: "help@example.com", type: "smtp" }],
};
const ada = { id: "tea_1", email: "ada@example.com", username: "ada", first_name: "Ada" };
const grace = { id: "tea_2", email: "grace@example.com", username: "grace", first_name: "Grace" };

/** The envelope of every event, with full event data. */
const request =
  (type: string, particulars: (fresh: Fresh, seconds: number) => object): Sample =>
  (fresh) => {
    const seconds = fresh.now.getTime() / 1_000;
    return {
      headers: {},
      body: {
        _links: { self: `https://api2.frontapp.com/events/evt_${fresh.id.slice(-12)}` },
        id: `evt_${fresh.id.slice(-12)}`,
        type,
        emitted_at: seconds,
        conversation: {
          id: "cnv_a1",
          subject: "Refund for order 77",
          status: "unassigned",
          assignee: null,
          recipient: { handle: "kim@example.net", role: "from" },
          tags: [],
          last_message: { id: "msg_9" },
          created_at: 1_763_716_360.872,
        },
        ...particulars(fresh, seconds),
      },
    };
  };

/** A message in a conversation; `text` is its content in one line. */
const message = (type: string, text: string, particulars: object): Sample =>
  request(type, ({ id }, seconds) => ({
    source: inboxes,
    target: {
      _meta: { type: "message" },
      data: {
        id: `msg_${id.slice(-12)}`,
        type: "email",
        created_at: Math.floor(seconds),
        blurb: text,
        body: `<p>${text}</p>`,
        text: `${text}\n`,
        attachments: [],
        ...particulars,
      },
    },
  }));

export const samples: Readonly<Record<string, Sample>> = {
  "message.received": message("inbound", "Hello, I would like my money back for order 77", {
    is_inbound: true,
    author: null,
    recipients: [
      { handle: "kim@example.net", role: "from" },
      { handle: "help@example.com", role: "to" },
    ],
  }),
  "message.sent": message("out_reply", "Your refund is on its way", {
    is_inbound: false,
    author: ada,
    recipients: [
      { handle: "help@example.com", role: "from" },
      { handle: "kim@example.net", role: "to" },
    ],
  }),
  "assignee.changed": request("assign", () => ({
    source: { _meta: { type: "teammate" }, data: ada },
    target: { _meta: { type: "teammate" }, data: grace },
  })),
};
