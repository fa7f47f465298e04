/**
 * Rows of the divergence matrix that hold for Reprise's own pure code alone: what no guard can intercept, and the rules
 * of `scripts/architecture` refuse in the sources.
 */
import type { Catch, Row } from '../../conformance/divergence/row.js';
import { checkPureWing } from '../architecture/pure-wing.js';

const SOURCE = 'packages/kernel/src/pure/engine/planted.ts';
const sourceRow = (name: string, how: string, what: string, lines: { broken: string; sound: string }): Row => ({
  group: 'ambient',
  name,
  how,
  caught: [['sources', undefined, what]],
  broken: async () => sourceCatches(lines.broken),
  sound: async () => sourceCatches(lines.sound),
});

function sourceCatches(text: string): Catch[] {
  return checkPureWing(new Map([[SOURCE, text]])).map(({ line, what, use }) => ({
    where: 'sources',
    names: `line ${line}: ${what}; use ${use}`,
  }));
}

/** Uses that no guard can intercept. */
export const SOURCE_ROWS: readonly Row[] = [
  sourceRow(
    'the operator `**`',
    '`n ** 0.5`: engines round it differently, and nothing can stand before an operator',
    'line 1: `**` in replayed code',
    {
      broken: 'export const root = (n: number): number => n ** 0.5;',
      sound: 'export const root = (n: number): number => Math.sqrt(n);',
    },
  ),
  sourceRow(
    'a pattern without case',
    '`/[a-z]/i`: follows the Unicode version of the engine',
    'line 1: regular expression flag `i`',
    {
      broken: 'export const isWord = (text: string): boolean => /^[a-z]+$/i.test(text);',
      sound: 'export const isWord = (text: string): boolean => /^[A-Za-z]+$/.test(text);',
    },
  ),
];
