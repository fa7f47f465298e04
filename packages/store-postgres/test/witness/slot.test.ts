/** The slots of a witness: how many worlds they name, how often they are put, and what the next process keeps of them. */

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { witnessFolder } from '../../src/index.js';
import { type LeasedSlot, Recorder } from '../../src/witness/recorder.js';
import { readSlot, SLOT_WORLDS_MAX, Slot, type SlotContent, slotName, writeSlot } from '../../src/witness/slot.js';
import { FIRST, headOf, memoryPlace, SECOND } from './memory.js';

const NOTHING: SlotContent = { heads: [], droppedThrough: 0 };

describe('a slot', () => {
  it('a slot names the worlds that were acknowledged last, up to its bound, and says up to when it is not complete [FLEET-13]', () => {
    const slot = new Slot();
    for (let n = 0; n < SLOT_WORLDS_MAX; n++) slot.saw(headOf(`w${n}`, 0, { at: n }));
    expect([slot.content.heads.length, slot.content.droppedThrough]).toEqual([SLOT_WORLDS_MAX, 0]);
    slot.saw(headOf('w0', 1, { at: SLOT_WORLDS_MAX })); // it is the newest now
    slot.saw(headOf('one more', 0, { at: SLOT_WORLDS_MAX + 1 }));
    const { heads, droppedThrough } = slot.content;
    expect([heads.length, droppedThrough]).toEqual([SLOT_WORLDS_MAX, 1]);
    expect(heads.some(({ world }) => world === 'w1')).toBe(false);
    expect(heads.slice(-2).map(({ world, seq }) => [world, seq])).toEqual([
      ['w0', 1],
      ['one more', 0],
    ]);
  });

  it('the bytes of a full slot stay below a bound that does not grow with its age, and give back what was written', () => {
    const slot = new Slot();
    let most = 0;
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < SLOT_WORLDS_MAX; n++) slot.saw(headOf(`tenant-${round}-${n}`, n, { at: round * 1e6 + n }));
      most = Math.max(most, writeSlot(slot.content).length);
    }
    expect(most).toBeLessThan(100 * SLOT_WORLDS_MAX);
    expect(readSlot(writeSlot(slot.content), 'here')).toEqual(slot.content);
  });

  it('what a slot named before is kept by the process that has it next, the larger frame of each world [FLEET-14]', () => {
    const slot = new Slot();
    slot.saw(headOf('a', 5, { at: 50 }));
    slot.saw(headOf('b', 2, { at: 60 }));
    const heads = [
      headOf('a', 4, { at: 70 }),
      headOf('b', 3, { at: 10 }),
      headOf('c', 9),
      headOf('a', 9, { incarnation: SECOND }),
    ];
    slot.inherit({ heads, droppedThrough: 7 });
    expect(slot.content.droppedThrough).toBe(7);
    const named = slot.content.heads.map(
      ({ world, seq, incarnation }) => `${world} ${seq} ${incarnation === FIRST ? 1 : 2}`,
    );
    expect(named.sort()).toEqual(['a 5 1', 'a 9 2', 'b 3 1', 'c 9 1']);
  });

  it('bytes that no process has written are an error that names the slot, and never an empty one', () => {
    const good = writeSlot({ heads: [headOf('a', 1)], droppedThrough: 3 });
    let refused = 0;
    for (let at = 0; at <= good.length; at++) {
      for (const bytes of [good.slice(0, at), Uint8Array.from(good, (byte, n) => (n === at ? byte ^ 0x40 : byte))]) {
        try {
          expect(readSlot(bytes, 'slot 7').heads).toHaveLength(1); // a letter of a name, or a digit
        } catch (error) {
          expect(error).toMatchObject({ code: 'store_failed', details: { where: 'slot 7' } });
          refused++;
        }
      }
    }
    expect(refused).toBeGreaterThan(good.length);
  });

  it('a folder gives back the newest bytes of a name, and nothing for a name that it has not', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'reprise-slots-'));
    try {
      const place = witnessFolder(path.join(folder, 'witness'));
      const name = slotName('a-database', 7);
      expect(await place.get(name)).toBeUndefined();
      for (const text of ['one', 'other']) await place.put(name, new TextEncoder().encode(text));
      expect(new TextDecoder().decode(await place.get(name))).toBe('other');
      expect(readdirSync(path.join(folder, 'witness/witness/a-database'))).toEqual(['007']);
      writeFileSync(path.join(folder, 'file'), '');
      const broken = witnessFolder(path.join(folder, 'file'));
      await expect(broken.put(name, new Uint8Array())).rejects.toMatchObject({ code: 'store_failed' });
      await expect(broken.get(name)).rejects.toMatchObject({ code: 'store_failed' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('given two processes that put a slot of a folder at once, its file is that of one of them, and no other file is left', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'reprise-slots-'));
    try {
      const name = slotName('a-database', 7);
      const contents = [1, 2, 3, 4].map((byte) => new Uint8Array(byte * 300_000).fill(byte));
      for (let round = 0; round < 5; round++) {
        await Promise.all(contents.map((bytes) => witnessFolder(folder).put(name, bytes)));
        const found = (await witnessFolder(folder).get(name)) ?? new Uint8Array();
        expect(contents.some((bytes) => Buffer.compare(bytes, found) === 0)).toBe(true);
      }
      expect(readdirSync(path.join(folder, 'witness/a-database'))).toEqual(['007']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('a recorder', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function recording(before: SlotContent = NOTHING) {
    const place = memoryPlace();
    const errors: unknown[] = [];
    const leases: LeasedSlot[] = [];
    let holds = true;
    const recorder = new Recorder({
      place,
      lease: async () => {
        const leased = { name: slotName('db', leases.length), before, holds: () => holds };
        leases.push(leased);
        return leased;
      },
      onError: (error) => errors.push(error),
    });
    const worlds = (slot = 0) =>
      readSlot(place.stored.get(slotName('db', slot)) ?? new Uint8Array(), 'x').heads.map(
        ({ world, seq }) => `${world} ${seq}`,
      );
    return {
      ...{ place, errors, leases, recorder, worlds },
      lose: () => {
        holds = false;
      },
    };
  }

  it('a process puts its heads once a second at most, however many it acknowledges, and all of them [FLEET-12]', async () => {
    const { place, recorder, worlds } = recording();
    await recorder.start();
    for (let ms = 0; ms < 10_000; ms += 10) {
      recorder.saw(headOf(`w${ms % 50}`, ms));
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(place.puts.length).toBeLessThanOrEqual(11);
    expect(place.puts.length).toBeGreaterThanOrEqual(10);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(worlds()).toEqual(['w0 9950', 'w10 9960', 'w20 9970', 'w30 9980', 'w40 9990']);
  });

  it('a slot is put again each minute without a commit, and no more often', async () => {
    const { place, recorder } = recording();
    await recorder.start();
    recorder.saw(headOf('a', 1));
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(place.puts.length).toBe(61);
  });

  it('what a put failed with is told once, and the heads go with a later put, ever more rarely tried', async () => {
    const { place, errors, recorder, worlds } = recording();
    await recorder.start();
    const { put } = place;
    let tries = 0;
    const failing = async () => {
      tries++;
      throw new Error('no bucket');
    };
    Object.assign(place, { put: failing });
    for (let n = 0; n < 600; n++) {
      recorder.saw(headOf('a', n));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect([errors.length, tries < 40, tries > 15]).toEqual([1, true, true]);
    Object.assign(place, { put });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(worlds()).toEqual(['a 599']);
  });

  it('a process whose lease is over leases a slot again before it puts, and keeps what that one named [FLEET-14]', async () => {
    const { recorder, leases, worlds, place, lose } = recording({
      heads: [headOf('of another', 4)],
      droppedThrough: 0,
    });
    await recorder.start();
    recorder.saw(headOf('a', 1));
    await vi.advanceTimersByTimeAsync(1_000);
    expect([leases.length, worlds().sort()]).toEqual([1, ['a 1', 'of another 4']]);
    lose();
    recorder.saw(headOf('a', 2));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(leases.length).toBe(2);
    expect(place.puts.at(-1)).toBe(slotName('db', 1));
    expect(worlds(1).sort()).toEqual(['a 2', 'of another 4']);
  });

  it('a process that closes puts what it has not put yet, and nothing after it', async () => {
    const { place, recorder, worlds } = recording();
    await recorder.start();
    recorder.saw(headOf('a', 1));
    await vi.advanceTimersByTimeAsync(10);
    recorder.saw(headOf('a', 2));
    await recorder.close();
    expect(worlds()).toEqual(['a 2']);
    const puts = place.puts.length;
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(place.puts.length).toBe(puts);
  });
});
