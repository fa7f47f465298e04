import { existsSync } from 'node:fs';
import { type Address, formatAddress, type JournalRecord, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import { memoryViews, readViews, touch, type ViewStore } from '@reprise/kernel/views';
import { sqliteViews } from '@reprise/store-sqlite';
import { escapeLine } from '../text/escape.js';
import { recordRow, timeOf } from '../text/record-line.js';
import { isDatabase } from '../world/place.js';
import type { View } from './show.js';

/**
 * Lists the records that concern a cell, in order: events, steps of its plans, receipts.
 *
 * @throws RepriseError `cell_absent` when no record concerns the cell, `journal_damaged`
 */
export async function historyView(store: ReadonlyStore, world: string, address: Address): Promise<View> {
  await using views = await readViews(store, [touch], { store: await viewsBeside(world) });
  const name = formatAddress(address);
  const records: (Place & { readonly record: JournalRecord })[] = [];
  const history = views.view(touch);
  for await (const { key, row } of history.each({ under: [...address] })) {
    const seq = Number([key].flat()[2]);
    const all = await recordsOf(store, seq);
    for (const i of row.records) {
      const record = all[i];
      if (record !== undefined) records.push({ seq, i, at: row.at, record });
    }
  }
  if (records.length === 0) throw noHistory(name, history.seq);
  const lines = [escapeLine(`${name} up to frame ${history.seq}`)];
  for (const { record, ...place } of records) lines.push(recordRow(place, record));
  const data = records.map(({ at, record, ...place }) => ({
    ...place,
    at,
    time: timeOf(at),
    kind: record.kind,
    record,
  }));
  return { data: { address: name, seq: history.seq, records: data }, text: `${lines.join('\n')}\n` };
}

interface Place {
  readonly seq: number;
  readonly i: number;
  readonly at: number;
}

/** The views file of the world when it exists and has the needed index; else views in memory, to write nothing to disk. */
async function viewsBeside(world: string): Promise<ViewStore> {
  if (isDatabase(world)) return memoryViews();
  const beside = sqliteViews(world);
  if (!existsSync(beside.label)) return memoryViews();
  const open = await beside.open();
  const isKept = (await open.mark(touch.name)) !== null;
  await open.close();
  return isKept ? beside : memoryViews();
}

async function recordsOf(store: ReadonlyStore, seq: number): Promise<readonly JournalRecord[]> {
  for await (const { bytes } of store.journal.read(seq, seq)) return readFrame(bytes, seq).all;
  return [];
}

function noHistory(actual: string, seq: number): RepriseError {
  return new RepriseError('cell_absent', 'no record mentions this cell', {
    where: `frame ${seq}`,
    actual,
    hint: 'The state records in the output of reprise tail name the cells.',
  });
}
