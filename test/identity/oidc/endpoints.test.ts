import { describe, expect, test } from "bun:test";

import { AddressError } from "../../../src/base/public-address.ts";
import { issuerFetch } from "../../../src/identity/oidc/endpoints.ts";
import { manualClock } from "../../support/clock.ts";
import { failure } from "../../support/failure.ts";
import { serving } from "../../support/serving.ts";

/** Resolves names by this table, and counts the look-ups of none. */
const resolving = (table: Readonly<Record<string, readonly string[]>>) => async (host: string) => {
  const addresses = table[host];
  if (addresses === undefined) throw new Error(`${host} is unknown`);
  return addresses;
};

const publicName = "93.184.216.34";

describe("a request to an endpoint of the issuer", () => {
  test.each([
    ["https://tokens.example.net/", [publicName, "127.0.0.1"]],
    ["https://169.254.169.254/latest", []],
    ["https://127.0.0.1:8443/token", []],
    ["https://localhost/", []],
  ])("is refused at a private address: %s %j [API7-7]", async (url, addresses) => {
    const resolve = resolving({ "id.example.com": [publicName], "tokens.example.net": addresses });
    const send = issuerFetch(new URL("https://id.example.com"), manualClock(), resolve);
    expect(await failure(send(url, {}))).toBeInstanceOf(AddressError);
  });

  test("goes to a private address if the issuer has one", async () => {
    await using server = serving(() => new Response("there"));
    for (const issuer of ["https://id.corp.example", "https://10.0.0.1", "https://keycloak"]) {
      const resolve = resolving({ "id.corp.example": ["10.0.0.1"] });
      const send = issuerFetch(new URL(issuer), manualClock(), resolve);
      const response = await send(`http://127.0.0.1:${server.port}/token`, {});
      expect(await response.text()).toBe("there");
    }
  });

  test("connects to the checked address, and follows no redirect", async () => {
    const asked: (string | null)[] = [];
    await using server = serving((request) => {
      asked.push(request.headers.get("host"));
      return Response.redirect("https://evil.example/", 302);
    });
    // The origin of the issuer is not looked up, so the system resolves it.
    const url = `http://localhost:${server.port}`;
    const send = issuerFetch(new URL(url), manualClock(), resolving({}));
    expect((await send(`${url}/token`, {})).status).toBe(302);
    expect(asked).toEqual([`localhost:${server.port}`]);
  });

  test("ends after five seconds, also while a name is looked up", async () => {
    const clock = manualClock();
    const hanging = () => new Promise<readonly string[]>(() => {});
    const send = issuerFetch(new URL("https://id.example.com"), clock, hanging);
    const failed = failure(send("https://tokens.example.net/", {}));
    clock.advance(5_000);
    expect(String(await failed)).toContain("no answer in time");
  });
});
