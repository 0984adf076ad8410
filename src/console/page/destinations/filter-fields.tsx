import { useState } from "preact/hooks";

import type { FormField } from "../../../web/input.ts";
import { MoreFields } from "../kit/form.tsx";

import { FilterBuilder } from "./filter-builder.tsx";
import { choicesIn } from "./filter-choices.ts";
import { FilterPreview } from "./filter-preview.tsx";

/** What the form has now. */
interface FilterInput {
  readonly filter: string;
  readonly format: string;
  readonly hasAlerts: boolean;
}

/** Follows the fields of a form that the filter and its preview depend on: the input, and the form's `watch`. */
export function useFilterInput(first: FilterInput) {
  const [input, setInput] = useState(first);
  const watch = (textOf: (name: string) => string) =>
    setInput({
      filter: textOf("filter"),
      format: textOf("format") || first.format,
      hasAlerts: textOf("alerts") !== "",
    });
  return [input, watch] as const;
}

interface Parts {
  readonly of: FormField;
  readonly input: FilterInput;
  /** The expression at first. */
  readonly stored: string | null;
}

/** A filter to choose or to write, with what it does to the newest notifications. */
export function FilterFields({ of: field, input, stored }: Parts) {
  return (
    <>
      <FilterBuilder filter={input.filter} change={write} />
      <MoreFields
        title="Filter as an expression"
        of={{ filter: field }}
        values={{ filter: stored }}
        isOpen={choicesIn(stored ?? "") === null}
      />
      <FilterPreview {...input} />
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
