import type { Model, Operation } from "../../support/linearizability.ts";

/** What a client asked about one delivery of a webhook. */
export type DeliveryRequest =
  { readonly does: "deliver" } | { readonly does: "read event"; readonly eventId: string };

export type DeliveryAnswer =
  | { readonly is: "accepted" | "duplicate"; readonly eventId: string }
  | { readonly is: "event"; readonly duplicates: number }
  | { readonly is: "not found" };

export interface DeliveryOperation extends Operation {
  /** The interface and instance it was sent to. */
  readonly through: string;
  readonly request: DeliveryRequest;
  /** Null: unknown. */
  readonly answer: DeliveryAnswer | null;
}

export interface DeliveryState {
  readonly isStored: boolean;
  /** Null: no answer had it yet. */
  readonly eventId: string | null;
  readonly duplicates: number;
}

/** A delivery is accepted once. Then it is a duplicate of the same event, which counts its duplicates. */
export const deliveryModel: Model<DeliveryState, DeliveryOperation> = {
  initial: { isStored: false, eventId: null, duplicates: 0 },
  apply(state, { request, answer }) {
    if (request.does === "deliver") return afterDelivery(state, answer);
    const isSame = state.eventId === request.eventId && answer?.is === "event";
    return isSame && answer.duplicates === state.duplicates ? state : null;
  },
  keyOf: ({ isStored, eventId, duplicates }) => `${isStored} ${eventId} ${duplicates}`,
};

function afterDelivery(state: DeliveryState, answer: DeliveryAnswer | null): DeliveryState | null {
  const { isStored, duplicates } = state;
  if (answer === null) {
    return { ...state, isStored: true, duplicates: isStored ? duplicates + 1 : 0 };
  }
  if (answer.is === "accepted") {
    return isStored ? null : { isStored: true, eventId: answer.eventId, duplicates: 0 };
  }
  if (answer.is !== "duplicate" || !isStored) return null;
  if (state.eventId !== null && state.eventId !== answer.eventId) return null;
  return { isStored, eventId: answer.eventId, duplicates: duplicates + 1 };
}
