import { useState } from "preact/hooks";

import { ActionButton, attempt, Confirmed } from "../kit/action.tsx";
import { callApi } from "../kit/api.ts";
import { dateAndTime } from "../kit/durations.ts";
import { commandOf } from "../kit/given.ts";
import { LoadedDetail } from "../kit/layout.tsx";
import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { counted, money, type Of, Text, words } from "../kit/text.tsx";
import { Facts, notify, Status, Wide } from "../kit/ui.tsx";
import type { BookingItem, PersonDetails, PersonErasure } from "../kit/wire.ts";

const path = "v1/persons";
const stays =
  "Bookings with their money stay for accounting, under a random owner and without passengers. Audit entries stay under the same pseudonym. Webhooks, backups and what others received stay until they expire.";

/** The most open bookings that the API returns, and that are shown. */
const maxOpen = 100;
const shownOpen = 12;

interface Parts {
  /** An email address or a user's id. */
  readonly id: string;
  readonly close: string;
  readonly erased: () => void;
}

/** A person: their account, their bookings, and what one may ask for by law. */
export function PersonPane({ id, close, erased }: Parts) {
  const loaded = useLoad<PersonDetails>(`${path}/read`, { body: { person: id } });
  const [erasure, setErasure] = useState<PersonErasure | null>(null);
  const erase = async () => {
    const done = await callApi<PersonErasure>(`${path}/erase`, {
      method: "POST",
      body: { person: id },
    });
    setErasure(done);
    notify("Erased");
    loaded.reload();
    erased();
  };
  return (
    <LoadedDetail label="Person" close={close} of={loaded}>
      {(person) =>
        erasure === null ? (
          <Known
            of={person}
            id={id}
            erase={() => void attempt("Erase", erase).then(loaded.reload)}
          />
        ) : (
          <Erased of={erasure} />
        )
      }
    </LoadedDetail>
  );
}

interface KnownParts extends Of<PersonDetails>, Pick<Parts, "id"> {
  readonly erase: () => void;
}

function Known({ of: details, id, erase }: KnownParts) {
  const { person, name, createdAt, roles, bookings, hasMore, openBookings } = details;
  const isBlocked = openBookings.length > 0;
  return (
    <article>
      <header>
        <h2>
          <Text of={name ?? id} />
        </h2>
        <div class="actions">
          <ActionButton label="Export" busy="Exporting…" act={() => download(id)} />
          <Confirmed
            label="End access"
            title={`End all access of ${id}?`}
            text="Tokens, sessions, agents and API keys stop working within seconds. Roles at an identity provider stay: remove them there first."
            confirm={() => void attempt("End access", () => endAccess(id))}
          />
          {!isBlocked && (
            <Confirmed
              label="Erase"
              title={`Erase ${id}?`}
              text={`This cannot be undone. ${stays}`}
              confirm={erase}
            />
          )}
        </div>
        <p class="quiet">
          Passports are masked in an export; <code>{commandOf("person export")}</code> has them in
          full. Exports and erasures are in the <a href={writeRoute("audit")}>audit list</a>.
        </p>
      </header>
      {isBlocked && (
        <div class="explanation">
          <h3>Cannot be erased yet</h3>
          <p>
            {openBookings.length === maxOpen && "At least "}
            {counted(openBookings.length, "booking")} neither cancelled nor flown:{" "}
            {openBookings.slice(0, shownOpen).map(({ bookingId, reference }) => (
              <>
                <a href={writeRoute("bookings", bookingId)}>{reference}</a>{" "}
              </>
            ))}
            {openBookings.length > shownOpen && "…"}
          </p>
          <p class="quiet">Cancel them first, or wait until they have departed.</p>
        </div>
      )}
      <Facts
        of={[
          ["Email", person.email],
          ["User since", createdAt && dateAndTime(new Date(createdAt))],
          ["Signed in as", roles.length > 0 ? roles.join(", ") : null],
          ["User ID", person.ids.length > 0 ? person.ids.join(", ") : "No account"],
        ]}
      />
      <h3 class="history">Bookings</h3>
      {bookings.length === 0 ? <p class="quiet">None.</p> : <BookingTable of={bookings} />}
      {hasMore && <p class="quiet">These are the newest {bookings.length}.</p>}
    </article>
  );
}

function BookingTable({ of: bookings }: Of<readonly BookingItem[]>) {
  return (
    <Wide label="Bookings">
      <table>
        <thead>
          <tr>
            <th>Booking</th>
            <th>Status</th>
            <th>Flight</th>
            <th>Departs, local time</th>
            <th>Cabin</th>
            <th>Price</th>
          </tr>
        </thead>
        <tbody>
          {bookings.map(({ id, reference, status, flight, totalPrice, currency }) => (
            <tr key={id}>
              <td class="mono">
                <a href={writeRoute("bookings", id)}>{reference}</a>
              </td>
              <td>
                <Status of={status} />
              </td>
              <td class="mono nowrap">
                {flight.flightNumber} {flight.origin} → {flight.destination}
              </td>
              <td class="nowrap">{flight.departureLocal.slice(0, 16).replace("T", " ")}</td>
              <td>{words(flight.cabinClass)}</td>
              <td class="nowrap">{money(totalPrice, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function Erased({ of: { erased } }: Of<PersonErasure>) {
  return (
    <div role="status">
      <header>
        <h2>Erased</h2>
      </header>
      <div class="explanation">
        <p>{stays}</p>
        <p class="quiet">
          With SQLite, run <code>{commandOf("person vacuum")}</code> to remove old copies from the
          database file.
        </p>
      </div>
      <Facts
        of={Object.entries(erased).map(([table, rows]) => [words(table), counted(rows, "row")])}
      />
    </div>
  );
}

async function endAccess(subject: string): Promise<void> {
  await callApi("v1/revocations", { method: "POST", body: { subject } });
  notify("Access ended");
}

/** Saves all that is stored about a person as a file. */
async function download(person: string): Promise<void> {
  const exported = await callApi(`${path}/export`, { method: "POST", body: { person } });
  const text = JSON.stringify(exported, null, 2);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = `${person}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
  notify("Exported. The access is recorded.");
}
