import { useContext, useId } from "preact/hooks";

import { severities } from "../../../event/new-notification.ts";
import { useNewestTypes } from "../kit/event/event-filters.tsx";
import { nameIn, NamesContext, ownSources } from "../kit/names.ts";
import { words } from "../kit/text.tsx";

import {
  type Choices,
  choicesIn,
  type Condition,
  conditionFields,
  expressionOf,
  isField,
  isOperator,
  operators,
} from "./filter-choices.ts";

interface Parts {
  /** The expression. */
  readonly filter: string;
  /** Called with the expression of what was chosen. */
  readonly change: (filter: string) => void;
}

/** Chooses the conditions of a filter, as long as its expression consists of them. */
export function FilterBuilder({ filter, change }: Parts) {
  const choices = choicesIn(filter);
  const types = useNewestTypes();
  if (choices === null) {
    return <p class="quiet">This expression is more than conditions to choose: edit it below.</p>;
  }
  const { join, conditions } = choices;
  const put = (changed: Partial<Choices>) => change(expressionOf({ ...choices, ...changed }));
  const replace = (index: number, condition: Condition) =>
    put({ conditions: conditions.with(index, condition) });
  return (
    <fieldset class="conditions">
      <legend>{conditions.length === 0 ? "Sends all events" : "Sends events for which"}</legend>
      {conditions.length > 1 && (
        <select
          aria-label="How many conditions must match"
          value={join}
          onChange={({ currentTarget: { value } }) => put({ join: value === "||" ? "||" : "&&" })}
        >
          <option value="&&">all conditions match</option>
          <option value="||">any condition matches</option>
        </select>
      )}
      {conditions.map((condition, index) => (
        <ConditionRow
          key={index}
          of={condition}
          types={types}
          change={(changed) => replace(index, changed)}
          remove={() => put({ conditions: conditions.toSpliced(index, 1) })}
        />
      ))}
      <button type="button" onClick={() => put({ conditions: [...conditions, firstCondition] })}>
        Add condition
      </button>
    </fieldset>
  );
}

/** Matches all events until a value is given. */
const firstCondition: Condition = { field: "type", operator: "startsWith", value: "" };

interface RowParts {
  readonly of: Condition;
  readonly types: readonly string[];
  readonly change: (condition: Condition) => void;
  readonly remove: () => void;
}

function ConditionRow({ of: condition, types, change, remove }: RowParts) {
  const { field, operator } = condition;
  return (
    <div class="condition">
      <select
        aria-label="Field"
        value={field}
        onChange={({ currentTarget: { value } }) =>
          isField(value) && change({ field: value, operator: "==", value: "" })
        }
      >
        {conditionFields.map((name) => (
          <option key={name} value={name}>
            {words(name)}
          </option>
        ))}
      </select>
      <select
        aria-label="Comparison"
        value={operator}
        onChange={({ currentTarget: { value } }) =>
          isOperator(value) && change({ ...condition, operator: value })
        }
      >
        {Object.entries(operators).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
      <Value of={condition} types={types} change={(value) => change({ ...condition, value })} />
      <button type="button" aria-label="Remove condition" onClick={remove}>
        ✕
      </button>
    </div>
  );
}

interface ValueParts {
  readonly of: Condition;
  readonly types: readonly string[];
  readonly change: (value: string) => void;
}

/** Of a field with known values a choice, of others a text. */
function Value({ of: { field, operator, value }, types, change }: ValueParts) {
  const names = useContext(NamesContext);
  const list = useId();
  const known = {
    provider: [...names.keys(), ...ownSources],
    severity: severities,
    type: null,
    subject: null,
  }[field];
  if (known !== null && operator !== "startsWith") {
    return (
      <select
        aria-label="Value"
        value={value}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      >
        {[...new Set([value, ...known])].map((each) => (
          <option key={each} value={each}>
            {each === "" ? "Choose…" : field === "provider" ? nameIn(names, each) : words(each)}
          </option>
        ))}
      </select>
    );
  }
  return (
    <>
      <input
        aria-label="Value"
        value={value}
        list={field === "type" ? list : undefined}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
      <datalist id={list}>
        {types.map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
    </>
  );
}
