/** Declared senders: every event of every reducer has them, and the reference lists them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { REDUCERS } from '../../conformance/senders/declared.js';
import { SENDERS_PAGE, sendersPage } from '../senders-page.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

it('the page of senders lists what the definitions declare (DOCS_UPDATE=1 rewrites it)', () => {
  const page = path.join(ROOT, SENDERS_PAGE);
  if (process.env.DOCS_UPDATE === '1') writeFileSync(page, sendersPage());
  expect(readFileSync(page, 'utf8')).toBe(sendersPage());
});

it('every event of every reducer of Reprise declares its senders [RED-35]', () => {
  const undeclared = REDUCERS.flatMap(({ name, events }) =>
    [...events]
      .filter(([event, { from }]) => !event.startsWith('sys/') && from === undefined)
      .map(([event]) => `${name} ${event}`),
  );
  expect(undeclared).toEqual([]);
});

/** Reducers that are not among the others: earlier versions, which only replay, and those of the testkit. */
const APART = ['the program of the testkit', 'its relays of declared senders'];

it('the list of reducers has each that a package defines', () => {
  const sources = readdirSync(path.join(ROOT, 'packages'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /^[^/]+\/src\/.+\.ts$/.test(file) && !file.startsWith('kernel/'))
    .map((file) => readFileSync(path.join(ROOT, 'packages', file), 'utf8'));
  const defined = sources.flatMap((text) => text.match(/^[^*/\n]*\bdefineReducer\(\{/gm) ?? []);
  expect(defined.length).toBe(REDUCERS.length + APART.length);
});
