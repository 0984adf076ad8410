import { beforeAll, beforeEach, describe, expect, test } from "bun:test";

import { json, jsonWith, startApp } from "../../support/app.ts";
import { post } from "../../support/flights.ts";
import { itemsOf } from "../../support/operator.ts";
import { appForAll } from "../../support/running-app.ts";

const path = "/v1/users";

const app = appForAll();

const create = (body: unknown, headers: Record<string, string> = {}, who = "ada") =>
  app.as("user", path, post(body, headers), who);
const ada = { name: "Ada Lovelace", email: "ada@example.com" };
const get = (at: string) => app.as("user", at);

describe("a user", () => {
  beforeEach(() => app.restart());

  test("is created with 201, its Location and the specified fields", async () => {
    const response = await create(ada);
    const user = await jsonWith(response, 201);
    expect(user).toEqual({
      id: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      ...ada,
      createdAt: new Date(app.clock.now()).toISOString(),
    });
    expect(response.headers.get("location")).toBe(`${path}/${String(user["id"])}`);
    expect(await json(await get(`${path}/${String(user["id"])}`))).toEqual(user);
  });

  test.each(["0", "nobody", "%00", "'%20or%201=1", "x".repeat(2_000)])(
    "with the unknown id %s is 404",
    async (id) => {
      expect(await jsonWith(await get(`${path}/${id}`), 404)).toMatchObject({ code: "not-found" });
    },
  );

  test("needs an e-mail address that is unique, ignoring case", async () => {
    await create(ada);
    for (const email of [ada.email, "ADA@EXAMPLE.COM", "Ada@example.Com"]) {
      const problem = await jsonWith(await create({ name: "Other", email }), 409);
      expect(problem).toMatchObject({ code: "email-taken" });
      expect(JSON.stringify(problem)).not.toMatch(/ada@/i);
    }
    expect(itemsOf(await (await get(path)).json())).toHaveLength(1);
  });

  test("may have an address with non-ASCII letters, unique ignoring their case", async () => {
    for (const email of ["josé@bücher.example", "用户@例子.广告", "ünï@x.org"]) {
      expect(await jsonWith(await create({ ...ada, email }), 201)).toMatchObject({ email });
    }
    for (const local of ["x".repeat(65), "x".repeat(242)]) {
      expect((await create({ ...ada, email: `${local}@example.com` })).status).toBe(201);
    }
    for (const email of ["JOSÉ@BÜCHER.EXAMPLE", "jose\u0301@bücher.example", "ÜNÏ@X.ORG"]) {
      expect((await create({ ...ada, email })).status).toBe(409);
    }
  });

  test("is created once when many requests arrive at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        create(n % 2 ? ada : { ...ada, email: "ADA@example.com" }),
      ),
    );
    const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
    expect(statuses).toEqual([201, ...Array<number>(19).fill(409)]);
  });

  test("may have escaped characters and backslashes in their name", async () => {
    const body = String.raw`{"name":"\ud83e\udd8a \\ud83e","email":"ada@example.com"}`;
    expect(await json(await create(body))).toMatchObject({ name: "🦊 \\ud83e" });
  });

  test.each(["می\u200cخواهم", "क्\u200dष", "👩\u200d🚀", "a\u00ad"])(
    "may have the name %s",
    async (name) => {
      expect(await json(await create({ ...ada, name }))).toMatchObject({ name });
    },
  );

  test("has a name that is trimmed and composed (NFC)", async () => {
    const response = await create({ ...ada, name: "  Zoe\u0308 O’Neil-李 🦊 " });
    expect(await json(response)).toMatchObject({ name: "Zoë O’Neil-李 🦊" });
  });
});

describe("the list of users", () => {
  beforeAll(async () => {
    await app.restart();
    for (let number = 1; number <= 25; number += 1) {
      // Some users share a creation time, so that their order depends on the id.
      if (number % 3 === 0) app.clock.advance(1);
      expect((await create({ name: `N${number}`, email: `n${number}@example.com` })).status).toBe(
        201,
      );
    }
  });

  const next = (response: Response): string | undefined =>
    /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  const prev = (response: Response): string | undefined =>
    /<([^>]+)>; rel="prev"/.exec(response.headers.get("link") ?? "")?.[1];

  test("has its total in a header, only on request", async () => {
    const counted = await get(`${path}?include=total&limit=2`);
    expect(counted.headers.get("x-total-count")).toBe("25");
    expect(itemsOf(await counted.json())).toHaveLength(2);
    expect((await get(path)).headers.get("x-total-count")).toBeNull();
  });

  test("is a bare array of 20, newest first", async () => {
    const users = itemsOf(await (await get(path)).json());
    expect(users).toHaveLength(20);
    const order = users.map(({ createdAt, id }) => `${String(createdAt)} ${String(id)}`);
    expect(order).toEqual(order.toSorted().toReversed());
  });

  test.each(["?limit=4", "?limit=10&page=1", "?limit=100", "?limit=1000"])(
    "%s: following Link returns every user once, in both directions",
    async (query) => {
      const there: unknown[] = [];
      let last: Response | undefined;
      for (let at: string | undefined = path + query; at !== undefined; at = next(last)) {
        last = await get(at);
        expect(last.status).toBe(200);
        there.push(...itemsOf(await last.json()).map(({ name }) => name));
      }
      expect(new Set(there).size).toBe(25);
      expect(there).toHaveLength(25);

      const back: unknown[] = [];
      for (let at = last && prev(last); at !== undefined; at = prev(last)) {
        last = await get(at);
        back.unshift(...itemsOf(await last.json()).map(({ name }) => name));
      }
      expect(there.slice(0, back.length)).toEqual(back);
    },
  );

  test("is for admins only with USERS_ACCESS=admin [API5-2]", async () => {
    await using strict = await startApp({ USERS_ACCESS: "admin" });
    const ask = (role: "user" | "operator" | "admin", init: RequestInit = {}) =>
      Promise.all([strict.as(role, path, init), strict.as(role, `${path}/x`)]);
    for (const role of ["user", "operator"] as const) {
      for (const response of [...(await ask(role)), ...(await ask(role, post(ada)))]) {
        expect(response.status).toBe(403);
        expect(response.headers.get("www-authenticate")).toContain("insufficient_scope");
        expect(await json(response)).toMatchObject({ code: "insufficient-scope" });
      }
    }
    expect((await strict.as("admin", path, post(ada))).status).toBe(201);
    expect((await strict.as("admin", path)).status).toBe(200);
  });
});

describe("an invalid body", () => {
  beforeAll(() => app.restart());

  const bad: [string, unknown, string[]][] = [
    ["no fields", {}, ["/name", "/email"]],
    ["no name", { email: ada.email }, ["/name"]],
    ["no email", { name: "Ada" }, ["/email"]],
    ["an array", [], [""]],
    ["null", null, [""]],
    ["a string", '"text"', [""]],
    ...[
      1,
      null,
      true,
      {},
      [],
      "",
      " ",
      "\u00a0",
      " \u3000\u2003",
      "\ufeff",
      "\u200b",
      "\u00ad \u2060",
      "\u3164",
      "\u2800",
      "\ufe0f",
      "\u{e0041}",
      "\u2028",
      "\t",
      "\u0000",
      "A\u0000",
      "A\nB",
      "\u001b[31m",
      "x".repeat(201),
    ].map((name): [string, unknown, string[]] => [
      `name ${JSON.stringify(name).slice(0, 12)}`,
      { ...ada, name },
      ["/name"],
    ]),
    ...[
      1,
      null,
      [],
      "",
      ..."ada @ ada@ @example.com ada@example ada@@example.com ada@example. ada@.com".split(" "),
      "a b@example.com",
      "ada@exa mple.com",
      "ada@example.com\u0000",
      "ada@example.com\n",
      "ada@example.com\u202e",
      "a\u200bda@example.com",
      "ada\u00a0@example.com",
      `${"x".repeat(243)}@example.com`,
      `ada@${"x".repeat(250)}.com`,
      "🦊",
    ].map((email): [string, unknown, string[]] => [
      `email ${JSON.stringify(email).slice(0, 16)}`,
      { ...ada, email },
      ["/email"],
    ]),
  ];

  test.each(bad)("with %s is 400 and names each field", async (_, body, pointers) => {
    const { code, errors } = await jsonWith(await create(body), 400);
    expect(code).toBe("invalid-body");
    expect(
      itemsOf(errors)
        .map(({ pointer }) => String(pointer))
        .toSorted(),
    ).toEqual(pointers.toSorted());
  });

  test.each(["gzip", "br", "identity, gzip"])(
    "with the content coding %s is 415",
    async (coding) => {
      const response = await create(ada, { "content-encoding": coding });
      expect(response.status).toBe(415);
      expect(response.headers.get("accept-encoding")).toBe("identity");
      expect(response.headers.get("accept")).toBe("application/json");
    },
  );

  test("over 256 KiB is 413, and the connection with its unread rest is closed", async () => {
    const padded = (length: number) => {
      const large = { name: "Large", email: "large@example.com", padding: "" };
      return { ...large, padding: "x".repeat(length - JSON.stringify(large).length) };
    };
    expect((await create(padded(262_144))).status).toBe(201);
    const response = await create(padded(262_145));
    expect([response.status, response.headers.get("connection")]).toEqual([413, "close"]);
  });

  test("is not one with unknown fields, which are ignored [API3-3]", async () => {
    const body = `{"__proto__":{"isAdmin":true},"id":"mine","role":"admin","name":"Ada","email":"ada@example.com"}`;
    const user = await json(await create(body));
    expect(Object.keys(user).toSorted()).toEqual(["createdAt", "email", "id", "name"]);
    expect(user["id"]).not.toBe("mine");
  });
});

describe("Idempotency-Key", () => {
  beforeEach(() => app.restart());

  const keyed = (body: unknown, key: string, who?: string) =>
    create(body, { "idempotency-key": key }, who);

  test("makes a retry return the original response", async () => {
    const first = await keyed(ada, "k1");
    const again = await keyed(ada, "k1");
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.headers.get("location")).toBe(first.headers.get("location"));
    expect(await again.text()).toBe(await first.text());
    // The draft quotes keys. Quoted or not, it is the same key.
    expect((await keyed(ada, '"k1"')).headers.get("idempotent-replayed")).toBe("true");
  });

  test("is 422 with another body, and independent for another user", async () => {
    await keyed(ada, "k1");
    const other = { name: "Bob", email: "bob@example.com" };
    const reused = await keyed(other, "k1");
    expect(await jsonWith(reused, 422)).toMatchObject({ code: "idempotency-key-reused" });
    expect((await keyed(other, "k1", "bob")).status).toBe(201);
  });

  test("creates one user when all retries arrive at once", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => keyed(ada, "k1")));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(20).fill(201));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
  });
});
