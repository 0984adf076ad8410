import { describe, expect, test } from "bun:test";

import { AddressError, isPublic, publicAddresses } from "../../../src/base/public-address.ts";
import { destinationUrl } from "../../../src/outbound/transports/address.ts";

const rules = { allowsPrivate: false };

const refused = `
  http://example.com/ ftp://example.com/ file:///etc/passwd javascript:alert(1)
  gopher://example.com/ example.com/hook https:// https://user:password@example.com/
  https://user@example.com/ https://example.com:22/ https://example.com:25/ https://localhost/
  https://LOCALHOST/ https://localhost./ https://ｌocalhost/ https://a.localhost/
  https://printer.local/ https://metadata.google.internal/ https://router.home.arpa/
  https://intranet/ https://127.0.0.1/ https://127.0.0.1./ https://127.1/ https://2130706433/
  https://0x7f000001/ https://0x7f.1/ https://0177.0.0.1/ https://127.0.0.1.:8443/
  https://①②⑦.0.0.1/ https://0/ https://10.0.0.1/ https://100.64.0.1/
  https://169.254.169.254/latest/meta-data/ https://172.16.0.1/ https://172.31.255.255/
  https://192.168.1.1/ https://198.18.0.1/ https://224.0.0.1/ https://255.255.255.255/
  https://[::]/ https://[::1]/ https://[::ffff:127.0.0.1]/ https://[::ffff:7f00:1]/
  https://[::127.0.0.1]/ https://[64:ff9b::7f00:1]/ https://[64:ff9b:1::1]/
  https://[2002:7f00:1::]/ https://[2001:0:7f00:1::]/ https://[2001:db8::1]/ https://[fc00::1]/
  https://[fd00:ec2::254]/ https://[fe80::1]/ https://[fec0::1]/ https://[ff02::1]/
`;

describe("a URL is refused", () => {
  test.each(["", `https://example.com/${"x".repeat(2_048)}`, ...refused.trim().split(/\s+/)])(
    "%s",
    (url) => {
      expect(() => destinationUrl(url, rules)).toThrow(AddressError);
    },
  );

  test("without repeating it, because it may hold a secret", () => {
    for (const url of ["https://user:hunter2@example.com/", "http://example.com/hunter2"]) {
      expect(() => destinationUrl(url, rules)).not.toThrow(/hunter2/);
      expect(() => destinationUrl(url, rules)).toThrow(AddressError);
    }
  });
});

describe("a URL is accepted", () => {
  test.each([
    "https://example.com/hook?token=1",
    "https://example.com:8443/",
    "https://bücher.example/",
    "https://93.184.216.34/",
    "https://[2606:2800:220:1::1]/",
    "https://172.32.0.1/",
  ])("%s", (url) => {
    expect(destinationUrl(url, rules).href).toBe(new URL(url).href);
  });

  test("with private addresses and http, if these are allowed", () => {
    const allowing = { allowsPrivate: true };
    expect(destinationUrl("http://10.0.0.1:8080/", allowing).port).toBe("8080");
    expect(destinationUrl("https://localhost/", allowing).hostname).toBe("localhost");
    expect(() => destinationUrl("ftp://10.0.0.1/", allowing)).toThrow(AddressError);
  });
});

describe("a name is refused by the addresses it resolves to", () => {
  const url = new URL("https://hook.example.com/");

  test.each([
    [["127.0.0.1"]],
    [["93.184.216.34", "10.0.0.1"]],
    [["2606:2800:220:1::1", "::1"]],
    [["::ffff:169.254.169.254"]],
    [["not an address"]],
    [[]],
  ])("%j", async (addresses) => {
    const refused = publicAddresses(url, async () => addresses, "");
    expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(AddressError);
  });

  test("and accepted if all are public, four at most", async () => {
    const addresses = ["93.184.216.34", "2606:2800:220:1::1", "1.1.1.1", "1.0.0.1", "8.8.8.8"];
    const tried = await publicAddresses(url, async () => addresses, "");
    expect([...tried]).toEqual(addresses.slice(0, 4));
  });

  test("but an address in the URL is not resolved", async () => {
    const resolve = () => Promise.reject(new Error("resolved"));
    expect(await publicAddresses(new URL("https://1.1.1.1/"), resolve, "")).toEqual(["1.1.1.1"]);
    expect(await publicAddresses(new URL("https://[2606:2800:220:1::1]/"), resolve, "")).toEqual([
      "2606:2800:220:1::1",
    ]);
  });
});

test("text that is not an IP address is not public", () => {
  for (const text of ["", "example.com", "1.1.1", "1.1.1.1 ", "fe80::1%eth0", "::g"]) {
    expect(isPublic(text)).toBe(false);
  }
});
