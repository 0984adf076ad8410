import type { TSchema } from "@sinclair/typebox";

/** The fields of `Event.data` that the events of a provider can have, each a text, number or boolean. */
export type DataFields = Readonly<
  Record<string, TSchema & { readonly static: string | number | boolean }>
>;
