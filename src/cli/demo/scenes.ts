import type { Sample } from "../../inbound/providers/provider.ts";

import { chosen, type Customer, customers } from "./people.ts";

/** What the webhooks of one scene are about, instead of what all samples share. */
export interface Plot {
  /** Twelve hexadecimal digits: of the deployment, task or conversation that all of them are about. */
  readonly id: string;
  /** Its place in the past; numbers invoices, releases and runs. */
  readonly number: number;
  readonly service: string;
  readonly author: string;
  readonly commit: string;
  readonly task: string;
  readonly comment: string;
  readonly customer: Customer;
  readonly subject: string;
  readonly question: string;
  readonly answer: string;
  readonly amountMinor: number;
  /** How the run of the tests ends. */
  readonly conclusion: "success" | "failure";
}

/** Minutes are after the beginning of the scene. */
export type Step = readonly [minutes: number, provider: string, type: string, plot?: Partial<Plot>];

const run = "workflow_run.completed";
const deploy: readonly Step[] = [
  [0, "code_host", run],
  [2, "deploy_platform", "deploy.created"],
  [4, "deploy_platform", "deploy.succeeded"],
];
/** An ordinary day. Its length has no factor in common with those of the lists below, so that all pairs occur. */
const scenes: readonly (readonly Step[])[] = [
  deploy,
  [
    [0, "shared_inbox", "message.received"],
    [6, "shared_inbox", "assignee.changed"],
    [21, "shared_inbox", "message.sent"],
  ],
  [[0, "payment_processor", "checkout.session.completed"]],
  [
    [0, "task_tracker", "task.created"],
    [38, "task_tracker", "comment.added"],
    [95, "task_tracker", "task.completed"],
  ],
  [
    [0, "code_host", run, { conclusion: "failure" }],
    [9, "code_host", run],
    [11, "deploy_platform", "deploy.created"],
    [13, "deploy_platform", "deploy.succeeded"],
  ],
  [[0, "payment_processor", "invoice.paid"]],
  [[0, "code_host", "package.published"]],
  [[0, "payment_processor", "checkout.session.completed"]],
];

export function sceneOf(number: number): readonly Step[] {
  return chosen(scenes, number);
}

const services = ["booking-api", "web", "search", "check-in", "fares"] as const;
const authors = ["Ada", "Tomas", "Mei"] as const;

const commits = [
  "Show seats left on the results page",
  "Cache airport names for a day",
  "Sort fares by total price",
  "Fix the time zone of arrivals in Tokyo",
  "Retry exchange rates once",
  "Send boarding passes as PDF",
  "Speed up the calendar of fares",
  "Round taxes per passenger",
  "Accept passports without an expiry date",
  "Update the map of Terminal 4",
  "Translate the baggage rules",
  "Log slow searches",
  "Keep filters when going back",
  "Validate phone numbers by country",
  "Remove the old seat map",
  "Warn before a short connection",
  "Lower the limit of search results",
  "Fix the print style of receipts",
  "Name the cabin in the e-mail",
  "Group flights by departure",
  "Use the new payment form",
  "Hide sold-out cabins",
  "Check in without a printer",
] as const;

const tasks = [
  ["Rotate the signing keys", "The staging keys are done"],
  ["Renew the certificate of fares.example", "Ordered, valid for a year"],
  ["Test the backup of bookings", "Restored in 4 minutes"],
  ["Order badges for the new crew", "Sizes are missing"],
  ["Update the winter timetable", "N4112 moves to 11:50"],
  ["Review the refund rules", "Legal agrees"],
  ["Clean up old feature flags", "Seven are left"],
  ["Prepare the capacity report", "Numbers of October are in"],
  ["Move the status page", "DNS changes on Monday"],
  ["Answer the airport's audit", "Waiting for one signature"],
  ["Plan the load test", "Saturday, 02:00 UTC"],
] as const;

const conversations = [
  ["Seats together", "Can we sit together on our flight?", "You now sit in row 12"],
  ["Second suitcase", "What does a second suitcase cost?", "USD 40 at check-in"],
  ["Wrong name on my ticket", "My first name is misspelt", "I have corrected it"],
  ["Receipt for my employer", "I need a receipt with our address", "The receipt is attached"],
  ["Vegan meal", "Can I order a vegan meal?", "It is noted for your flight"],
  ["Travelling with a cat", "May my cat travel in the cabin?", "Yes, up to 8 kg"],
  ["Lost umbrella", "I left an umbrella on board", "It is at the desk in Terminal 4"],
  ["Earlier flight", "Is there an earlier flight?", "There is one at 07:30"],
  ["Wheelchair at the gate", "My mother needs a wheelchair", "It waits at the gate"],
  ["Miles missing", "My miles of last week are missing", "They are added now"],
  ["Check-in closed?", "Check-in says it is closed", "Please try again"],
] as const;

/** What a scene is about: another customer, commit, amount for each number. */
export function plotOf(number: number): Plot {
  const [task, comment] = chosen(tasks, number);
  const [subject, question, answer] = chosen(conversations, number);
  return {
    id: crypto.randomUUID().slice(-12),
    number,
    service: chosen(services, number),
    author: chosen(authors, number),
    commit: chosen(commits, number),
    task,
    comment,
    customer: chosen(customers, number),
    subject,
    question,
    answer,
    amountMinor: 1_900 + ((number * 3_770) % 38_000),
    conclusion: "success",
  };
}

/** Tells a sample with a plot: replaces the names, ids and amounts that all samples share. */
export const told =
  (plot: Plot) =>
  (sample: Sample): Sample =>
  (fresh) => {
    const { body, ...others } = sample(fresh);
    const text = replacements(plot, fresh.id.slice(-12)).reduce(
      (before, [from, to]) => before.replaceAll(from, to),
      JSON.stringify(body),
    );
    // Guarantee: names, numbers and ids of a JSON object were replaced by others without quotes.
    return { ...others, body: JSON.parse(text) as typeof body };
  };

function replacements(
  plot: Plot,
  freshId: string,
): readonly (readonly [string | RegExp, string])[] {
  const { customer, author, number } = plot;
  const sha = new Bun.CryptoHasher("sha1").update(plot.commit).digest("hex");
  return [
    // Webhooks of one deployment, task or payment have its id; their own ids differ.
    [
      new RegExp(String.raw`(dpl_|pi_|6XR4|web-)(?:${freshId}|${freshId.slice(-9)})`, "g"),
      `$1${plot.id}`,
    ],
    ["cnv_a1", `cnv_${plot.id}`],
    ["3f2c9b7e5d1a48c06f4b2e9d7a1c5083b6e4f29d", sha],
    [/\bweb\b/g, plot.service],
    ["acme", "northlight"],
    ["Fix cart", plot.commit],
    [String.raw`\n\nTotals were rounded twice.`, ""],
    ['"conclusion":"failure"', `"conclusion":"${plot.conclusion}"`],
    ['"run_number":163', `"run_number":${400 + number}`],
    ["1.4.0", `1.${4 + (number % 50)}.0`],
    [/"ada"/g, `"${author.toLowerCase()}"`],
    [/"Ada"/g, `"${author}"`],
    ["Rotate the signing keys", plot.task],
    ["Done on host A, B waits", plot.comment],
    ['"is_recurring":true', '"is_recurring":false'],
    ["every month", "Friday"],
    ["kim@example.net", customer.email],
    [/\bKim\b/g, `${customer.firstName} ${customer.lastName}`],
    ["Hello, I would like my money back for order 77", plot.question],
    ["Your refund is on its way", plot.answer],
    ["Refund for order 77", plot.subject],
    [/ACME-00\d\d/g, `NL-${2_000 + (number % 1_000)}`],
    ['"currency":"eur"', '"currency":"usd"'],
    [/\b4200\b/g, String(plot.amountMinor)],
  ];
}
