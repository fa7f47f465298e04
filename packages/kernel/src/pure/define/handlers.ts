/** A reducer as a table: one function for each of its events, so that a new event does not compile without one. */
import type { EventOf, EventSchemas, NoTables, Nothing, ReducerContext, RowOf, TableSchemas } from './reducer.js';

/** The value of one of a reducer's events. */
export type EventValue<E extends EventSchemas, N extends keyof E & string> = Extract<
  EventOf<E>,
  { readonly name: N }
>['value'];

/**
 * One handler for each event of a reducer.
 *
 * @typeParam T the reducer's tables: a handler's fourth parameter is the row that the sender has, see `by.row`
 */
export type EventHandlers<State, E extends EventSchemas, T extends TableSchemas = NoTables> = {
  readonly [N in keyof E & string]: (
    draft: State,
    value: EventValue<E, N>,
    ctx: ReducerContext<T>,
    row: RowOf<E[N], T>,
  ) => Nothing;
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
export function handledBy<State, E extends EventSchemas, T extends TableSchemas = NoTables>(
  handlers: EventHandlers<State, E, T>,
): (draft: State, event: EventOf<E, T>, ctx: ReducerContext<T>) => void {
  return (draft, event, ctx) => {
    // The name determines the types of the value and the row; TypeScript cannot express that for a union.
    const handle = handlers[event.name] as (draft: State, value: unknown, ctx: ReducerContext<T>, row: unknown) => void;
    handle(draft, event.value, ctx, event.row);
  };
}
