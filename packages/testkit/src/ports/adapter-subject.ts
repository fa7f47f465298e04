/** What the adapter suite is given, and what it can be told besides. */
import type { Value } from '@reprise/contracts';
import type { Adapter, AdapterContext, ContentStore } from '@reprise/kernel';
import fc from 'fast-check';
import { type Disposable, NotApplicable } from './suite.js';

/**
 * Where parameters come from: a list, of which the n-th is taken, from the beginning again when it is short; an
 * arbitrary; or a function, for parameters that link content, which it puts first.
 */
export type ParamsSource<I> = readonly I[] | fc.Arbitrary<I> | ((content: ContentStore, n: number) => Promise<I> | I);

/**
 * An adapter under test, with an outside of its own. What is optional is an ability: a check that needs one which is
 * absent is reported as not applicable.
 */
export interface AdapterSubject<I = Value, P = Value> extends Disposable {
  readonly adapter: Adapter<I, P>;
  /** Parameters that it executes. At least two different ones, so that answers can be told apart. */
  readonly params: ParamsSource<I>;
  /** How often the effect of this key happened outside. Of an effect that only reads: 0. */
  happened?(key: string): Promise<number> | number;
  /** Parameters on which the outside fails: it refuses, is down, answers nonsense. */
  readonly failing?: ParamsSource<I>;
  /** Parameters whose execution does not end before it is told to stop. */
  readonly slow?: ParamsSource<I>;
  /** Resolves when the slow execution of this key has reached the outside; after 50 ms when absent. */
  reached?(key: string): Promise<void>;
  /**
   * Leaves an attempt as a crash would: nothing knows of it but the outside. `before`: the request was never sent.
   * `after`: it happened, and the answer was lost.
   */
  interrupt?(key: string, params: I, when: 'before' | 'after'): Promise<void>;
  /** Whether a payload is the answer to these parameters. Needed where the same parameters are answered differently. */
  answers?(payload: P, params: I, content: ContentStore): Promise<boolean> | boolean;
  /** What `secret(name)` gives; when absent, a text made for the purpose. */
  secret?(name: string): string;
  /** What its context has besides; nobody answers its questions and it has no rights when absent. */
  readonly context?: Partial<Pick<AdapterContext, 'ask' | 'rights'>>;
  /** How soon it has to end when told to stop; 2000 ms when absent, which is what closing waits. */
  readonly patienceMs?: number;
}

/** An adapter subject with its types closed over, as checks take it. */
// biome-ignore lint/suspicious/noExplicitAny: checks hand parameters from the subject back to the subject, unread
export type AnyAdapterSubject = AdapterSubject<any, any>;

type Ability = 'happened' | 'failing' | 'slow' | 'interrupt';

/** The subject, known to have abilities; without one of them the check cannot be made. */
export function having<Name extends Ability>(
  subject: AnyAdapterSubject,
  ...names: readonly Name[]
): AnyAdapterSubject & Required<Pick<AnyAdapterSubject, Name>> {
  const absent = names.filter((name) => subject[name] === undefined);
  if (absent.length > 0) throw new NotApplicable(`the subject has no ${absent.join(' and no ')}`);
  return subject as AnyAdapterSubject & Required<Pick<AnyAdapterSubject, Name>>;
}

/** Arbitrary parameters are drawn with one seed, so that each run tests the same. */
const SEED = 2026;

/** The n-th parameters of a source. */
export async function paramsFrom<I>(source: ParamsSource<I>, content: ContentStore, n: number): Promise<I> {
  if (typeof source === 'function') return source(content, n);
  if (source instanceof fc.Arbitrary) return fc.sample(source, { seed: SEED, numRuns: n + 1 })[n] as I;
  const list = source as readonly I[];
  if (list.length === 0) throw new TypeError('the subject has an empty list of parameters');
  return list[n % list.length] as I;
}
