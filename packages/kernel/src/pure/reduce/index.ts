/**
 * `reduce`: one event on one state, as a plain function over frozen states, with structural sharing and patches.
 *
 * For inspectors, user interfaces and tests. The engine does not use it; a property test checks that both give equal
 * bytes. Kept out of the kernel's main entry, so that importing the kernel does not import immer.
 */

import {
  isFields,
  isFilled,
  RepriseError,
  raiseExhaustion,
  requireArgument,
  requireMethods,
  type Value,
} from '@reprise/contracts';
import { enablePatches, freeze, type Patch, produceWithPatches } from 'immer';
import { decode, encode } from '../codec/index.js';
import type { DeliveredEvent, ReducerContext, ReducerDefinition } from '../define/index.js';
import { Exhausted, Fault, fittedState, Rejected, runPure } from '../engine/index.js';

export { type RecordingContext, recordingContext } from './recording-context.js';

enablePatches();

/** The result of a reduction. */
export interface Reduced<S> {
  /** The next state: frozen, sharing the unchanged parts with the last one. */
  readonly state: S;
  /** The changes, as immer patches. */
  readonly patches: readonly Patch[];
}

/**
 * Reduces one event to the state that the engine would store, in bytes. A fault that would drop the event in the engine
 * is thrown here, and the input state is unchanged.
 *
 * @param reducer its definition
 * @param state a frozen state, or undefined for a cell that does not exist yet
 * @param event its wire name and value, and the row that its sender has. Declared senders are not checked here: that is
 *   the engine's part, so test them with `givenReducer`
 * @param context the `ctx` during the call; it decides what the reducer's requests do
 * @throws RepriseError `delivery_faulted`, `nondeterminism`, `request_rejected`, `stack_exhausted`, `invalid_value`
 * @example
 * const { state, patches } = reduce(counter, undefined, { name: 'demo/Added@1', value: { by: 2 } }, ctx)
 */
export function reduce<S>(
  reducer: ReducerDefinition,
  state: S | undefined,
  event: DeliveredEvent,
  context: ReducerContext,
): Reduced<S> {
  requireMethods(reducer, ['init', 'reduce'], 'reduce(reducer)', 'a reducer that defineReducer made');
  requireArgument(isFields(event) && isFilled(event.name), 'reduce(event)', 'an event, { name, value }', event);
  requireMethods(context, ['emit', 'send'], 'reduce(context)', 'a context, such as recordingContext()');
  const bytes = encode(event.value);
  const row = event.row === undefined ? {} : { row: event.row };
  const own = () => ({ name: event.name, value: decode(bytes), ...row }); // every call gets its own copy of the value
  try {
    const base = state ?? freeze(canonical(runPure(() => reducer.init(context.address[1], own()))), true);
    const [next, patches] = produceWithPatches(base as object, (draft: unknown) => {
      if (runPure(() => reducer.reduce(draft, own(), context)) === undefined) return;
      throw new Fault('returned_a_value', `${reducer.name} returned something; a recipe returns nothing`);
    });
    return { state: normalForm(reducer, next) as S, patches };
  } catch (thrown) {
    throw errorOf(thrown);
  }
}

/**
 * The state in normal form. A state with keys in another order than decoding gives them, with −0, with an
 * undefined key, or without a key that has a default, is replaced by the decoded bytes; any other state keeps its
 * shared structure.
 */
function normalForm(reducer: ReducerDefinition, state: unknown): unknown {
  const normal = canonical(state);
  const fitted = fittedState(reducer, normal);
  if (fitted !== normal) return freeze(canonical(fitted), true);
  return freeze(isNormal(state, normal) ? state : normal, true);
}

function canonical(state: unknown): Value {
  try {
    return decode(encode(state));
  } catch (error) {
    raiseExhaustion(error);
    throw new Fault('value_invalid', error instanceof Error ? error.message : 'state is not canonical', error);
  }
}

/** The engine's signals as errors for callers. */
function errorOf(thrown: unknown): unknown {
  if (thrown instanceof Rejected) {
    return new RepriseError('request_rejected', `the reducer rejected the event: ${thrown.code}`, {
      reason: thrown.code,
    });
  }
  if (thrown instanceof Exhausted || thrown instanceof RangeError) {
    const cause = thrown instanceof Exhausted ? thrown.cause : thrown;
    return new RepriseError('stack_exhausted', 'reducing this event exhausted the machine', { cause });
  }
  if (!(thrown instanceof Fault)) return thrown;
  const code = thrown.code === 'nondeterminism' ? 'nondeterminism' : 'delivery_faulted';
  return new RepriseError(code, thrown.detail, { fault: thrown.code, cause: thrown.cause ?? thrown });
}

function isNormal(given: unknown, normal: unknown): boolean {
  if (typeof given !== 'object' || given === null || typeof normal !== 'object' || normal === null)
    return Object.is(given, normal);
  const [keys, sorted] = [Object.keys(given), Object.keys(normal)];
  if (keys.length !== sorted.length) return false;
  return keys.every((key, i) => key === sorted[i] && isNormal((given as never)[key], (normal as never)[key]));
}
