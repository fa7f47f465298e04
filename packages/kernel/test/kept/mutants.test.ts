/**
 * Broken builds, one for each thing that the engine keeps and could fail to forget: each is the sources with one place
 * changed, in a bundle of its own, and one of the laws finds it.
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bundle } from '../../../../conformance/bundle.js';

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
    from: 'boundOf(after, rest.bytes, last.bytesMax + next.added)',
    to: 'boundOf(after, rest.bytes, last.bytesMax)',
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
];

/** Found by frames that are folded from kept values and from bytes. */
const FRAMES: readonly Mutant[] = [
  {
    does: 'keeps the leaves of frames that did not become durable',
    file: 'run/state/leaf-table.ts',
    from: 'for (const { key, leaf } of log.values()) this.#set(key, leaf);',
    to: '',
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

/** Found by views that follow a world. */
const VIEWS: readonly Mutant[] = [
  {
    does: 'keeps the entries of a view from before a commit',
    file: 'serve/views/overlay.ts',
    from: 'for (const [id, [, value]] of this.#batch) this.#atHand.set(id, value);',
    to: '',
  },
];

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

interface Judges {
  holdRestarts(): Promise<void>;
  holdFrames(): Promise<void>;
  holdReaders(): Promise<void>;
  holdFollowingViews(): Promise<void>;
}

/** What a law says of a broken build; undefined when it finds nothing. */
async function foundBy(law: keyof Judges, { file, from, to }: Mutant): Promise<string | undefined> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-kept-'));
  const outfile = path.join(folder, 'mutant.mjs');
  try {
    const planted = { file: path.join(ROOT, 'packages/kernel/src', file), from, to };
    await bundle(path.join(import.meta.dirname, 'judges.ts'), outfile, { planted });
    const judges = (await import(pathToFileURL(outfile).href)) as Judges;
    await judges[law]();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Found = readonly [law: keyof Judges, does: string, mutant: Mutant];

const MUTANTS: readonly Found[] = [
  ...STATES.map((mutant): Found => ['holdRestarts', mutant.does, mutant]),
  ...FRAMES.map((mutant): Found => ['holdFrames', mutant.does, mutant]),
  ...READERS.map((mutant): Found => ['holdReaders', mutant.does, mutant]),
  ...VIEWS.map((mutant): Found => ['holdFollowingViews', mutant.does, mutant]),
];

describe('a broken build that keeps what it should forget', () => {
  it.each(MUTANTS)('mutant: %s finds a build that %s [RPL-29]', async (law, _, mutant) => {
    expect(await foundBy(law, mutant)).toMatch(/^(?!"|Build failed)/);
  });
});
