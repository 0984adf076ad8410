import { attempt, Confirmed, useAction } from "../kit/action.tsx";
import { callApi } from "../kit/api.ts";
import { Fields, Form, type FormFields, valuesIn } from "../kit/form.tsx";
import { money, type Of } from "../kit/text.tsx";
import { notify } from "../kit/ui.tsx";
import type { BookingDetail } from "../kit/wire.ts";

interface Parts extends Of<BookingDetail> {
  /** Called after the booking was changed. */
  readonly done: () => void;
}

const send = ({ id }: BookingDetail, body: object) =>
  callApi(`v1/api/bookings/${encodeURIComponent(id)}/refund`, { method: "POST", body });

/** Records that all that is due was refunded. */
export function RecordRefund({ of: booking, done }: Parts) {
  const { refund } = booking;
  const { isBusy, run } = useAction();
  if (refund === null || refund.refunded >= refund.amount || isBusy) return null;
  const record = async () => {
    await send(booking, { amount: refund.amount });
    notify("Refund recorded");
    done();
  };
  return (
    <Confirmed
      label="Record refund"
      title={`Was ${money(refund.amount, refund.currency)} refunded in all?`}
      text="Skyhook moves no money. Record the refund after you made it."
      confirm={() => void run(() => attempt("Record refund", record))}
    />
  );
}

const fields = {
  amount: { type: "text", label: "Refunded in all", hint: "Less than what is recorded." },
  reason: { type: "text", label: "Reason", hint: "Part of the history. No personal data." },
} as const satisfies FormFields;

/** Lowers what is recorded, with a reason. */
export function RefundCorrection({ of: booking, done, close }: Parts & { close: () => void }) {
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
