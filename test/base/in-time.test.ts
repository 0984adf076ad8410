import { expect, test } from "bun:test";

import { unlessAborted, withTimeout } from "../../src/base/in-time.ts";
import { failure } from "../support/failure.ts";

const never = new Promise<string>(() => {});
const late = () => "late";
const throwing = () => {
  throw new Error("late");
};
const aborted = AbortSignal.abort(new Error("aborted"));
const soon = () => AbortSignal.timeout(1);

test.each([
  ["what comes in time", () => withTimeout(Promise.resolve("it"), 1_000, throwing), "it"],
  ["what is there, without any time", () => withTimeout(Promise.resolve("it"), 0, throwing), "it"],
  ["what `onLate` returns", () => withTimeout(never, 1, late), "late"],
  [
    "what a signal that does not abort waits for",
    () => unlessAborted(new AbortController().signal, Promise.resolve("it")),
    "it",
  ],
])("returns %s", async (_, call, wanted) => {
  expect(await call()).toBe(wanted);
});

test.each([
  ["what `onLate` throws", () => withTimeout(never, 1, throwing), "late"],
  ["an error in time", () => withTimeout(Promise.reject(new Error("it")), 1_000, late), "it"],
  ["the reason of a signal that aborted before", () => unlessAborted(aborted, never), "aborted"],
  [
    "the reason of a signal that aborts",
    () => unlessAborted(soon(), never),
    "The operation timed out.",
  ],
])("throws %s", async (_, call, message) => {
  expect(await failure(call())).toMatchObject({ message });
});
