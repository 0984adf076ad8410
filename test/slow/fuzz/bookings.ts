import fc from "fast-check";

import { hostileHeaders } from "./headers.ts";
import { encoded, type Json, spoilt } from "./json.ts";
import { anyRole, type FuzzRequest } from "./request.ts";
import { requestTarget } from "./target.ts";

/** A passport that the oracle would know again anywhere. */
export const passport = fc.nat(9_999_999).map((number) => `FZ${String(number).padStart(7, "0")}`);

const passenger = fc.record({
  firstName: fc.constantFrom("Ada", "Jos\u00e9", "\u738b"),
  lastName: fc.constantFrom("Lovelace", "O'Neil"),
  email: fc.constant("ada@example.com"),
  dateOfBirth: fc.constantFrom("1990-04-12", "2024-02-29"),
  passportNumber: passport,
});

/** What a booking is asked for with. */
export const bookingInput: fc.Arbitrary<Json> = fc.record({
  flightId: fc.integer({ min: 2, max: 21 }),
  passengers: fc.array(passenger, { minLength: 1, maxLength: 3 }),
  contactEmail: fc.constant("ada@example.com"),
  paymentMethod: fc.constant("card"),
});

const requests: fc.Arbitrary<FuzzRequest> = fc.record({
  method: fc.constant("POST"),
  path: fc.constant("/v1/api/bookings"),
  headers: hostileHeaders(
    ["content-type", "idempotency-key", "content-encoding"],
    [["content-type", "application/json"]],
  ),
  as: anyRole,
  body: encoded(spoilt(bookingInput)),
});

export const bookings = requestTarget({
  name: "bookings",
  about: "bodies and idempotency keys of POST /v1/api/bookings",
  shortRuns: 100,
  requests,
});
