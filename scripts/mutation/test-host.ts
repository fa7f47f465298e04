/**
 * What test files import as `vitest` when they are bundled for mutation runs: as much of it as the tests of kernel and
 * sessions use, with vitest's own matchers. It only collects; `worker.ts` runs. One process may collect the same
 * bundle many times, each time with modules that know nothing of the time before.
 */
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  customMatchers,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
} from '@vitest/expect';
import { spyOn } from '@vitest/spy';
import * as chai from 'chai';

type Step = (...given: unknown[]) => unknown;

/** A group of tests, with its hooks. */
export interface Suite {
  readonly parent: Suite | undefined;
  readonly name: string;
  readonly beforeAll: Step[];
  readonly afterAll: Step[];
  readonly beforeEach: Step[];
  readonly afterEach: Step[];
}

/** A test as it was collected. */
export interface Collected {
  readonly name: string;
  readonly suite: Suite;
  readonly run: Step;
}

const POLL_MS = { every: 20, atMost: 2_000 };

const suiteIn = (parent: Suite | undefined, name: string): Suite => ({
  parent,
  name,
  beforeAll: [],
  afterAll: [],
  beforeEach: [],
  afterEach: [],
});

/** Everything that was collected, in order. */
export const tests: Collected[] = [];
let suite = suiteIn(undefined, '');

/** From here on tests belong to a file. */
export function enterFile(file: string): void {
  suite = suiteIn(undefined, file);
}

/** A test. */
export const it = Object.assign(collect, { each: eachOf(collect), ...when(collect) });

/** A group of tests. */
export const describe = Object.assign(group, { each: eachOf(group), ...when(group) });

/** Before the first test of a group. */
export const beforeAll = (step: Step) => void suite.beforeAll.push(step);
/** After the last test of a group. */
export const afterAll = (step: Step) => void suite.afterAll.push(step);
/** Before each test of a group. */
export const beforeEach = (step: Step) => void suite.beforeEach.push(step);
/** After each test of a group. */
export const afterEach = (step: Step) => void suite.afterEach.push(step);

let finishing: Step[] = [];

/** After the test that runs now, whether it fails or not. */
export const onTestFinished = (step: Step) => void finishing.push(step);

function collect(name: string, run: Step): void {
  tests.push({ name: pathOf(suite, name), suite, run: () => finishingAfter(run) });
}

async function finishingAfter(run: Step): Promise<void> {
  finishing = [];
  try {
    await run();
  } finally {
    for (const step of finishing.toReversed()) await step();
  }
}

function group(name: string, fill: Step): void {
  const outer = suite;
  suite = suiteIn(outer, name);
  fill();
  suite = outer;
}

/** Both ways to leave a test or a group out on a platform. */
function when(one: (name: string, step: Step) => void) {
  const left = () => undefined;
  return {
    skipIf: (condition: unknown) => (condition ? left : one),
    runIf: (condition: unknown) => (condition ? one : left),
  };
}

function pathOf(inner: Suite, name: string): string {
  return inner.parent === undefined ? `${inner.name} > ${name}` : pathOf(inner.parent, `${inner.name} > ${name}`);
}

/** Rows of a table; they are distinguished by their number, as titles are for people. */
function eachOf(one: (name: string, step: Step) => void) {
  return (rows: readonly unknown[]) => (name: string, step: Step) => {
    for (const [n, row] of rows.entries()) {
      one(`${name} (row ${n})`, () => step(...(Array.isArray(row) ? row : [row])));
    }
  };
}

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

const asymmetric = (globalThis as unknown as Record<symbol, object>)[ASYMMETRIC_MATCHERS_OBJECT];

/** vitest's expectations. */
export const expect = Object.assign((value: unknown, message?: string) => chai.expect(value, message), chai.expect, {
  extend: (all: object) => (chai.expect as unknown as { extend(to: object, all: object): void }).extend(expect, all),
  ...asymmetric,
  poll,
});
(expect as unknown as { extend(all: object): void }).extend(customMatchers);

type Matchers = Record<string, (...given: unknown[]) => unknown>;

/** An expectation that is repeated until it is met. */
function poll(read: () => unknown, { timeout = POLL_MS.atMost, interval = POLL_MS.every } = {}) {
  const asked = (negated: boolean): Matchers =>
    new Proxy({} as Matchers, {
      get: (_, matcher: string) => {
        if (matcher === 'not') return asked(true);
        return (...given: unknown[]) =>
          again(
            async () => {
              const assertion = chai.expect(await read());
              return ((negated ? assertion.not : assertion) as unknown as Matchers)[matcher]?.(...given);
            },
            performance.now() + timeout,
            interval,
          );
      },
    });
  return asked(false);
}

async function again(step: () => Promise<unknown>, until: number, interval: number): Promise<unknown> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, interval));
    }
  }
}

/**
 * Of vitest's doubles only spies: a test that wants a clock of vitest fails here, and is left to vitest. The caller
 * that watches decides the time of a test.
 */
export const vi = { spyOn, setConfig: (): void => undefined };

/** Types are checked by the compiler: here every such expectation passes. */
export const expectTypeOf = (): unknown => {
  const holds: unknown = new Proxy(() => holds, { get: () => holds });
  return holds;
};
