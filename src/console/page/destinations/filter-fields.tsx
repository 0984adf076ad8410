import type { FormField } from "../../../web/input.ts";
import { Fields } from "../form.tsx";

import { FilterBuilder } from "./filter-builder.tsx";
import { FilterPreview } from "./filter-preview.tsx";

interface Parts {
  readonly of: FormField;
  /** The expression in the form. */
  readonly filter: string;
  /** The expression at first. */
  readonly stored: string | null;
  readonly hasAlerts: boolean;
}

/** A filter to choose or to write, with what it does to the newest notifications. */
export function FilterFields({ of: field, filter, stored, hasAlerts }: Parts) {
  return (
    <>
      <FilterBuilder filter={filter} change={write} />
      <Fields of={{ filter: field }} values={{ filter: stored }} />
      <FilterPreview filter={filter} hasAlerts={hasAlerts} />
    </>
  );
}

/** Writes the expression into its field, as typing does: the form has its values from there. */
function write(expression: string): void {
  const field = document.querySelector<HTMLTextAreaElement>("#field-filter");
  if (field === null) return;
  field.value = expression;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
