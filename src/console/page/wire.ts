import type { BookingDetails, BookingSummary } from "../../bookings/booking-view.ts";
import type { Event as StoredEvent } from "../../events/event.ts";
import type { EventTimeline } from "../../events/events.ts";
import type { FeedEntry } from "../../notifications/channels/feed.ts";
import type { Notification as StoredNotification } from "../../notifications/notification.ts";
import type { Page as StoredPage } from "../../pagination/page.ts";
import type { DeliveryStatistics, HealthStatistics } from "../../statistics/statistics.ts";
import type { ProviderStatus, ProviderStatuses } from "../../webhooks/provider-status.ts";
import type { ExplainedRejection, Rejection as StoredRejection } from "../../webhooks/rejection.ts";

/** What a type becomes on its way through JSON: times are texts, the rest is as it was. */
export type Wire<Value> = Value extends Date
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Wire<Value[Key]> }
      : Value;

/** `Item` is as JSON already. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: Wire<StoredPage<never>["pagination"]>;
}
export type EventItem = Wire<StoredEvent>;
export type EventDetail = Wire<EventTimeline>;
export type NotificationItem = Wire<StoredNotification>;
export type NotificationDetail = EventDetail["notifications"][number];
export type RejectionItem = Wire<StoredRejection>;
export type FeedItem = Wire<FeedEntry>;
export type BookingItem = Wire<BookingSummary>;
export type BookingRead = Wire<BookingDetails>;
export type RejectionDetail = Wire<ExplainedRejection>;
export type Deliveries = Wire<DeliveryStatistics>;
export type Health = Wire<HealthStatistics>;
export type Provider = Wire<ProviderStatus>;
export type Providers = Wire<ProviderStatuses>;

/** What happened to a booking, oldest first. */
export interface BookingStep {
  readonly at: string;
  readonly type: string;
  readonly title: string;
  readonly actor: string | null;
  readonly eventId: string | null;
  readonly notifications: readonly NotificationItem[];
}
export interface BookingDetail extends BookingRead {
  readonly history: readonly BookingStep[];
}

export interface LoadDay {
  readonly date: string;
  readonly departures: number;
  readonly seats: number;
  readonly sold: number;
}
export interface FlightLoad {
  readonly from: string;
  readonly days: readonly LoadDay[];
}
export interface Departure {
  readonly id: number;
  readonly flightNumber: string;
  readonly origin: string;
  readonly destination: string;
  readonly departureTime: string;
  readonly cabinClass: string;
  readonly seats: number;
  readonly sold: number;
}
export interface DayLoad {
  readonly date: string;
  readonly departures: readonly Departure[];
  readonly hasMore: boolean;
}
