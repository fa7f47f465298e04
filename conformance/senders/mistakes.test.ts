/** Mistakes in the check of senders, each planted in a build of its own, which the law of `senders.test.ts` finds. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { foundBy } from '../broken-build.js';
import { everyNth } from '../part.js';

const JUDGE = fileURLToPath(new URL('judge.ts', import.meta.url));
const source = (path: string) => fileURLToPath(new URL(`../../packages/kernel/src/pure/${path}`, import.meta.url));

const MATCH = 'define/match-sender.ts';
const FACTS = 'engine/cell/declared-sender.ts';

/** A mistake for each kind of sender: what the engine would confuse it with. */
const MISTAKES: readonly (readonly [what: string, file: string, from: string, to: string])[] = [
  ['nobody is refused', FACTS, "if (found === undefined) throw new Rejected('not_yours');", ''],
  ['people are not the outside', FACTS, " || ingress.principal.startsWith('human:')", ''],
  [
    'adapters and requests in the name of a cell pass as the outside',
    FACTS,
    "return ingress.principal === 'operator' || ingress.principal.startsWith('human:');",
    'return true;',
  ],
  [
    'the adapter of each effect passes as its own',
    FACTS,
    'return isOfReceiver && isGeneration(fold, to, effect.inc);',
    'return effect !== undefined;',
  ],
  ['the outside passes as the maker of each cell', FACTS, 'of === null ? cell.parent === null', 'of === null ? true'],
  [
    'a later generation of the maker passes as the maker',
    FACTS,
    'isChild(fold, delivery.to, of)',
    'cell.parent !== null && cell.parent[0] === of[0] && cell.parent[1] === of[1]',
  ],
  [
    'a child passes as the maker',
    FACTS,
    'isChild(fold, delivery.to, of)',
    'isChild(fold, of, delivery.to) || isChild(fold, delivery.to, of)',
  ],
  ['an ancestor passes as the maker', FACTS, 'isChild(fold, delivery.to, of)', 'isBelow(fold, delivery.to, of)'],
  [
    'each cell of the reducer passes as one above',
    FACTS,
    'this.isNew || isBelow(this.delivered.fold, this.delivered.delivery.to, above)',
    'above.length > 0',
  ],
  ['a cell passes as a plan of its own', MATCH, 'from?.length === 3 &&', 'from !== null &&'],
  [
    'an own plan passes as the cell',
    MATCH,
    'return from?.length === 2 && isCell(from, to);',
    'return from !== null && from[1] === to[1];',
  ],
  [
    'the reducer of a named cell is not compared',
    MATCH,
    'Array.isArray(cell) && from[0] === cell[0] && from[1] === cell[1]',
    'Array.isArray(cell) && from[1] === cell[1]',
  ],
  [
    'a key that begins as the named one passes',
    MATCH,
    'from[0] === cell[0] && from[1] === cell[1]',
    'from[0] === cell[0] && from[1].startsWith(String(cell[1]))',
  ],
  ['the reducer of a row is not compared', MATCH, ' || from[0] !== facts.cellName(reducer)', ''],
  [
    'the row need not exist',
    MATCH,
    'key === undefined || value === undefined ? undefined : { key, value }',
    'key === undefined ? undefined : { key, value: value ?? null }',
  ],
  ['only the first form counts', MATCH, 'if (found !== undefined) return found;', 'return found;'],
];

describe('mistakes in the check of senders', () => {
  it.each(everyNth(8, MISTAKES))('the law finds a build in which %s', async (_kind, file, from, to) => {
    expect(await foundBy(JUDGE, 'senders', { file: source(file), from, to })).toMatch(/may (not )?send/);
  });
});
