/** What the parts of a society are read from. */
import type { Address, Value } from '@reprise/contracts';
import type { ContentReader, WorldAt } from '@reprise/kernel';

/** The world after a frame, its content, and the names of entities. */
export interface Reading {
  readonly then: WorldAt;
  readonly content: ContentReader;
  named(id: string): { readonly id: string; readonly name: string };
}

/** All entries of a table. */
export async function entriesOf(then: WorldAt, address: Address, table: string): Promise<readonly [string, Value][]> {
  const all: [string, Value][] = [];
  for (;;) {
    const last = all.at(-1)?.[0];
    const page = await then.table(address, table, last === undefined ? {} : { after: last });
    if (page.length === 0) return all;
    all.push(...page);
  }
}
