/** Deliberately broken builds: each is the sources with one place changed, in a bundle of its own. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bundle } from '../../../../../conformance/bundle.js';
import { everyNth } from '../../../../../conformance/part.js';

interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const MUTANTS: readonly Mutant[] = [
  {
    name: 'an item without a place to come from is stored',
    file: 'packages/org/src/pure/store/write.ts',
    from: 'if (origin === null || placesOf(origin).length === 0)',
    to: 'if (origin === null)',
  },
  {
    name: 'an organization stores items of another one',
    file: 'packages/org/src/pure/store/write.ts',
    from: 'if (!isPeople && origin.cell !== author)',
    to: 'if (!isPeople && origin.cell === "")',
  },
  {
    name: 'memories of different results with one key are one memory',
    file: 'packages/org/src/pure/store/write.ts',
    from: '[author, cell, result ?? null, task ?? null, node ?? null, key]',
    to: '[author, cell, task ?? null, node ?? null, key]',
  },
  {
    name: 'demoting takes two from the score',
    file: 'packages/org/src/pure/store/write.ts',
    from: 'item.score - DEMOTED_BY',
    to: 'item.score - 2 * DEMOTED_BY',
  },
  {
    name: 'an item keeps its old place in the order of archiving',
    file: 'packages/org/src/pure/store/items.ts',
    from: 'order.delete(placeOf(id, old));',
    to: '',
  },
  {
    name: 'items that expire stay live',
    file: 'packages/org/src/pure/store/items.ts',
    from: 'if (item.expires_at !== null) expiry.set(dueOf(id, item.expires_at), id);',
    to: '',
  },
  {
    name: 'an archived item stays among the live ones of the index',
    file: 'packages/org/src/handle/text.ts',
    from: 'documents.remove([cell[1], other, id]);',
    to: '',
  },
  {
    name: 'a rank falls faster with the days',
    file: 'packages/org/src/pure/store/rank.ts',
    from: '/ (100 + days)',
    to: '/ (99 + 2 * days)',
  },
  {
    name: 'searches rank by scores of earlier times',
    file: 'packages/org/src/handle/views.ts',
    from: 'ranks[place] = [points, used, expires];',
    to: 'ranks[place] = known ?? [points, used, expires];',
  },
  {
    name: 'an organization does not state its tasks',
    file: 'conformance/memory/desk.ts',
    from: "if ('place' in one) ctx.record('memory/Linked@1', one.place);",
    to: "if ('place' in one) { if (one.place.kind !== 'task') ctx.record('memory/Linked@1', one.place); }",
  },
];

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));

/** Plays operations with a broken build. @returns what they show; undefined when they show nothing */
async function shownBy({ file, from, to }: Mutant): Promise<string | undefined> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-memory-mutant-'));
  const outfile = path.join(folder, 'mutant.mjs');
  try {
    const entry = path.join(ROOT, 'conformance/memory/hold.ts');
    await bundle(entry, outfile, { planted: { file: path.join(ROOT, file), from, to } });
    const { holdOperations } = await import(pathToFileURL(outfile).href);
    const { dangling } = await holdOperations(2_000, 1);
    return dangling > 0 ? `dangling ${dangling}` : undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('random operations and broken stores', () => {
  it.each(everyNth(10, MUTANTS).map((mutant) => [mutant.name, mutant] as const))(
    'random operations find a broken build: %s [MEM-1] [MEM-4] [MEM-5] [MEM-7]',
    async (_, mutant) => {
      const shown = await shownBy(mutant);
      expect(shown).toMatch(/seed 1, after|dangling/);
    },
  );
});
