import type { BookingDetails, BookingSummary } from "../../booking/bookings/booking-view.ts";
import type { EventTimeline, ListedEvent } from "../../gateway/events/events.ts";
import type {
  DepartureLoads,
  FlightLoad as StoredFlightLoad,
} from "../../booking/flights/flight-load.ts";
import type { Notification as StoredNotification } from "../../gateway/notification.ts";
import type { Page as StoredPage } from "../../base/page.ts";
import type { DeliveryStatistics, HealthStatistics } from "../../gateway/statistics/statistics.ts";
import type { User as StoredUser } from "../../identity/users/user.ts";
import type { ProviderStatus, ProviderStatuses } from "../../gateway/statistics/provider-status.ts";
import type { ExplainedRejection } from "../../gateway/diagnosis/explanation.ts";
import type { Rejection as StoredRejection } from "../../gateway/rejection.ts";

/** A type after a round trip through JSON: dates become strings. */
export type Wire<Value> = Value extends Date
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Wire<Value[Key]> }
      : Value;

/** `Item` is already a JSON type. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: Wire<StoredPage<never>["pagination"]>;
}
export type EventItem = Wire<ListedEvent>;
export type EventDetail = Wire<EventTimeline>;
export type NotificationItem = Wire<StoredNotification>;
export type NotificationDetail = EventDetail["notifications"][number];
export type RejectionItem = Wire<StoredRejection>;
export type BookingItem = Wire<BookingSummary>;
export type RejectionDetail = Wire<ExplainedRejection>;
export type Deliveries = Wire<DeliveryStatistics>;
export type Health = Wire<HealthStatistics>;
export type Provider = Wire<ProviderStatus>;
export type Providers = Wire<ProviderStatuses>;
/** Includes the history, which the API returns to admins only. */
export type BookingDetail = Wire<Required<BookingDetails>>;
export type User = Wire<StoredUser>;
export type HistoryEntry = BookingDetail["history"][number];
export type FlightLoad = Wire<StoredFlightLoad>;
export type LoadDay = FlightLoad["days"][number];
export type DayDepartures = Wire<DepartureLoads>;
