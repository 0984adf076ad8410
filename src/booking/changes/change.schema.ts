import { Type } from "@sinclair/typebox";

import { documented, text } from "../../web/schema.ts";
import { positionSchema } from "../model/booking-change.ts";
import { flightIdSchema, maxPassengers } from "../model/flight.ts";

/** The body of POST /v1/api/bookings/{id}/cancellation. */
export const partRequestSchema = Type.Object(
  {
    passengers: Type.Array(positionSchema, {
      minItems: 1,
      maxItems: maxPassengers,
      uniqueItems: true,
      errorMessage: `1 to ${maxPassengers} different positions`,
      description: "The positions of the passengers to cancel.",
    }),
  },
  { $id: "PartRequest", description: "Passengers to cancel." },
);

/** The body of POST /v1/api/bookings/{id}/changes. */
export const changeRequestSchema = Type.Object(
  { flightId: flightIdSchema },
  { $id: "ChangeRequest", description: "The flight to change to.", examples: [{ flightId: 2 }] },
);

export const changeParams = documented(
  Type.Object({
    id: text("The booking's id.", "bk_019377b07d4070008000000000000001"),
    changeId: text("The change's id.", "chg_019377b07d4070008000000000000001"),
  }),
);
