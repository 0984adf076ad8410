import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { textAt } from "../../../src/base/payload.ts";
import { commandsOf, outputOf } from "../../docs/markdown.ts";
import { until } from "../../support/app.ts";
import { bookingBody, post } from "../../support/flights.ts";

import { done, type Machine, type Trials } from "./machine.ts";

const file = "docs/bookings.md";
const personal = "docs/personal-data.md";

/** The commands of the pages about bookings and persons. */
export const selling: Trials = {
  async [`${file} run: pay`](own, code) {
    const booking = await sold(own, code);
    expect(booking.paid).toMatch(outputOf(file, "run: pay"));
    await until(async () => (await booking.status()) === "confirmed");
  },

  async [`${file} run: refund`](own, code) {
    const { reference, call } = await sold(own);
    await call("DELETE");
    const out = await done(own.shell(code.replace("KXQWZA", reference)));
    expect(out).toMatch(outputOf(file, "run: refund"));
  },

  async [`${file} run: offer`](own, code) {
    const { id, token } = await sold(own);
    const out = await done(own.shell(`ID=${id} TOKEN=${token}\n${code}`));
    expect(out).toMatch(outputOf(file, "run: offer"));
  },

  async [`${personal} run: export`](own, code) {
    const { reference } = await sold(own);
    await done(own.shell(code));
    expect(readFileSync(join(own.folder, "ada.json"), "utf8")).toContain(`"${reference}"`);
  },

  async [`${personal} run: erase`](own, code) {
    const { call } = await sold(own);
    expect(await own.shell(code).exited).not.toBe(0);
    await call("DELETE");
    expect(await done(own.shell(code))).toMatch(outputOf(personal, "run: erase"));
    expect(await own.shell("skyhook person erase ada@example.com --yes").exited).toBe(1);
  },

  async [`${personal} run: vacuum`](own, code) {
    expect(await own.shell(code).exited).not.toBe(0);
    await own.server.stop();
    await done(own.shell(code));
    expect(existsSync(join(own.folder, "data/skyhook.db"))).toBeTrue();
  },
};

/** A booking of two seats that was held and paid. `pay`: the commands that pay it. */
async function sold({ server, shell }: Machine, pay = commandsOf(file, "run: pay")) {
  const token = (await done(shell("skyhook token --email ada@example.com"))).trim();
  const headers = { authorization: `Bearer ${token}` };
  const bookings = `${server.url}/v1/api/bookings`;
  const request = post({ ...bookingBody(1, 2), hold: true }, headers);
  const made: unknown = await (await fetch(bookings, request)).json();
  const [id, reference] = [textAt(made, "bookingId") ?? "", textAt(made, "reference") ?? ""];
  const call = (method: string) => fetch(`${bookings}/${id}`, { method, headers });
  const paid = await done(shell(pay.replace("KXQWZA", reference)));
  const status = async () => textAt(await (await call("GET")).json(), "status");
  return { id, reference, token, paid, call, status };
}
