import fc from "fast-check";

import { at, listAt } from "../../../support/graphql.ts";
import { comparePage, lists } from "../lists.ts";
import { pick, sorted, sortedEvents } from "../model.ts";
import { type Direction, iso, type Position, sliceOf } from "../rules.ts";
import { count, type Door, rest, same } from "../server.ts";

import { anyOne, command } from "./command.ts";

/** Reads a list from an end or from any item, by REST, GraphQL or alternately. */
export const walkPages = command(
  "WalkPages",
  fc.record({
    list: fc.nat(lists.length - 1),
    who: anyOne,
    size: fc.integer({ min: 1, max: 7 }),
    direction: fc.constantFrom<Direction>("forward", "backward"),
    start: fc.option(fc.nat(30)),
    doors: fc.constantFrom<readonly Door[]>(["rest"], ["graphql"], ["rest", "graphql"]),
  }),
  async (args, model, server) => {
    const { size, direction, doors } = args;
    const list = lists[args.list];
    if (list === undefined) return;
    const userId = pick(model.users, args.who)?.id ?? "nobody";
    const token = await server.mint(userId, list.role, 60);
    const items = list.items(model, userId);
    let from: Position | null = (args.start === null ? undefined : pick(items, args.start)) ?? null;
    for (let number = 0; ; number += 1) {
      const door = pick(doors, number) ?? "rest";
      await comparePage(server, token, list, items, door, { size, direction, from });
      const page = sliceOf(items, size, direction, from);
      from = page.items.at(direction === "forward" ? -1 : 0) ?? null;
      if (!page.hasMore) break;
    }
    count(server, `walk: ${list.name}`);
  },
);

/** Lists that respond with the pagination envelope. */
const enveloped = lists.filter(({ path }) => path !== null && path !== "/v1/users");

/** A page by its number; the list goes on from there by cursor. */
export const numberedPage = command(
  "NumberedPage",
  fc.record({
    list: fc.nat(enveloped.length - 1),
    who: anyOne,
    size: fc.integer({ min: 1, max: 7 }),
    page: fc.integer({ min: 1, max: 5 }),
  }),
  async (args, model, server) => {
    const list = enveloped[args.list];
    if (list === undefined) return;
    const { size, page } = args;
    const userId = pick(model.users, args.who)?.id ?? "nobody";
    const token = await server.mint(userId, list.role, 60);
    const items = list.items(model, userId);
    const path = `${list.path}?page=${page}&limit=${size}`;
    const { body } = await rest(server, token, "GET", path);
    const expected = items.slice((page - 1) * size, page * size);
    const ids = listAt(body, "data").map((item) => at(item, "id"));
    same(
      `page ${page} of ${list.name}`,
      ids,
      expected.map(({ id }) => id),
    );
    same("more pages", at(body, "pagination", "hasMore"), items.length > page * size);
    const last = expected.at(-1);
    if (last === undefined) return;
    const request = { size, direction: "forward", from: last } as const;
    await comparePage(server, token, list, items, "rest", request);
  },
);

/** The simplified cursor has only a time: the page starts with older items. */
export const olderThan = command(
  "OlderThan",
  fc.record({ list: fc.nat(enveloped.length - 1), who: anyOne, item: fc.nat(30) }),
  async (args, model, server) => {
    const list = enveloped[args.list];
    if (list === undefined) return;
    const userId = pick(model.users, args.who)?.id ?? "nobody";
    const items = list.items(model, userId);
    const found = pick(items, args.item);
    if (found === undefined) return;
    const token = await server.mint(userId, list.role, 60);
    const time = JSON.stringify({ createdAt: iso(found.createdMs) });
    const path = `${list.path}?limit=100&cursor=${Buffer.from(time).toString("base64url")}`;
    const { body } = await rest(server, token, "GET", path);
    const older = items.filter(({ createdMs }) => createdMs < found.createdMs).slice(0, 100);
    const ids = listAt(body, "data").map((item) => at(item, "id"));
    same(
      `${list.name} older than`,
      ids,
      older.map(({ id }) => id),
    );
    const back = await rest(server, token, "GET", `${path}&direction=backward`);
    same("backward by a time alone", [back.status, back.code], [400, "invalid-cursor"]);
  },
);

/** Filtered lists: one user's bookings as an admin, events of one type. */
export const filtered = command(
  "Filtered",
  fc.record({ who: anyOne, event: fc.nat(30) }),
  async (args, model, server) => {
    const [admin, operator] = await Promise.all([
      server.mint("admin", "admin", 60),
      server.mint("operator", "operator", 60),
    ]);
    const user = pick(model.users, args.who);
    const event = pick(sortedEvents(model), args.event);
    if (user === undefined || event === undefined) return;
    const idsOf = async (token: string, path: string) => {
      const { body } = await rest(server, token, "GET", `${path}&limit=100`);
      return listAt(body, "data").map((item) => at(item, "id"));
    };
    const own = sorted(model.bookings.filter(({ userId }) => userId === user.id));
    same(
      "bookings of a user",
      await idsOf(admin, `/v1/api/bookings?userId=${user.id}`),
      own.map(({ id }) => id),
    );
    const { provider, type, status } = event;
    const alike = sortedEvents(model).filter(
      (other) => other.provider === provider && other.type === type && other.status === status,
    );
    const query = new URLSearchParams({ provider, type, status }).toString();
    same(
      "events of a kind",
      await idsOf(operator, `/v1/events?${query}`),
      alike.slice(0, 100).map(({ id }) => id),
    );
  },
);
