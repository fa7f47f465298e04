/**
 * Watches the statements that the store prepares: each names its columns once. Where Node has rows as objects alone (22.13 to
 * 22.15), two columns of one name would be one value, and these tests run where libsql has rows as lists.
 */
import { expect, it } from 'vitest';

interface Watched {
  prepare(sql: string): { columns(): readonly { readonly name: string }[] };
}

/** Begins to watch. To be called before a file's tests; what it returns defines the test that stands behind them. */
export async function watchColumns(): Promise<() => void> {
  const { default: Database } = (await import('libsql')) as unknown as { default: { readonly prototype: Watched } };
  const { prototype } = Database;
  const { prepare } = prototype;
  const doubled = new Set<string>();
  let seen = 0;
  prototype.prepare = function (sql) {
    const statement = prepare.call(this, sql);
    const names = statement.columns().map(({ name }) => name);
    if (names.length > 1) seen += 1;
    if (new Set(names).size < names.length) doubled.add(sql);
    return statement;
  };
  return () =>
    it.skipIf(Number(process.versions.node.split('.')[0]) >= 22)('no statement names two of its columns alike', () => {
      prototype.prepare = prepare;
      expect(seen).toBeGreaterThan(0);
      expect([...doubled]).toEqual([]);
    });
}
