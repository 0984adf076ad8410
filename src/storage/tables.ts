import type { Column, Table } from "drizzle-orm";

import type { Client } from "../auth/client.ts";
import type { Booking, Passenger } from "../bookings/booking.ts";
import type { Disclosure } from "../bookings/disclosure.ts";
import type { StoredEvent } from "../events/event.ts";
import type { Flight } from "../flights/flight.ts";
import type { IdempotencyRecord } from "../idempotency/idempotency.ts";
import type { Attempt, StoredNotification } from "../notifications/notification.ts";
import type { DeliveryCount } from "../statistics/delivery-count.ts";
import type { User } from "../users/user.ts";
import type { StoredRejection } from "../webhooks/rejection.ts";
import type { SecretUse } from "../webhooks/secret-use.ts";

/** A column that holds a `Value`, nullable exactly where the value is. */
type ColumnOf<Value> = Column & {
  readonly _: {
    readonly data: NonNullable<Value>;
    readonly notNull: null extends Value ? false : true;
  };
};

/** A table with one column for each field of `Row`: a missing, wrong or nullable one does not compile. */
export type TableOf<Row> = Table & { readonly [Field in keyof Row]-?: ColumnOf<Row[Field]> };

/** The row a table holds, read back from its columns. */
export type RowOf<T extends Table> = {
  -readonly [Field in keyof T as T[Field] extends Column ? Field : never]: T[Field] extends {
    readonly _: { readonly data: infer Data; readonly notNull: infer NotNull };
  }
    ? NotNull extends true
      ? Data
      : Data | null
    : never;
};

/** The tables that every dialect has. The domain's types are their one source. */
export interface Tables {
  readonly events: TableOf<StoredEvent>;
  readonly notifications: TableOf<StoredNotification>;
  readonly attempts: TableOf<Attempt>;
  readonly rejections: TableOf<StoredRejection>;
  readonly users: TableOf<User>;
  readonly flights: TableOf<Flight>;
  readonly bookings: TableOf<Booking>;
  readonly passengers: TableOf<Passenger>;
  readonly idempotency: TableOf<IdempotencyRecord>;
  readonly clients: TableOf<Client>;
  readonly disclosures: TableOf<Disclosure>;
  readonly deliveryCounts: TableOf<DeliveryCount>;
  readonly secretUses: TableOf<SecretUse>;
}
