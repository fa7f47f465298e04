/** Session reducers that lose an end, or tell one twice, each in one way: the law has to find them. */
import { type App, defineApp, type ReducerContext } from '@reprise/kernel/define';
import type { TranscriptItem } from '../../src/contracts/index.js';
import { sessionReducer } from '../../src/reducer/session-reducer.js';
import { agentApp } from '../../src/world/app.js';

type Fields = Readonly<Record<string, unknown>>;
type Told = readonly [fact: string, value: Fields];

/** What a mutant makes of what its reducer says. */
interface Mutant {
  /** The facts that are stated in place of one. */
  readonly fact?: (fact: string, value: Fields) => readonly Told[];
  /** Whether an item enters the transcript. */
  readonly keeps?: (item: TranscriptItem) => boolean;
}

/** The mutants by what is wrong with them. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'a queued run is forgotten when everything is cancelled': without(
    (fact, { why }) => fact === 'InputDropped' && why === 'cancelled',
  ),
  'a queued run is forgotten when the session closes': without(
    (fact, { why }) => fact === 'InputDropped' && why === 'closed',
  ),
  'a steer is dropped without a word': without((fact, { type }) => fact === 'HostCommandDropped' && type === 'Steer'),
  'a steer is called applied where no step followed': {
    fact: (fact, { why, ...value }) =>
      fact === 'HostCommandDropped' && why === 'run_ended'
        ? [['HostCommandApplied', { ...value, step: 9 }]]
        : [[fact, why === undefined ? value : { ...value, why }]],
  },
  'a close is applied under the name of a cancel': {
    fact: (fact, value) => [
      [fact, fact === 'HostCommandApplied' && value.type === 'Close' ? { ...value, type: 'Cancel' } : value],
    ],
  },
  'a command is applied twice': {
    fact: (fact, value) => {
      const once: Told = [fact, value];
      return fact === 'HostCommandApplied' && value.type === 'Pause' ? [once, once] : [once];
    },
  },
  'a command is taken without an answer': without(
    (fact, { type }) => fact === 'HostCommandRejected' && type === 'Withdraw',
  ),
  'the result of a call that was cut off is not told': without(
    (fact, { outcome }) =>
      fact === 'ToolCallSettled' &&
      (outcome as { readonly non_execution?: { readonly kind: string } }).non_execution?.kind === 'cancelled',
  ),
  'the result of a call that was cut off is lost to the model': {
    keeps: (item) => item.role !== 'tool' || item.non_execution?.kind !== 'cancelled',
  },
  'an input that moves to the next run is not told to': without(
    (fact, { moved_from }) => fact === 'InputAccepted' && moved_from !== undefined,
  ),
};

function without(isLost: (fact: string, value: Fields) => boolean): Mutant {
  return { fact: (fact, value) => (isLost(fact, value) ? [] : [[fact, value]]) };
}

/** The app of agents with a mutant in place of its session reducer. */
export function appOf({ fact = (...told) => [told], keeps = () => true }: Mutant): App {
  const mutant: typeof sessionReducer = {
    ...sessionReducer,
    reduce(draft, event, ctx) {
      const telling: Pick<ReducerContext, 'record' | 'append'> = {
        record(name, value) {
          const [prefix, short, suffix] = [name.slice(0, 10), name.slice(10, -2), name.slice(-2)];
          for (const [other, said] of fact(short, value as Fields)) ctx.record(`${prefix}${other}${suffix}`, said);
        },
        append(log, item) {
          if (keeps(item as TranscriptItem)) ctx.append(log, item);
        },
      };
      return sessionReducer.reduce(draft, event, lookingLike(ctx, telling));
    },
  };
  return defineApp({ reducers: [mutant], plans: [...agentApp.plans.values()] });
}

/** A context with some of its parts replaced. */
function lookingLike(ctx: ReducerContext, parts: Partial<ReducerContext>): ReducerContext {
  return new Proxy(ctx, {
    get(target, name) {
      const part: unknown = Reflect.get(name in parts ? parts : target, name);
      return typeof part === 'function' ? part.bind(target) : part;
    },
  });
}
