import fc from "fast-check";

import type { Interface } from "../../harness/requests.ts";
import { comparePage, lists } from "../lists.ts";
import { pick } from "../model.ts";
import { type Direction, type Position, sliceOf } from "../rules.ts";

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
    doors: fc.constantFrom<readonly Interface[]>(["REST"], ["GraphQL"], ["REST", "GraphQL"]),
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
      const door = pick(doors, number) ?? "REST";
      await comparePage(server, token, list, items, door, { size, direction, from });
      const page = sliceOf(items, size, direction, from);
      from = page.items.at(direction === "forward" ? -1 : 0) ?? null;
      if (!page.hasMore) break;
    }
    server.count(`walk: ${list.name}`);
  },
);
