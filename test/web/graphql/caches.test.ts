import { describe, expect, test } from "bun:test";

import { ByteCache } from "../../../src/web/graphql/byte-cache.ts";

describe("a cache bounded by bytes", () => {
  test("drops the least recently used values first", () => {
    const cache = new ByteCache<string, number>(10);
    cache.set("a", 1, 4);
    cache.set("b", 2, 4);
    expect(cache.get("a")).toBe(1);
    cache.set("c", 3, 4);
    expect(["a", "b", "c"].map((key) => cache.get(key))).toEqual([1, undefined, 3]);
    cache.set("d", 4, 10);
    expect(["a", "c", "d"].map((key) => cache.get(key))).toEqual([undefined, undefined, 4]);
  });

  test("does not store a value larger than the cache, and counts a replaced value once", () => {
    const cache = new ByteCache<string, number>(10);
    cache.set("a", 1, 6);
    cache.set("b", 2, 11);
    expect([cache.get("a"), cache.get("b")]).toEqual([1, undefined]);
    for (let count = 0; count < 5; count += 1) cache.set("a", count, 6);
    cache.set("c", 3, 4);
    expect([cache.get("a"), cache.get("c")]).toEqual([4, 3]);
  });
});
