/**
 * `reduce`: one event on one state, as a plain function over frozen states, with structural sharing and patches.
 *
 * For inspectors, user interfaces and tests. The engine does not use it; a property test holds the two equal in
 * bytes. Kept out of the kernel's main entry, so that importing the kernel does not import immer.
 */
import { enablePatches, freeze, type Patch, produceWithPatches } from 'immer';
import { decode, encode } from '../codec/index.js';
import type { ReducerContext, ReducerDefinition } from '../define/index.js';
import { runPure } from '../engine/index.js';

enablePatches();

/** What a reduction gives. */
export interface Reduced<S> {
  /** The next state: frozen, sharing with the last what did not change. */
  readonly state: S;
  /** What changed, as immer patches. */
  readonly patches: readonly Patch[];
}

/**
 * Reduces one event.
 *
 * @param reducer its definition
 * @param state a frozen state, or undefined for a cell that does not exist yet
 * @param event its wire name and value
 * @param context what `ctx` is during the call; asking through it is the caller's to interpret
 */
export function reduce<S>(
  reducer: ReducerDefinition,
  state: S | undefined,
  event: { readonly name: string; readonly value: unknown },
  context: ReducerContext,
): Reduced<S> {
  const given = decode(encode(event.value));
  const base = (state ??
    freeze(
      decode(encode(runPure(() => reducer.init(context.address[1], { name: event.name, value: given })))),
      true,
    )) as S;
  const [next, patches] = produceWithPatches(base as object, (draft: unknown) => {
    runPure(() => reducer.reduce(draft, { name: event.name, value: decode(encode(given)) }, context));
  });
  return { state: normalForm(next) as S, patches };
}

/**
 * The state in normal form. A state whose keys enumerate otherwise than decoding yields them, or that holds −0 or
 * an undefined key, is replaced by the decoded bytes; every other keeps its shared structure.
 */
function normalForm(state: unknown): unknown {
  const normal = decode(encode(state));
  return freeze(isNormal(state, normal) ? state : normal, true);
}

function isNormal(given: unknown, normal: unknown): boolean {
  if (typeof given !== 'object' || given === null || typeof normal !== 'object' || normal === null)
    return Object.is(given, normal);
  const [keys, canonical] = [Object.keys(given), Object.keys(normal)];
  if (keys.length !== canonical.length) return false;
  return keys.every((key, i) => key === canonical[i] && isNormal((given as never)[key], (normal as never)[key]));
}
