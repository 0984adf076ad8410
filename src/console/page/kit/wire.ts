import type * as page from "../../../base/page.ts";
import type * as booking from "../../../booking/bookings/booking.schema.ts";
import type * as flight from "../../../booking/flights/flight-load.schema.ts";
import type * as search from "../../../booking/flights/flight.schema.ts";
import type * as event from "../../../events/event.schema.ts";
import type * as replayed from "../../../events/replay.schema.ts";
import type * as replay from "../../../events/replay.ts";
import type * as audit from "../../../identity/audit/audit-entry.ts";
import type * as session from "../../../identity/sessions/session.ts";
import type * as token from "../../../identity/sessions/token.schema.ts";
import type * as user from "../../../identity/users/user.ts";
import type * as webhook from "../../../inbound/model/webhook-request.ts";
import type * as onboarding from "../../../inbound/onboarding/onboarding.schema.ts";
import type * as provider from "../../../inbound/provider-status/provider-status.schema.ts";
import type * as rejected from "../../../inbound/rejections/rejection.schema.ts";
import type * as issue from "../../../operations/issues/issue.ts";
import type * as statistics from "../../../operations/statistics/statistics.schema.ts";
import type * as destinations from "../../../outbound/destinations/destination.schema.ts";
import type * as preview from "../../../outbound/destinations/filter-preview.ts";
import type * as destination from "../../../outbound/model/destination.ts";
import type * as person from "../../../persons/person.schema.ts";
import type * as persons from "../../../persons/persons.ts";

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
  readonly pagination: Wire<page.Page<never>["pagination"]>;
}
export type EventItem = Wire<event.ListedEvent>;
export type AuditItem = Wire<audit.ListedAuditEntry>;
export type SessionInfo = Wire<session.ConsoleSession>;
export type AgentToken = Wire<token.AgentToken>;
export type NewApiKey = Wire<token.NewApiKey>;
export type Allowance = session.Allowance;
export type Issue = Wire<issue.Issue>;
export type IssueList = Wire<issue.Issues>;
export type Replay = Wire<replay.Replay>;
export type ReplayFailure = Wire<replay.ReplayFailure>;
export type ReplayOutcome = keyof replay.ReplayCounts;
export type ReplayPreview = Wire<replayed.ReplayPreview>;
export type DeliveryState = NonNullable<EventItem["delivery"]>;
export type EventDetail = Wire<event.EventTimeline>;
export type NotificationDetail = EventDetail["notifications"][number];
export type RejectionItem = Wire<rejected.ListedRejection>;
export type BookingItem = Wire<booking.BookingSummary>;
export type RejectionDetail = Wire<rejected.ExplainedRejection>;
export type Deliveries = Wire<statistics.DeliveryStatistics>;
export type Health = Wire<statistics.HealthStatistics>;
export type Provider = Wire<provider.ProviderStatus>;
export type Providers = Wire<provider.ProviderStatuses>;
export type Catalogue = Wire<onboarding.Catalogue>;
export type CatalogueEntry = Wire<onboarding.CatalogueEntry>;
export type ProviderSetup = Wire<onboarding.ProviderSetup>;
export type ProviderSetupWithSecret = Wire<onboarding.ProviderSetupWithSecret>;
export type Acknowledgement = Wire<webhook.Acknowledgement>;
export type Destination = Wire<destination.Destination>;
/** Includes the health, which the page always asks for. */
export type DestinationDetail = Wire<Required<destinations.ListedDestination>>;
export type LatencySteps = Wire<statistics.DestinationLatency>;
export type DestinationSecret = Wire<destinations.DestinationWithSecret>;
/** Includes the attempts, which the page always asks for. */
export type DeliveryItem = Wire<Required<destinations.ListedDelivery>>;
export type TestOutcome = Wire<destinations.TestResult>;
export type Preview = Wire<preview.FilterPreview>;
export type PreviewItem = Wire<preview.PreviewedNotification>;
/** Includes the history, which the API returns to admins only. */
export type BookingDetail = Wire<
  booking.BookingDetails & Required<Pick<booking.BookingDetails, "history">>
>;
export type BookingChange = NonNullable<BookingDetail["changes"]>[number];
export type BookingStatus = BookingItem["status"];
export type FoundPerson = Wire<person.FoundPerson>;
export type FoundPersons = Wire<person.FoundPersons>;
export type PersonDetails = Wire<person.PersonDetails>;
export type PersonErasure = Wire<persons.PersonErasure>;
export type User = Wire<user.User>;
export type HistoryEntry = BookingDetail["history"][number];
export type FlightSearch = Wire<search.FlightSearchResult>;
export type FlightDays = Wire<search.FlightCalendar>;
export type FlightLoad = Wire<flight.FlightLoad>;
export type LoadDay = FlightLoad["days"][number];
export type DayDepartures = Wire<flight.DepartureLoads>;
