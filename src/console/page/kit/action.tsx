import { useRef, useState } from "preact/hooks";

import type { ApiError } from "./api.ts";
import { toApiError } from "./load.ts";
import { Text } from "./text.tsx";
import { notify } from "./ui.tsx";

interface Options {
  /** Whether a success leaves the form: it stays busy, so that it cannot be sent twice. */
  readonly isLast?: boolean;
}

/** The error of an action, below its form. */
export function Problem({ error }: { readonly error: ApiError }) {
  return (
    <p class="problems" role="alert">
      {error.message}
    </p>
  );
}

/** Runs one action at a time, and keeps its error. */
export function useAction({ isLast = false }: Options = {}) {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const run = async (action: () => Promise<void>): Promise<void> => {
    if (isBusy) return;
    setIsBusy(true);
    setError(null);
    try {
      await action();
      if (isLast) return;
    } catch (cause) {
      setError(toApiError(cause));
    }
    setIsBusy(false);
  };
  return { isBusy, error, run };
}

interface ButtonParts {
  readonly label: string;
  /** The label while the action runs. */
  readonly busy?: string;
  readonly act: () => Promise<void>;
  /** The name of the action in the notice that it failed. */
  readonly name?: string;
  readonly isMain?: boolean;
}

/** A button that runs an action, one at a time. */
export function ActionButton({
  label,
  busy = label,
  act,
  name = label,
  isMain = false,
}: ButtonParts) {
  const { isBusy, run } = useAction();
  return (
    <button
      type="button"
      class={isMain ? "primary" : ""}
      // Not `disabled`, which would take the focus from the button.
      aria-disabled={isBusy}
      onClick={() => void run(() => attempt(name, act))}
    >
      {isBusy ? busy : label}
    </button>
  );
}

/** Runs an action. If it fails, a notice says so. */
export async function attempt(name: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (cause) {
    notify(`${name} failed. ${toApiError(cause).message}`, "bad");
  }
}

interface Question {
  readonly label: string;
  readonly title: string;
  readonly text: string;
  /** What must be typed before it can be confirmed. */
  readonly typed?: string | null;
}

/** A dialog that asks, and whether it was confirmed. */
export function useQuestion({ label, title, text, typed = null }: Question) {
  const dialog = useRef<HTMLDialogElement>(null);
  const answered = useRef<(isConfirmed: boolean) => void>(() => {});
  const ask = (): Promise<boolean> => {
    const answer = Promise.withResolvers<boolean>();
    answered.current = answer.resolve;
    // Escape leaves the value as it is.
    if (dialog.current !== null) dialog.current.returnValue = "";
    dialog.current?.querySelector("form")?.reset();
    dialog.current?.showModal();
    return answer.promise;
  };
  const element = (
    <dialog
      ref={dialog}
      class="confirm"
      aria-label={title}
      // Comes a moment after the dialog has closed, when it may already ask again.
      onClose={({ currentTarget: { open, returnValue } }) =>
        open || answered.current(returnValue === "confirm")
      }
    >
      <form method="dialog">
        <h2>{title}</h2>
        <p>
          <Text of={text} />
        </p>
        {typed !== null && (
          <label class="field">
            Type {typed} to confirm
            <input required pattern={typed} title={typed} inputMode="numeric" autocomplete="off" />
          </label>
        )}
        <div class="actions">
          <button type="submit" value="confirm" class="primary">
            {label}
          </button>
          <button type="submit" value="cancel" formNoValidate>
            Cancel
          </button>
        </div>
      </form>
    </dialog>
  );
  return { ask, element };
}

interface ConfirmedParts extends Question {
  readonly isMain?: boolean;
  readonly confirm: () => void;
}

/** A button that asks before it acts. */
export function Confirmed({ isMain = false, confirm, ...question }: ConfirmedParts) {
  const { ask, element } = useQuestion(question);
  return (
    <>
      <button
        type="button"
        class={isMain ? "primary" : ""}
        onClick={() => void ask().then((isConfirmed) => isConfirmed && confirm())}
      >
        {question.label}
      </button>
      {element}
    </>
  );
}
