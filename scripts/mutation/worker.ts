/**
 * One process that runs tests under mutants, one mutant after the other, on the messages of its parent.
 *
 * Invariants
 * K1  Each mutant meets modules that were evaluated with it active: the bundle is one function, called once for each.
 *     Packages of others are shared.
 * K2  Of a mutant only the first failing test is looked for.
 * K3  It judges no time: who tells nothing for too long is ended by the parent.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';
import type { Collected, Suite } from './test-host.js';

/** A message of the parent: without `mutant`, the unchanged sources, with the reached mutants of each test counted. */
export interface Ask {
  readonly bundle: string;
  readonly mutant?: string;
  readonly tests?: readonly number[];
  readonly hitLimit?: number;
  /** The beginnings of the names of tests that search without a time limit. */
  readonly atLength: readonly string[];
}

/** A message to the parent, sent as it happens. */
export type Told =
  | { readonly kind: 'begun'; readonly test: number }
  | { readonly kind: 'ran'; readonly test: number; readonly ms: number; readonly failure?: string }
  | {
      readonly kind: 'loaded';
      readonly names: readonly string[];
      readonly reached: readonly string[];
      readonly failure?: string;
    }
  | {
      readonly kind: 'reached';
      readonly suites: Reach;
      readonly tests: Reach;
      readonly suitesOf: readonly (readonly string[])[];
    }
  | { readonly kind: 'done'; readonly memory: number };

/** For each name the mutants that were reached. */
export type Reach = Readonly<Record<string, Readonly<Record<string, number>>>>;

interface Namespace {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number;
  hitLimit?: number;
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
}

interface Bundle {
  readonly tests: readonly Collected[];
}

/** Properties look for a failure and not for the smallest one, and most of them not longer than this. */
const SEARCH_MS = 1_200;

const space = globalThis as unknown as { __stryker__: Namespace };
const compiled = new Map<string, (module: { exports: unknown }, require: NodeJS.Require) => void>();
const suiteIds = new Map<Suite, string>();
const tell = (told: Told) => process.send?.(told);

// Work that a mutant left running may fail later, under another mutant. That is no verdict on the other.
process.on('unhandledRejection', () => {});
process.on('uncaughtException', () => {});
process.on('disconnect', () => process.exit());
const fromHere = createRequire(`${process.cwd()}/`);
const { default: fc } = fromHere('fast-check') as typeof import('fast-check');
process.on('message', (ask: Ask) => void perform(ask));

async function perform(ask: Ask): Promise<void> {
  space.__stryker__ = {
    activeMutant: ask.mutant,
    ...(ask.hitLimit === undefined ? {} : { hitCount: 0, hitLimit: ask.hitLimit }),
  };
  suiteIds.clear();
  const tests = load(ask.bundle);
  if (tests !== undefined) await runAll(tests, ask);
  tell({ kind: 'done', memory: process.memoryUsage().rss });
}

// K1
function load(bundle: string): readonly Collected[] | undefined {
  try {
    const module = { exports: {} };
    evaluatorOf(bundle)(module, fromHere);
    const { tests } = module.exports as Bundle;
    const reached = Object.keys(space.__stryker__.mutantCoverage?.static ?? {});
    tell({ kind: 'loaded', names: tests.map(({ name }) => name), reached });
    return tests;
  } catch (error) {
    tell({ kind: 'loaded', names: [], reached: [], failure: String(error) });
    return undefined;
  }
}

function evaluatorOf(bundle: string) {
  const known = compiled.get(bundle);
  if (known !== undefined) return known;
  const script = new Script(`(function (module, require) {${readFileSync(bundle, 'utf8')}\n})`, { filename: bundle });
  const evaluate = script.runInThisContext();
  compiled.set(bundle, evaluate);
  return evaluate;
}

async function runAll(tests: readonly Collected[], ask: Ask): Promise<void> {
  const entered = new Set<Suite>();
  for (const n of ask.tests ?? tests.keys()) {
    const test = tests[n];
    if (test === undefined) continue;
    tell({ kind: 'begun', test: n });
    const atLength = ask.atLength.some((file) => test.name.startsWith(file));
    const limit = { interruptAfterTimeLimit: SEARCH_MS, markInterruptAsFailure: false };
    fc.configureGlobal({ endOnFailure: true, ...(atLength ? {} : limit) });
    const began = performance.now();
    const failure = await failureOf(() => runOne(test, `test ${n}`, entered));
    tell({ kind: 'ran', test: n, ms: performance.now() - began, ...(failure === undefined ? {} : { failure }) });
    if (failure !== undefined && ask.mutant !== undefined) break; // K2
  }
  for (const suite of entered) await failureOf(() => inOrder(suite.afterAll));
  if (ask.mutant === undefined) tellReached(tests);
}

async function runOne(test: Collected, id: string, entered: Set<Suite>): Promise<void> {
  const chain = chainOf(test.suite);
  for (const suite of chain) {
    if (entered.has(suite)) continue;
    entered.add(suite);
    space.__stryker__.currentTestId = idOf(suite);
    await inOrder(suite.beforeAll);
  }
  space.__stryker__.currentTestId = id;
  for (const suite of chain) await inOrder(suite.beforeEach);
  try {
    await test.run();
  } finally {
    for (const suite of chain.toReversed()) await inOrder(suite.afterEach);
  }
}

function tellReached(tests: readonly Collected[]): void {
  const entries = Object.entries(space.__stryker__.mutantCoverage?.perTest ?? {});
  tell({
    kind: 'reached',
    suites: Object.fromEntries(entries.filter(([id]) => id.startsWith('suite'))),
    tests: Object.fromEntries(entries.filter(([id]) => id.startsWith('test'))),
    suitesOf: tests.map(({ suite }) => chainOf(suite).map(idOf)),
  });
}

function chainOf(suite: Suite): readonly Suite[] {
  return suite.parent === undefined ? [suite] : [...chainOf(suite.parent), suite];
}

function idOf(suite: Suite): string {
  const id = suiteIds.get(suite) ?? `suite ${suiteIds.size}`;
  suiteIds.set(suite, id);
  return id;
}

async function inOrder(steps: readonly (() => unknown)[]): Promise<void> {
  for (const step of steps) await step();
}

async function failureOf(step: () => Promise<void>): Promise<string | undefined> {
  try {
    await step();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 300) : String(error);
  }
}
