/** A reducer as a table: one function for each of its events, so that a new event does not compile without one. */
import type { EventOf, EventSchemas, Nothing, ReducerContext } from './reducer.js';

/** The value of one of a reducer's events. */
export type EventValue<E extends EventSchemas, N extends keyof E & string> = Extract<
  EventOf<E>,
  { readonly name: N }
>['value'];

/** One handler for each event of a reducer. */
export type EventHandlers<State, E extends EventSchemas> = {
  readonly [N in keyof E & string]: (draft: State, value: EventValue<E, N>, ctx: ReducerContext) => Nothing;
};

/**
 * The recipe that calls the handler of each event: for `reduce` of a reducer.
 *
 * @example
 * const EVENTS = { 'demo/Added@1': creates(z.strictObject({ by: z.int() })) } as const
 * const HANDLERS: EventHandlers<{ n: number }, typeof EVENTS> = {
 *   'demo/Added@1': (draft, { by }) => { draft.n += by },
 * }
 * defineReducer({ name: 'demo/Counter@1', state, events: EVENTS, init: () => ({ n: 0 }), reduce: handledBy(HANDLERS) })
 */
export function handledBy<State, E extends EventSchemas>(
  handlers: EventHandlers<State, E>,
): (draft: State, event: EventOf<E>, ctx: ReducerContext) => void {
  return (draft, event, ctx) => {
    // The name determines the type of the value; TypeScript cannot express that for a union.
    const handle = handlers[event.name] as (draft: State, value: unknown, ctx: ReducerContext) => void;
    handle(draft, event.value, ctx);
  };
}
