import type { Command } from "commander";

import { systemClock } from "../../base/clock.ts";
import { makeId } from "../../base/ids.ts";
import { moneyText } from "../../base/money.ts";
import { at, textAt } from "../../base/payload.ts";
import { personalDataOpener } from "../../booking/personal-data/personal-data.ts";
import { revealPassengers } from "../../booking/personal-data/reveal.ts";
import { readConfig } from "../../config/config.ts";
import { secretStore } from "../../config/secrets.ts";
import { argument, example, parseLine } from "../kit/arguments.ts";
import { useDatabase } from "../kit/database.ts";
import { note, table } from "../kit/output.ts";
import { operatorName } from "../kit/program.ts";
import { serverOption } from "../kit/server-api.ts";
import { bookingOf, type BookingOptions, bookingsAt } from "../kit/server-bookings.ts";

interface RefundOptions extends BookingOptions {
  readonly amount?: number;
  readonly note?: string;
  readonly reason?: string;
}

function parseAmount(text: string): number {
  if (/^\d{1,15}(?:\.\d{1,4})?$/.test(text)) return Number(text);
  throw new Error("Write a decimal in the currency of the booking, such as 99.50.");
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const booking = program
    .command("booking")
    .description("show the personal data of bookings, and record refunds");
  booking
    .command("refund")
    .description("record that a refund was made, so that it is no longer pending")
    .argument("<booking>", "its id or reference")
    .option(
      "--amount <decimal>",
      "what was refunded in all; default: all that is due",
      argument(parseAmount),
    )
    .option("--note <text>", "part of the booking's history", argument(parseLine))
    .option(
      "--reason <text>",
      "why less was refunded than is recorded; required to lower the amount",
      argument(parseLine),
    )
    .addOption(serverOption())
    .addHelpText("after", example("skyhook booking refund KXQWZA --note 'bank transfer 2026-117'"))
    .action((named: string, options: Omit<RefundOptions, "booking">) =>
      recordRefund({ ...options, booking: named }, env),
    );
  booking
    .command("reveal")
    .description("show birth dates and passports of a booking; the access is recorded")
    .argument("<booking id>", "for example bk_0193…")
    .requiredOption("--reason <text>", "recorded with your name", argument(parseLine))
    .addHelpText(
      "after",
      example(
        "skyhook booking reveal bk_019a9f0c5d7b7c3a8e21d4f60b7a9c55 --reason 'visa check, case 77'",
      ),
    )
    .action((id: string, options: { reason: string }) => reveal(id, options, env));
}

/** `skyhook booking refund`: records that a refund was made, on the server, as an admin. */
async function recordRefund(options: RefundOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const found = await bookingOf(options, env);
  const { amount, note, reason } = options;
  const path = `/${encodeURIComponent(textAt(found, "bookingId") ?? "")}/refund`;
  const refund = await bookingsAt(options, env)("POST", path, { amount, note, reason });
  const currency = textAt(refund, "currency") ?? "";
  const text = (name: string) => moneyText({ amount: Number(at(refund, name)), currency });
  console.log(
    `Refunded ${text("refunded")} of ${text("amount")}: ${textAt(refund, "status") ?? ""}`,
  );
}

/** `skyhook booking reveal`: prints the identity data of a booking's passengers and records the access. */
export async function reveal(
  bookingId: string,
  { reason }: { readonly reason: string },
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const config = readConfig(env);
  // Creates none: a new key decrypts nothing.
  const keys = secretStore(env, config.secretsDir).personalDataKeysThere(config.dataDir);
  await useDatabase(config, async (storage) => {
    const username = operatorName(env);
    const passengers = await revealPassengers(
      { storage, seal: personalDataOpener(keys), clock: systemClock, makeId },
      { bookingId, actor: username, reason },
    );
    const rows = passengers.map(({ firstName, lastName, dateOfBirth, passportNumber }) => [
      `${firstName} ${lastName}`,
      dateOfBirth,
      passportNumber,
    ]);
    console.log(table([["passenger", "date of birth", "passport"], ...rows]));
    note(`access recorded for ${username}, reason: ${reason}`);
  });
}
