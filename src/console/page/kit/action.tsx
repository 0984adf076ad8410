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

interface ConfirmedParts {
  readonly label: string;
  readonly title: string;
  readonly text: string;
  readonly isMain?: boolean;
  readonly confirm: () => void;
}

/** A button that asks before it acts. */
export function Confirmed({ label, title, text, isMain = false, confirm }: ConfirmedParts) {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button
        type="button"
        class={isMain ? "primary" : ""}
        onClick={() => dialog.current?.showModal()}
      >
        {label}
      </button>
      <dialog ref={dialog} class="confirm" aria-label={title}>
        <form
          method="dialog"
          onSubmit={(event) => {
            const { submitter } = event;
            if (submitter instanceof HTMLButtonElement && submitter.value === "confirm") confirm();
          }}
        >
          <h2>{title}</h2>
          <p>
            <Text of={text} />
          </p>
          <div class="actions">
            <button type="submit" value="confirm" class="primary">
              {label}
            </button>
            <button type="submit" value="cancel">
              Cancel
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}
