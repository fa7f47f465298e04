/** Frames that are looked at without a check of their shapes. The adversary is a file that was written by hand. */
import { type JournalRecord, RepriseError } from '@reprise/contracts';
import { memory, openKernelWorld, type ReadonlyStore, readFrame, type StoredFrame, writeFrame } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import app from '../../cli/test/apps/app.js';
import { add } from '../../cli/test/worlds.js';
import { skimFrames, textsIn } from '../src/skim/index.js';

/** The frames of a world of a few sums. */
async function givenFrames(): Promise<readonly StoredFrame[]> {
  const place = memory();
  await using world = await openKernelWorld({ store: place, app });
  for (let n = 1; n <= 3; n++) await add(world, n);
  const store = await place.openReadonly();
  const frames: StoredFrame[] = [];
  for await (const frame of store.journal.read(0)) frames.push(frame);
  await store.close();
  return frames;
}

/** A journal of frames as they are. */
function journalOf(frames: readonly StoredFrame[]): Pick<ReadonlyStore, 'journal'> {
  const journal = {
    async *read(from = 0, to = Number.MAX_SAFE_INTEGER) {
      for (const frame of frames) if (frame.seq >= from && frame.seq <= to) yield frame;
    },
  };
  return { journal: journal as unknown as ReadonlyStore['journal'] };
}

const range = { from: 0, to: 99 };

describe('frames that are skimmed', () => {
  it('the records are those that a full reading gives', async () => {
    const frames = await givenFrames();
    const found: (readonly JournalRecord[])[] = [];
    await skimFrames(journalOf(frames), range, (_, __, records) => void found.push(records));
    expect(found).toEqual(frames.map(({ bytes, seq }) => readFrame(bytes, seq).all));
  });

  it('a frame of a wrong shape that a reader cannot take is damage, by its place; an error of the reader alone stays what it is', async () => {
    const frames = await givenFrames();
    const [last] = frames.slice(-1);
    if (last === undefined) throw new Error('no frame');
    const records = readFrame(last.bytes, last.seq).all.map((record) =>
      record.kind === 'request' ? { ...record, to: [7] } : record,
    );
    const odd = { ...last, bytes: writeFrame(records as unknown as readonly JournalRecord[]) };
    const take = () => {
      throw new TypeError('cannot take it');
    };
    const codeOf = (error: unknown) => (error instanceof RepriseError ? error.code : String(error));
    expect(await skimFrames(journalOf([odd]), range, take).catch(codeOf)).toBe('journal_damaged');
    expect(await skimFrames(journalOf([last]), range, take).catch(codeOf)).toBe('TypeError: cannot take it');
    const cut = { ...last, bytes: last.bytes.slice(0, -1) };
    expect(await skimFrames(journalOf([cut]), range, () => undefined).catch(codeOf)).toBe('journal_damaged');
  });

  it('only frames that hold one of the texts, or are of one of the kinds, are decoded, and `false` ends the reading', async () => {
    const frames = await givenFrames();
    const broken = frames.map((frame, i) => (i === 1 ? frame : { ...frame, bytes: new Uint8Array([1, 2, 3]) }));
    const seen: number[] = [];
    const take = (seq: number) => void seen.push(seq);
    await skimFrames(journalOf(broken), { ...range, holding: textsIn(['demo/Added@1']) }, take);
    expect(seen).toEqual([1]);
    await skimFrames(journalOf(frames), { ...range, holding: textsIn(['no such text']), kinds: ['manifest'] }, take);
    expect(seen).toEqual([1, 0]);
    let read = 0;
    await skimFrames(journalOf(frames), range, (seq) => {
      read++;
      return seq < 1;
    });
    expect(read).toBe(2);
  });
});
