import { attempt, Confirmed, useAction } from "../kit/action.tsx";
import { callApi } from "../kit/api.ts";
import { Fields, Form, type FormFields, valuesIn } from "../kit/form.tsx";
import { money, type Of } from "../kit/text.tsx";
import { notify } from "../kit/ui.tsx";
import type { BookingItem } from "../kit/wire.ts";

/** What the list and the page know of a booking whose refund is due. */
interface Refunded extends Pick<BookingItem, "id" | "reference"> {
  readonly refund?: Pick<
    NonNullable<BookingItem["refund"]>,
    "amount" | "refunded" | "currency"
  > | null;
}

interface Parts<Booking extends Refunded> extends Of<Booking> {
  /** Called after the booking was changed. */
  readonly done: () => void;
}

const send = ({ id }: Refunded, body: object) =>
  callApi(`v1/api/bookings/${encodeURIComponent(id)}/refund`, { method: "POST", body });

interface RecordParts extends Parts<Refunded> {
  readonly label?: string;
  readonly isMain?: boolean;
}

/** Records that all that is due was refunded. */
export function RecordRefund({ of: booking, done, label = "Record refund", isMain }: RecordParts) {
  const { refund } = booking;
  const { isBusy, run } = useAction();
  if (!refund || refund.refunded >= refund.amount || isBusy) return null;
  const { amount, refunded, currency } = refund;
  const record = async () => {
    await send(booking, { amount });
    notify(`Refund of ${booking.reference} recorded`);
    done();
  };
  const before = refunded === 0 ? "" : ` That makes ${money(amount, currency)} in all.`;
  return (
    <Confirmed
      label={label}
      title={`Record a refund of ${money(amount - refunded, currency)} for ${booking.reference}?`}
      text={`Skyhook moves no money: record the refund after you made it.${before}`}
      isMain={isMain === true}
      confirm={() => void run(() => attempt("Record refund", record))}
    />
  );
}

const fields = {
  amount: { type: "text", label: "Refunded in all", hint: "Less than what is recorded." },
  reason: { type: "text", label: "Reason", hint: "Part of the history. No personal data." },
} as const satisfies FormFields;

/** Lowers what is recorded, with a reason. */
export function RefundCorrection({
  of: booking,
  done,
  close,
}: Parts<Refunded> & { close: () => void }) {
  async function correct(values: FormData): Promise<void> {
    const { amount, reason } = valuesIn(values, fields);
    await send(booking, { amount: amount === "" ? amount : Number(amount), reason });
    notify("Refund corrected");
    close();
    done();
  }
  return (
    <Form
      title="Correct refund"
      submit={["Correct refund", "Correcting…"]}
      shows={Object.keys(fields)}
      send={correct}
      cancel={close}
      isFocused
    >
      <Fields of={fields} />
    </Form>
  );
}
