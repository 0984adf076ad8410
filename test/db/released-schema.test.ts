import { describe, expect, test } from "bun:test";

import { schema } from "../../src/schema/schema.ts";
import { hashesOfMigrations, releaseOf, releases } from "../support/releases.ts";

describe("a migration", () => {
  test.each(releases())("of %s is not edited: add another one", async (release) => {
    const { migrations } = await releaseOf(release);
    expect(hashesOfMigrations()).toMatchObject(migrations);
  });

  test.each(Object.entries(schema.migrations))(
    "of %s begins with the version that brings it, in order",
    (_, migrations) => {
      const versions = migrations.flatMap(
        ({ name }) => /^\d+\.\d+\.\d+(?= .|$)/.exec(name)?.[0] ?? [],
      );
      expect(versions).toHaveLength(migrations.length);
      expect(versions).toEqual(versions.toSorted(Bun.semver.order));
    },
  );
});
