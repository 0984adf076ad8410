import { beforeAll, expect, test } from "bun:test";

import { json } from "../../support/app.ts";
import { consoleForTests, inBrowser } from "../../support/console.ts";
import { addFlight, bookingBody, passenger, post } from "../../support/flights.ts";

const email = "grace@example.com";

inBrowser("the People view in a browser", () => {
  const { server, browser } = consoleForTests();
  let booking: { readonly id: string; readonly reference: string };

  beforeAll(async () => {
    const { app } = server;
    const { user } = await app.services.users.ensureUser({ name: "Grace Hopper", email });
    const { id } = await addFlight(app);
    const passengers = [{ ...passenger(1), email }];
    const body = { ...bookingBody(id), passengers, contactEmail: email };
    const made = await json(await app.as("user", "/v1/api/bookings", post(body), user.id));
    booking = { id: String(made["bookingId"]), reference: String(made["reference"]) };
    await browser.signIn("admin", "h1", "Events");
  }, 60_000);

  test("finds a person by name, address or booking", async () => {
    await browser.shows(".connection", "Live");
    await browser.press("p");
    await browser.shows("h1", "People");
    await browser.shows("[data-row]", "Grace Hopper");
    await browser.isAccessible();
    for (const q of ["grace ho", "GRACE@", booking.reference]) {
      await browser.go(`#/people?q=${encodeURIComponent(q)}`);
      await browser.shows("[data-row]", email);
    }
    await browser.go("#/people?q=nobody", ".empty", "Nobody found for “nobody”");
    // One address in the page's address, and none in that of a request, which is logged.
    expect(browser.requestedUrls.filter((url) => /persons.*grace/i.test(url))).toEqual([]);
  });

  test("lists what blocks an erasure, and links to it", async () => {
    await browser.go(`#/people/${encodeURIComponent(email)}`, ".detail h2", "Grace Hopper");
    await browser.shows(
      ".explanation",
      `1 booking neither cancelled nor flown: ${booking.reference}`,
    );
    await browser.shows(".detail td", "Economy");
    expect(await browser.count(".detail .confirm")).toBe(1);
    await browser.isAccessible();
    await browser.click(".explanation a");
    await browser.isAt(`#/bookings/${booking.id}`);
  });

  test("ends all access after one question", async () => {
    const { app } = server;
    const { user } = await app.services.users.ensureUser({ name: "Grace Hopper", email });
    const token = await app.services.tokens.mint({ id: user.id, roles: ["user"] }, 60);
    const headers = { authorization: `Bearer ${token}` };
    const status = async () => (await app.fetch("/v1/api/bookings", { headers })).status;
    expect(await status()).toBe(200);
    await browser.go(`#/people/${encodeURIComponent(email)}`, ".detail h2", "Grace Hopper");
    await browser.push("End access", "dialog[open]", "stop working within seconds");
    await browser.confirm(".notice", "Access ended");
    expect(await status()).toBe(401);
  });

  test("exports what is stored, with masked passports, as a file", async () => {
    await browser.go(`#/people/${encodeURIComponent(email)}`, ".detail h2", "Grace Hopper");
    await browser.read(`void (() => {
      URL.createObjectURL = (blob) => (blob.text().then((text) => { window.exported = text; }), "blob:none");
      HTMLAnchorElement.prototype.click = function () { window.exportedAs = this.download; };
    })()`);
    await browser.push("Export", ".notice", "Exported");
    await browser.until("window.exported !== undefined");
    expect(await browser.read("window.exportedAs")).toBe(`${email}.json`);
    expect(JSON.parse(String(await browser.read("window.exported")))).toMatchObject({
      person: { email },
      data: { bookings: [{ id: booking.id }], passengers: [{ passportNumber: "*****01" }] },
    });
  });

  test("erases after one question, says what stays, and does not find the person again", async () => {
    const { app } = server;
    await app.as("admin", `/v1/api/bookings/${booking.id}`, { method: "DELETE" });
    await browser.go("#/people?q=grace");
    await browser.go(`#/people/${encodeURIComponent(email)}?q=grace`);
    await browser.push("Erase", "dialog[open]", "Bookings with their money stay for accounting");
    await browser.isAccessible();
    await browser.confirm(".detail h2", "Erased");
    await browser.shows(".detail", "Bookings with their money stay for accounting");
    await browser.shows(".detail .facts", "1 row");
    await browser.shows(".empty", "Nobody found for “grace”");
    expect(await json(await app.as("admin", "/v1/audit?action=person.*"))).toMatchObject({
      data: [
        { action: "person.erased", actor: "test", subject: "person" },
        { action: "person.exported", actor: "test" },
      ],
    });
  });

  test("is for admins", async () => {
    await browser.signInAgain("operator", "h1", "Events");
    expect(await browser.count("a[href='#/people']")).toBe(0);
    const before = browser.requestedUrls.length;
    await browser.go("#/people", ".empty", "Admins only");
    expect(browser.requestedUrls.slice(before).some((url) => url.includes("persons"))).toBe(false);
  });
});
