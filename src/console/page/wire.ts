import type { Page as StoredPage } from "../../base/page.ts";
import type { BookingDetails, BookingSummary } from "../../booking/bookings/booking.schema.ts";
import type {
  DepartureLoads,
  FlightLoad as StoredFlightLoad,
} from "../../booking/flights/flight-load.schema.ts";
import type { EventTimeline, ListedEvent } from "../../events/event.schema.ts";
import type { ReplayPreview as MadePreview } from "../../events/replay.schema.ts";
import type {
  Replay as StoredReplay,
  ReplayCounts,
  ReplayFailure as StoredReplayFailure,
} from "../../events/replay.ts";
import type { AuditEntry } from "../../identity/audit/audit-entry.ts";
import type { ConsoleSession } from "../../identity/sessions/session.ts";
import type { User as StoredUser } from "../../identity/users/user.ts";
import type {
  Catalogue as StoredCatalogue,
  CatalogueEntry as StoredEntry,
  ProviderSetup as StoredSetup,
  ProviderSetupWithSecret as StoredSetupWithSecret,
} from "../../inbound/onboarding/onboarding.schema.ts";
import type {
  ProviderStatus,
  ProviderStatuses,
} from "../../inbound/provider-status/provider-status.schema.ts";
import type { Rejection as StoredRejection } from "../../inbound/rejection.ts";
import type { ExplainedRejection } from "../../inbound/rejections/rejection.schema.ts";
import type { Acknowledgement as StoredAcknowledgement } from "../../inbound/webhook-request.ts";
import type {
  Issue as StoredIssue,
  Issues as StoredIssues,
} from "../../operations/issues/issue.ts";
import type { DestinationLatency } from "../../operations/statistics/destination-latency.schema.ts";
import type {
  DeliveryStatistics,
  HealthStatistics,
} from "../../operations/statistics/statistics.schema.ts";
import type { Destination as StoredDestination } from "../../outbound/destination.ts";
import type { ListedDelivery, TestResult } from "../../outbound/destinations/delivery.schema.ts";
import type { ListedDestination } from "../../outbound/destinations/destination-health.schema.ts";
import type { DestinationWithSecret } from "../../outbound/destinations/destination.schema.ts";
import type {
  FilterPreview,
  PreviewedNotification,
} from "../../outbound/destinations/filter-preview.ts";
import type { Notification as StoredNotification } from "../../outbound/notification.ts";

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
export type AuditItem = Wire<AuditEntry>;
export type SessionInfo = Wire<ConsoleSession>;
export type Issue = Wire<StoredIssue>;
export type IssueList = Wire<StoredIssues>;
export type Replay = Wire<StoredReplay>;
export type ReplayFailure = Wire<StoredReplayFailure>;
export type ReplayOutcome = keyof ReplayCounts;
export type ReplayPreview = Wire<MadePreview>;
export type DeliveryState = NonNullable<EventItem["delivery"]>;
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
export type Catalogue = Wire<StoredCatalogue>;
export type CatalogueEntry = Wire<StoredEntry>;
export type ProviderSetup = Wire<StoredSetup>;
export type ProviderSetupWithSecret = Wire<StoredSetupWithSecret>;
export type Acknowledgement = Wire<StoredAcknowledgement>;
export type Destination = Wire<StoredDestination>;
/** Includes the health, which the page always asks for. */
export type DestinationDetail = Wire<Required<ListedDestination>>;
export type LatencySteps = Wire<DestinationLatency>;
export type DestinationSecret = Wire<DestinationWithSecret>;
/** Includes the attempts, which the page always asks for. */
export type DeliveryItem = Wire<Required<ListedDelivery>>;
export type TestOutcome = Wire<TestResult>;
export type Preview = Wire<FilterPreview>;
export type PreviewItem = Wire<PreviewedNotification>;
/** Includes the history, which the API returns to admins only. */
export type BookingDetail = Wire<BookingDetails & Required<Pick<BookingDetails, "history">>>;
export type BookingStatus = BookingItem["status"];
export type User = Wire<StoredUser>;
export type HistoryEntry = BookingDetail["history"][number];
export type FlightLoad = Wire<StoredFlightLoad>;
export type LoadDay = FlightLoad["days"][number];
export type DayDepartures = Wire<DepartureLoads>;
