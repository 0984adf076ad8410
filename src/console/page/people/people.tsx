import { Split } from "../kit/layout.tsx";
import { Filters } from "../kit/list/filters.tsx";
import { ItemRow, RowList, type Rows } from "../kit/list/rows.tsx";
import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { Empty, Waiting } from "../kit/ui.tsx";
import { titles, type ViewParts } from "../kit/views.ts";
import type { FoundPerson, FoundPersons } from "../kit/wire.ts";

import { PersonPane } from "./person-pane.tsx";

const filters = { q: { kind: "text", label: "Search", maxLength: 254, description: "" } } as const;

/** The People view, for admins: find a person, answer what is stored about them, and erase them. */
export function People({ route }: ViewParts) {
  const { id, query } = route;
  const q = query.get("q") ?? "";
  const found = useLoad<FoundPersons>("v1/persons/find", { keep: true, body: { q } });
  const { value } = found;
  return (
    <Split
      title={titles.people}
      list={
        <div class="list">
          <Waiting for={found} what="people" />
          {value?.data.length === 0 && <NobodyFound q={q} />}
          {value !== null && value.data.length > 0 && (
            <RowList of={rows}>
              {value.data.map((person) => (
                <li key={idOf(person)}>
                  <ItemRow of={rows} item={person} isOpen={idOf(person) === id} query={query} />
                </li>
              ))}
            </RowList>
          )}
          {value?.hasMore === true && (
            <p class="end quiet">
              {q === ""
                ? "These are the newest users. Search for others."
                : "There are more: write more of the name or address."}
            </p>
          )}
        </div>
      }
      detail={
        id && (
          <PersonPane
            key={id}
            id={id}
            close={writeRoute("people", null, query)}
            erased={found.reload}
          />
        )
      }
    >
      <Filters
        of={filters}
        route={route}
        controls={{ q: { placeholder: "Name, email or reference" } }}
      />
    </Split>
  );
}

/** What names a person in the address of the page. */
const idOf = ({ email, userId }: FoundPerson): string => email ?? userId ?? "";

const rows: Rows<FoundPerson> = {
  what: ["person", "people"],
  columns: [
    { head: "Name", at: "title", cell: ({ name, userId }) => name ?? userId ?? "Name unknown" },
    { head: "Email", at: "kind", look: "quiet", cell: ({ email }) => email ?? "No account" },
  ],
  narrow: `"title" "kind" / minmax(0, 1fr)`,
  address: (person, query) => writeRoute("people", idOf(person), query),
};

function NobodyFound({ q }: { readonly q: string }) {
  return (
    <Empty title={q === "" ? "No users yet" : `Nobody found for “${q}”`}>
      <p>
        The search finds the beginning of an email address, of a user's name or of a passenger's
        last name, and a whole booking reference or user ID.
      </p>
    </Empty>
  );
}
