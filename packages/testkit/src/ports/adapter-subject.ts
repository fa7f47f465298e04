/** The input of the adapter suite: the adapter, its parameters, and optional abilities. */
import type { Value } from '@reprise/contracts';
import type { Adapter, AdapterContext, ContentStore } from '@reprise/kernel';
import fc from 'fast-check';
import { type Disposable, NotApplicable } from '../suite/suite.js';

/**
 * Where parameters come from: a list, which is used in order and from the beginning again when it is short; an
 * arbitrary; or a function, for parameters that link content, which the function stores first.
 */
export type ParamsSource<I> = readonly I[] | fc.Arbitrary<I> | ((content: ContentStore, n: number) => Promise<I> | I);

/**
 * An adapter under test, with its own outside world. Optional members are abilities: a check that needs an absent one
 * is reported as not applicable.
 */
export interface AdapterSubject<I = Value, P = Value> extends Disposable {
  readonly adapter: Adapter<I, P>;
  /** Parameters that the adapter executes. At least two different ones, so that their answers can be distinguished. */
  readonly params: ParamsSource<I>;
  /** How often the effect with this key happened outside; 0 for an effect that only reads. */
  happened?(key: string): Promise<number> | number;
  /** Parameters on which the outside fails: it refuses, is down, or answers nonsense. */
  readonly failing?: ParamsSource<I>;
  /** Parameters whose execution ends only when its signal is aborted. */
  readonly slow?: ParamsSource<I>;
  /** Resolves when the slow execution with this key has reached the outside; after 50 ms when absent. */
  reached?(key: string): Promise<void>;
  /**
   * Leaves an attempt as a crash would: only the outside knows of it. `before`: the request was never sent.
   * `after`: the effect happened, and the answer was lost.
   */
  interrupt?(key: string, params: I, when: 'before' | 'after'): Promise<void>;
  /** Whether a payload is the answer to these parameters. Needed when equal parameters get different answers. */
  answers?(payload: P, params: I, content: ContentStore): Promise<boolean> | boolean;
  /** Returns the secret of a name; a text made for the purpose when absent. */
  secret?(name: string): string;
  /** Further members of the context. When absent, questions get no answer and the adapter has no rights. */
  readonly context?: Partial<Pick<AdapterContext, 'ask' | 'rights'>>;
  /** The time in ms in which an execution has to end after an abort; 2000 when absent, the time that closing waits. */
  readonly patienceMs?: number;
}

/** An adapter subject without its type parameters, as checks take it. */
// biome-ignore lint/suspicious/noExplicitAny: checks hand parameters from the subject back to the subject, unread
export type AnyAdapterSubject = AdapterSubject<any, any>;

type Ability = 'happened' | 'failing' | 'slow' | 'interrupt';

/** The subject with the required abilities; throws `NotApplicable` when one is absent. */
export function having<Name extends Ability>(
  subject: AnyAdapterSubject,
  ...names: readonly Name[]
): AnyAdapterSubject & Required<Pick<AnyAdapterSubject, Name>> {
  const absent = names.filter((name) => subject[name] === undefined);
  if (absent.length > 0) throw new NotApplicable(`the subject has no ${absent.join(' and no ')}`);
  return subject as AnyAdapterSubject & Required<Pick<AnyAdapterSubject, Name>>;
}

/** Arbitrary parameters are drawn with one seed, so that each run tests the same ones. */
const SEED = 2026;

/** The n-th parameters of a source. */
export async function paramsFrom<I>(source: ParamsSource<I>, content: ContentStore, n: number): Promise<I> {
  if (typeof source === 'function') return source(content, n);
  if (source instanceof fc.Arbitrary) return fc.sample(source, { seed: SEED, numRuns: n + 1 })[n] as I;
  const list = source as readonly I[];
  if (list.length === 0) throw new TypeError('the subject has an empty list of parameters');
  return list[n % list.length] as I;
}
