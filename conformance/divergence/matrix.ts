/** The divergence matrix: every row, and the result of running it. */
import { AMBIENT } from './ambient.js';
import { CHANGED_CODE } from './changed-code.js';
import { CHANGED_DEFINITIONS } from './changed-definitions.js';
import { CHANGED_SESSIONS } from './changed-session.js';
import { ILLEGAL_VALUES } from './illegal-values.js';
import { INTEGRITY } from './integrity.js';
import { RECEIPTS } from './receipts.js';
import { type Catch, judge, type Row } from './row.js';

/** Every row, group by group. */
export const ROWS: readonly Row[] = [
  ...CHANGED_CODE,
  ...CHANGED_DEFINITIONS,
  ...CHANGED_SESSIONS,
  ...AMBIENT,
  ...ILLEGAL_VALUES,
  ...INTEGRITY,
  ...RECEIPTS,
];

/** The title of a row, for people and for the reports of tests. */
export const titleOf = ({ group, name }: Row): string => `${group}: ${name}`;

const ran = new Map<Row, Promise<readonly Catch[]>>();

/** Breaks what a row describes and checks that it was caught as described. Each row is run once. */
export function runRow(row: Row): Promise<readonly Catch[]> {
  const run = ran.get(row) ?? row.broken().then((found) => judged(row, found));
  ran.set(row, run);
  return run;
}

function judged(row: Row, found: readonly Catch[]): readonly Catch[] {
  judge(row, found);
  return found;
}
