import { useState } from "preact/hooks";

import { useLoad } from "../kit/load.ts";
import { counted, money, Mono, type Of, words } from "../kit/text.tsx";
import { Waiting } from "../kit/ui.tsx";
import type { BookingDetail, FlightDays, FlightSearch } from "../kit/wire.ts";

import { dayText, localText, startOf } from "./days.tsx";

type Flight = FlightSearch["flights"][number];

const dayOf = (local: string) => local.slice(0, 10);
const timeOf = (local: string) => local.slice(11, 16);
const shifted = (day: string, days: number) => dayOf(startOf(day, days));

/** How far ahead to look for a day with seats. */
const searchDays = 30;

/** The departures of the booking's route on one day, of which one is chosen. */
export function FlightChoice({ of: booking }: Of<BookingDetail>) {
  const { flight, seats } = booking;
  const { origin, destination, departureLocal } = flight;
  const today = new Date().toISOString().slice(0, 10);
  const [day, setDay] = useState(dayOf(departureLocal) > today ? dayOf(departureLocal) : today);
  const route = { origin, destination, passengers: String(seats) };
  const onDay = new URLSearchParams({ ...route, departureDate: day, limit: "100" });
  const loaded = useLoad<FlightSearch>(`v1/api/flights?${onDay}`);
  const flights = loaded.value?.flights.filter(({ id }) => id !== flight.id);
  const possible = flights?.filter(({ price }) => price.currency === booking.currency);
  const first = possible?.find((each) => each.cabinClass === flight.cabinClass) ?? possible?.[0];
  const later = new URLSearchParams({ ...route, from: day, to: shifted(day, searchDays) });
  const calendar = useLoad<FlightDays>(
    flights?.length === 0 ? `v1/api/flights/calendar?${later}` : null,
  );
  const next = calendar.value?.days.find(({ flightCount }) => flightCount > 0);
  return (
    <fieldset class="conditions departure-choice">
      <legend>
        {origin} → {destination}, for {counted(seats, "passenger")}
      </legend>
      <p class="quiet">
        Now on {flight.flightNumber} {flight.cabinClass}, {localText(departureLocal)}
      </p>
      <div class="actions">
        <button
          type="button"
          aria-label="Previous day"
          disabled={day <= today}
          onClick={() => setDay(shifted(day, -1))}
        >
          ←
        </button>
        <input
          type="date"
          aria-label="Day of departure"
          value={day}
          min={today}
          onChange={({ currentTarget: { value } }) => value !== "" && setDay(value)}
        />
        <button type="button" aria-label="Next day" onClick={() => setDay(shifted(day, 1))}>
          →
        </button>
      </div>
      <Waiting for={loaded} what="departures" />
      {(flights?.length ?? 0) > 0 && (
        <p class="quiet">
          {dayText(day)}, with the difference of the fares for {counted(seats, "passenger")}. The
          next step adds the fee for a change, before you confirm.
        </p>
      )}
      {flights?.map((each) => (
        <Departure key={each.id} of={each} booking={booking} isFirst={each === first} />
      ))}
      {flights?.length === 0 && (
        <p role="status">
          No other departure on {dayText(day)} has {counted(seats, "free seat")}.{" "}
          {next !== undefined && (
            <button type="button" class="link" onClick={() => setDay(next.date)}>
              Go to {dayText(next.date)}
            </button>
          )}
        </p>
      )}
    </fieldset>
  );
}

interface DepartureParts extends Of<Flight> {
  readonly booking: BookingDetail;
  /** Whether it is chosen at first. */
  readonly isFirst: boolean;
}

function Departure({ of: flight, booking, isFirst }: DepartureParts) {
  const { id, flightNumber, cabinClass, departureLocal, arrivalLocal, price } = flight;
  const isPriced = price.currency === booking.currency;
  return (
    <label>
      <input
        type="radio"
        name="flightId"
        value={id}
        disabled={!isPriced}
        defaultChecked={isFirst}
      />
      <span>
        {timeOf(departureLocal)} – {timeOf(arrivalLocal)}
        {dayOf(arrivalLocal) !== dayOf(departureLocal) && ` ${dayText(arrivalLocal).slice(0, 3)}`}
      </span>
      <Mono of={flightNumber} />
      <span>{words(cabinClass)}</span>
      <strong>
        {isPriced
          ? differenceText(price.amount * booking.seats - booking.totalPrice, price.currency)
          : `priced in ${price.currency}`}
      </strong>
      <span class="quiet">{flight.seatsAvailable.toLocaleString("en")} free</span>
    </label>
  );
}

/** `+ USD 40.00`, without the fee: only an offer has it. Less than the smallest unit of any currency is a rounding error. */
function differenceText(difference: number, currency: string): string {
  if (Math.abs(difference) < 0.000_05) return "same fare";
  return `${difference > 0 ? "+" : "−"} ${money(Math.abs(difference), currency)}`;
}
