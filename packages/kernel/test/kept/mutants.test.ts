/**
 * Broken builds, one for each thing that the engine keeps and could fail to forget: each is the sources with one place
 * changed, in a bundle of its own, and one of the laws finds it.
 */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { foundBy } from '../../../../conformance/broken-build.js';
import { everyNth } from '../../../../conformance/part.js';

interface Mutant {
  /** What the broken build does. */
  readonly does: string;
  /** Relative to the sources of the kernel. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Found by worlds that stay open beside worlds that are opened again. */
const STATES: readonly Mutant[] = [
  {
    does: 'takes a state that holds bytes, since it had none before',
    file: 'pure/engine/cell/next-state.ts',
    from: 'if (next === undefined || next.hasBytes) return undefined;',
    to: 'if (next === undefined) return undefined;',
  },
  {
    does: 'does not count what a delivery added to a state',
    file: 'pure/engine/cell/next-state.ts',
    from: 'boundOf(after, restBytes, last.bytesMax + next.added)',
    to: 'boundOf(after, restBytes, last.bytesMax)',
  },
  {
    does: 'takes a state without the defaults that its schema fills in',
    file: 'pure/engine/cell/next-state.ts',
    from: 'if (!checked.ok || checked.value !== next.value) return undefined;',
    to: 'if (!checked.ok) return undefined;',
  },
  {
    does: 'takes a state that does not fit its schema',
    file: 'pure/engine/cell/next-state.ts',
    from: 'if (!checked.ok || checked.value !== next.value) return undefined;',
    to: 'if (checked.ok && checked.value !== next.value) return undefined;',
  },
  {
    does: 'keeps timers in the order in which they were set',
    file: 'pure/engine/cell/cell-context.ts',
    from: 'inKeyOrder(Object.fromEntries(this.#timers))',
    to: 'Object.fromEntries(this.#timers)',
  },
  {
    does: 'takes a shorter list for the list before',
    file: 'pure/codec/normal.ts',
    from: 'let isSame = was === before && was.length === items.length;',
    to: 'let isSame = was === before;',
  },
  {
    does: 'takes a map with fewer keys for the map before',
    file: 'pure/codec/normal.ts',
    from: 'if (known.length !== keys.length) return false;',
    to: '',
  },
  {
    does: 'gives recipes the kept state itself',
    file: 'pure/engine/cell/deliver-event.ts',
    from: 'copyNormal(presentState(reducer, delivery.to, cell))',
    to: '(presentState(reducer, delivery.to, cell) as never)',
  },
  {
    does: 'keeps one changed field of a map and forgets the others',
    file: 'pure/codec/normal.ts',
    from: 'copy ??= { ...was };',
    to: 'copy = { ...was };',
  },
  {
    does: 'takes what fitted one option of a union for what fits another',
    file: 'pure/schema/check.ts',
    from: 'tagOf(before, on) === tag ? before : undefined',
    to: 'before',
  },
];

/** Found by frames that are folded from kept values and from bytes. */
const FRAMES: readonly Mutant[] = [
  {
    does: 'keeps the leaves of frames that did not become durable',
    file: 'state/leaf-table.ts',
    from: 'for (const { key, leaf } of log.values()) this.#set(key, leaf);',
    to: '',
  },
];

/** Found by a plan whose fold is abandoned and made again. */
const RUNNING_PLANS: readonly Mutant[] = [
  {
    does: 'finds a plan that an abandoned fold has advanced',
    file: 'pure/engine/ledger/settle.ts',
    from: 'fold.env.plans?.delete(from);',
    to: '',
  },
];

/** Found by rows beside a model of them. */
const TABLES: readonly Mutant[] = [
  {
    does: 'gives recipes the value of a table itself, whose encoding is kept',
    file: 'pure/engine/table/cell-tables.ts',
    from: 'return found === undefined ? undefined : copyNormal(found);',
    to: 'return found;',
  },
];

/** Found by the counted size of a plan beside the length of its encoding. */
const PLAN_SIZES: readonly Mutant[] = [
  {
    does: 'does not count the resumption that was added',
    file: 'pure/engine/ledger/plan-bytes.ts',
    from: 'counted.set(after, itemBytes(before) + resumptionBytes(next));',
    to: 'counted.set(after, itemBytes(before));',
  },
  {
    does: 'counts a plan with the resumptions of one that went another way',
    file: 'pure/engine/ledger/plan-bytes.ts',
    from: 'counted.set(after, itemBytes(before) + resumptionBytes(next));',
    to: 'counted.set(before, itemBytes(before) + resumptionBytes(next)); counted.set(after, itemBytes(before));',
  },
];

/** Found by a reader whose rights change. */
const READERS: readonly Mutant[] = [
  {
    does: 'keeps an answer beyond the time of the right',
    file: 'run/world/read/read-rights.ts',
    from: 'verdict.until !== null && at >= verdict.until',
    to: 'verdict.until !== null && at < 0',
  },
  {
    does: 'keeps an answer when the rights have changed',
    file: 'run/world/read/read-rights.ts',
    from: 'return from.every(([key, leaf]) => this.#residentIs(key, leaf));',
    to: 'return from.length > 0;',
  },
];

/** Found by a cell whose rights depend on those above it. */
const CHAINS: readonly Mutant[] = [
  {
    does: 'keeps what the rights of a chain came to when those above have changed',
    file: 'pure/engine/gate/rights.ts',
    from: 'kept.root === root && isSame(kept.leaves, leaves)',
    to: 'kept.root === root',
  },
];

/** Found by views that follow a world. */
const VIEWS: readonly Mutant[] = [
  {
    does: 'keeps the entries of a view from before a commit',
    file: 'serve/views/overlay.ts',
    from: 'for (const [id, [, value]] of this.#batch) this.#atHand.set(id, value);',
    to: '',
  },
];

interface Judges {
  holdRestarts(): Promise<void>;
  holdFrames(): Promise<void>;
  holdRunningPlans(): Promise<void>;
  holdTableValues(): Promise<void>;
  holdPlanSizes(): void;
  holdReaders(): Promise<void>;
  holdChains(): Promise<void>;
  holdFollowingViews(): Promise<void>;
}

const SOURCES = path.join(import.meta.dirname, '../../src');
const JUDGES = path.join(import.meta.dirname, 'judges.ts');

type Found = readonly [law: keyof Judges, does: string, mutant: Mutant];

const MUTANTS: readonly Found[] = [
  ...STATES.map((mutant): Found => ['holdRestarts', mutant.does, mutant]),
  ...FRAMES.map((mutant): Found => ['holdFrames', mutant.does, mutant]),
  ...RUNNING_PLANS.map((mutant): Found => ['holdRunningPlans', mutant.does, mutant]),
  ...TABLES.map((mutant): Found => ['holdTableValues', mutant.does, mutant]),
  ...PLAN_SIZES.map((mutant): Found => ['holdPlanSizes', mutant.does, mutant]),
  ...READERS.map((mutant): Found => ['holdReaders', mutant.does, mutant]),
  ...CHAINS.map((mutant): Found => ['holdChains', mutant.does, mutant]),
  ...VIEWS.map((mutant): Found => ['holdFollowingViews', mutant.does, mutant]),
];

describe('a broken build that keeps what it should forget', () => {
  it.each(everyNth(10, MUTANTS))('mutant: %s finds a build that %s [RPL-29]', async (law, _, mutant) => {
    const { file, from, to } = mutant;
    const found = await foundBy(JUDGES, law, { file: path.join(SOURCES, file), from, to });
    expect(found).toMatch(/^(?!"|Build failed)/);
  });
});
