/** Forks a world, gives some effects other outcomes, repeats what was asked of the original, and says what became of it. */
import { aFlag, aSignal, isFields, type OptionKind, requireArgument, wholeFrom } from '@reprise/contracts';
import {
  type App,
  type ForkReport,
  forkReport,
  forkWorld,
  type OtherOutcome,
  openKernelWorld,
  type ReadonlyStore,
  type Store,
} from '@reprise/kernel';
import { MODEL_CALL, wordsOfEffect } from '../names/effects.js';
import { namesAt } from '../names/names-at.js';
import { EFFECTS } from '../names/reducers.js';
import type { WorldNames } from '../names/world-names.js';
import { frameOf } from '../page/frames.js';
import { requireGivenApps, requireQuestion } from '../page/require.js';
import { answeredWith, DENIED, type SettledEffect, settledEffect } from './outcome.js';
import type { ForkEffect, WhatIfReport } from './report.js';

/** Where a fork begins, where it is stored, and what is otherwise in it. */
export interface WhatIfOptions {
  /** The store of the fork: an empty place. */
  readonly into: Store;
  /** The last frame that it shares with its original; the one that emitted the first of the effects with another outcome when absent. */
  readonly at?: number;
  /** Other answers, by the ids of effects or their first 8 digits: what a model says, a tool returns, a person answers. */
  readonly answers?: Readonly<Record<string, string>>;
  /** Effects that a person does not approve, by their ids or first 8 digits. */
  readonly denied?: readonly string[];
  /** Whether the requests of the original are repeated behind the cut; true when there are other outcomes. */
  readonly feed?: boolean;
  readonly signal?: AbortSignal;
}

const A_STORE: OptionKind = {
  expected: 'a store, such as sqlite(path)',
  fits: (thing) => isFields(thing) && typeof thing.open === 'function',
};
const KNOWN: Readonly<Record<keyof WhatIfOptions, true | OptionKind>> = {
  ...{ into: A_STORE, at: wholeFrom(0), feed: aFlag, signal: aSignal },
  answers: {
    expected: 'texts by the ids of effects',
    fits: (thing) => isFields(thing) && Object.values(thing).every(isText),
  },
  denied: { expected: 'a list of ids of effects', fits: (thing) => Array.isArray(thing) && thing.every(isText) },
};

/**
 * Makes a dry fork of a world: no adapter is called, nothing outside changes. Effects that equal those of the original get its
 * outcomes, except where another one is given; any other effect is denied. The whole original is replayed on the way.
 *
 * @returns what the fork did otherwise than its original; the fork itself is in `into`, and can be opened, read and forked again
 * @throws RepriseError `invalid_argument` for a frame or an effect that is not there, for an outcome that the effect could not have had, and when `into` is not empty; the errors of `forkWorld`
 * @example const report = await whatIf(store, { app }, { into: memory(), answers: { '19113dee': 'No.' } })
 */
export async function whatIf(
  store: ReadonlyStore,
  apps: { readonly app: App; readonly legacy?: readonly App[] },
  options: WhatIfOptions,
): Promise<WhatIfReport> {
  requireQuestion('whatIf', store, options, KNOWN);
  requireGivenApps('whatIf', apps);
  requireArgument(options.into !== undefined, 'whatIf(options.into)', A_STORE.expected, options.into);
  const { into, signal } = options;
  const chosen = await chosenOutcomes(store, options);
  const at = await cutOf(store, options.at, chosen);
  const instead = Object.fromEntries(chosen.map(({ of, outcome }) => [of.effect, outcome]));
  const made = await forkWorld(store, { ...apps, at, into, instead });
  signal?.throwIfAborted();
  const fed = (options.feed ?? chosen.length > 0) ? await feed(store, apps, into) : null;
  const fork = await into.openReadonly();
  try {
    const report = await forkReport(fork, store);
    return {
      ...{ world: made.world, at, settled: made.settled, fed },
      instead: await Promise.all(
        chosen.map(async ({ of, outcome: { status } }) => {
          return { effect: of.effect, what: await wordsOfEffect(store, of), status };
        }),
      ),
      ...(await differencesOf(report, { store, fork })),
    };
  } finally {
    await fork.close();
  }
}

function isText(thing: unknown): boolean {
  return typeof thing === 'string';
}

/** An effect, and the outcome that it gets in the fork. */
interface ChosenOutcome {
  readonly of: SettledEffect;
  readonly outcome: OtherOutcome;
}

async function chosenOutcomes(
  store: ReadonlyStore,
  { answers = {}, denied = [], signal }: WhatIfOptions,
): Promise<readonly ChosenOutcome[]> {
  const chosen: ChosenOutcome[] = [];
  for (const [named, said] of Object.entries(answers)) {
    const of = await settledEffect(store, named, signal);
    chosen.push({ of, outcome: await answeredWith(of, said) });
  }
  for (const named of denied) chosen.push({ of: await settledEffect(store, named, signal), outcome: DENIED });
  return chosen;
}

/** The last shared frame. @throws RepriseError `invalid_argument` when none is named and nothing is otherwise */
async function cutOf(store: ReadonlyStore, at: number | undefined, chosen: readonly ChosenOutcome[]): Promise<number> {
  if (at !== undefined || chosen.length === 0) return frameOf(store, at);
  return endOfCascade(store, Math.min(...chosen.map(({ of }) => of.frame)));
}

/** The last frame of the cascade that a frame belongs to: a fork begins behind it. */
async function endOfCascade(store: ReadonlyStore, seq: number): Promise<number> {
  let last = seq;
  for await (const { kind, seq: next } of store.journal.read(seq + 1)) {
    if (kind !== 'continue') break;
    last = next;
  }
  return last;
}

/** Repeats the requests of the original. No adapter is registered: a dry fork calls none. */
async function feed(
  store: ReadonlyStore,
  { app, legacy = [] }: { readonly app: App; readonly legacy?: readonly App[] },
  into: Store,
): Promise<WhatIfReport['fed']> {
  await using fork = await openKernelWorld({ store: into, app, legacy, drive: 'manual' });
  const { sent, refused } = await fork.feed(store);
  return { sent, refused: refused.map((one) => ({ ...one })) };
}

type Differences = Pick<WhatIfReport, 'matched' | 'unmatched' | 'unused' | 'departure'>;

async function differencesOf(
  { matched, unmatched, unused, departure }: ForkReport,
  { store, fork }: { readonly store: ReadonlyStore; readonly fork: ReadonlyStore },
): Promise<Differences> {
  const [inFork, inOriginal] = [await namesOf(fork), await namesOf(store)];
  const rowsOf = (effects: ForkReport['unmatched'], names: WorldNames): Promise<ForkEffect[]> =>
    Promise.all(
      effects.map(async ({ effect, cell, name, params, seq }) => {
        const what = await wordsOfEffect(fork, { name, params });
        return { effect, of: names.ownerOf(cell), what, frame: seq };
      }),
    );
  return {
    matched: matched.length,
    unmatched: await rowsOf(unmatched, inFork),
    unused: unused.map(({ effect, cell, name, seq }) => {
      const what = name === EFFECTS.model ? MODEL_CALL : name;
      return { effect, of: inOriginal.ownerOf(cell), what, frame: seq };
    }),
    departure: departure ?? null,
  };
}

async function namesOf(store: ReadonlyStore): Promise<WorldNames> {
  return namesAt(store, (await store.journal.head()).seq);
}
