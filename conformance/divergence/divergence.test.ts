/** Every way to break determinism or integrity that we know is caught, and named. */
import { ERROR_CODES, type ErrorCode, type RepriseError } from '@reprise/contracts';
import { verifyStore } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { ROWS, runRow, titleOf } from './matrix.js';
import { judge, type Row } from './row.js';
import { type ShopCode, shelfAt, shopApp, shopStore } from './shop.js';

const rows = ROWS.map((row) => [titleOf(row), row] as const);

function rowOf(group: string, name: string): Row {
  const row = ROWS.find((one) => one.group === group && one.name === name);
  if (row === undefined) throw new Error(`no row ${group}: ${name}`);
  return row;
}

describe('divergence matrix', () => {
  it.each(rows)('divergence: %s', async (_, row) => {
    expect((await runRow(row)).length).toBeGreaterThan(0);
  });

  it.each(rows)('mutant: %s: the sound one passes', async (_, row) => {
    expect(await row.sound()).toEqual([]);
  });

  it('each row has a unique name and codes from the closed list', () => {
    expect(new Set(rows.map(([title]) => title)).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(40);
    const codes = ROWS.flatMap(({ caught }) => caught.flatMap(([, code]) => (code === undefined ? [] : [code])));
    expect(codes.filter((code) => !ERROR_CODES.includes(code))).toEqual([]);
  });

  it('each row that is found in a journal names the record and path, or the frame, to find it in', () => {
    const namedBy = (one: ErrorCode) =>
      ROWS.flatMap(({ caught }) => caught.flatMap(([, code, names]) => (code === one ? [names] : [])));
    const inRecord = /^frame \d+, record \d+ \(\w+\), `\$/;
    expect(namedBy('replay_divergence').filter((names) => !inRecord.test(names))).toEqual([]);
    expect(namedBy('journal_damaged').filter((names) => !/^frame \d+/.test(names))).toEqual([]);
    expect(namedBy('replay_divergence').length).toBeGreaterThan(60);
  });
});

const namedAt = async (name: string) => (await runRow(rowOf('changed code', name))).map(({ names }) => names).join();

describe('a changed reducer', () => {
  it('verification names a reducer with another fact at its first event, by record and path, with both values [RPL-2]', async () => {
    expect(await namedAt('a fact')).toBe('frame 1, record 1 (fact), `$.value.total`: `300` → `0`');
  });

  it('verification names the changed field when a reducer changes only the state [JRN-5]', async () => {
    expect(await namedAt('state alone')).toContain('.state.reminded`');
    expect(await namedAt('a first state')).toContain('.state.receipt`');
  });

  it('verification names a change that begins with the second order there and not before [RPL-3]', async () => {
    expect(await namedAt('state, late')).toBe('frame 6, record 1 (fact), `$.value.total`: `300` → `299`');
  });

  it('verification names the first send, with its causes, when a reducer sends in another order [RPL-2]', async () => {
    expect(await namedAt('sends in another order')).toContain('frame 1, record 2 (event), `$.to[1]`');
    const reserve: ShopCode['reserve'] = ({ sku }, ctx) => {
      for (const shelf of ['all', sku])
        ctx.send(shelfAt(shelf), { name: 'shop/Reserved@1', value: { order: ctx.address[1] } });
    };
    const verifying = verifyStore(await (await shopStore()).openReadonly(), { app: shopApp({ reserve }) });
    const error = (await verifying.catch((thrown: unknown) => thrown)) as RepriseError;
    const cause = ['#2 event shop/Reserved@1 to shop/Shelf@1/tea', '#0 request shop/Added@1 to shop/Order@1/a'];
    expect(error.details.divergence).toEqual({
      seq: 1,
      i: 2,
      kind: 'event',
      path: '$.to[1]',
      recorded: 'tea',
      regenerated: 'all',
      cause,
    });
    for (const line of ['frame 1, record 2 (event), $.to[1]', ...cause]) expect(error.message).toContain(line);
  });

  it('verification names the leaf when a reducer logs another item or sets another timer [JRN-5]', async () => {
    expect(await namedAt('a log')).toContain('`$.leaves[log shop/Order@1 history a]');
    expect(await namedAt('a timer’s time')).toContain('`$.leaves[cell shop/Order@1 a].timers');
  });

  it('verification names a reducer that does nothing at all [RPL-3]', async () => {
    expect(await namedAt('a session that does nothing')).toContain('frame 1, ');
  });
});

describe('a changed plan', () => {
  it('verification names the parameters when a plan emits another effect [RPL-2]', async () => {
    expect(await namedAt('effect parameters')).toBe('frame 3, record 2 (effect), `$.params.cents`: `800` → `801`');
  });
});

describe('an app that lacks or changed a definition', () => {
  it('an opening refuses an app that lacks a definition before any replay, and names the definition [RPL-5]', async () => {
    expect(await namedAt('a definition that is gone')).toContain('frame 0: ');
    expect(await namedAt('a definition that is gone')).toContain('(shop/Shelf@1)');
  });
});

describe('mutant: a row of the matrix', () => {
  const [row] = ROWS;
  if (row === undefined) throw new Error('the matrix is empty');
  const found = [{ where: 'verification', code: 'replay_divergence', names: 'frame 9' }] as const;

  it('the judge fails a row when nothing is caught, when another error is caught, and when another place is named', async () => {
    expect(() => judge(row, [])).toThrow();
    expect(() => judge(row, [{ ...found[0], where: 'opening' }])).toThrow();
    expect(() => judge(row, [{ ...found[0], code: 'journal_damaged' }])).toThrow();
    expect(() => judge(row, found)).toThrow('does not name');
    const first = { ...row, caught: [['verification', 'replay_divergence', 'frame 1']] } satisfies Row;
    expect(() => judge(first, [{ ...found[0], names: 'frame 1, record 0' }])).not.toThrow();
    expect(() => judge(first, [{ ...found[0], names: 'frame 10, record 0' }])).toThrow('does not name');
    expect(() => judge(first, [{ ...found[0], names: 'in frame 1' }])).toThrow('does not name');
    expect(() => judge(row, [...found, ...found])).toThrow();
  });
});
