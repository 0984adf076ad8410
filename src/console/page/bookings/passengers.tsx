import { type Of, Text } from "../kit/text.tsx";
import { Time } from "../kit/time.tsx";
import { Wide } from "../kit/ui.tsx";
import type { BookingDetail } from "../kit/wire.ts";

type Passenger = BookingDetail["passengers"][number];

/** The passengers by position. Those who were taken out of the booking are struck through. */
export function Passengers({ of: passengers }: Of<readonly Passenger[]>) {
  return (
    <Wide label="Passengers">
      <table class="passengers">
        <thead>
          <tr>
            <th>No.</th>
            <th>Passenger</th>
            <th>Email</th>
            <th>Passport</th>
          </tr>
        </thead>
        <tbody>
          {passengers.map((passenger, index) => (
            <tr key={index} class={passenger.cancelledAt === undefined ? "" : "gone"}>
              <td>{index + 1}</td>
              <td>
                <Name of={passenger} />
              </td>
              <td>
                <Text of={passenger.email} />
              </td>
              <td class="mono">{passenger.passportNumber}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function Name({ of: { firstName, lastName, cancelledAt } }: Of<Passenger>) {
  const name = <Text of={`${firstName} ${lastName}`} />;
  if (cancelledAt === undefined) return name;
  return (
    <>
      <s>{name}</s> cancelled <Time at={cancelledAt} />
    </>
  );
}
