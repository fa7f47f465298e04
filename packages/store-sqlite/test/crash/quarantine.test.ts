/** The judge of quarantined inputs, and the cases that it must refuse. */
import { describe, expect, it } from 'vitest';
import { type Opening, wronglyQuarantined } from './quarantine.js';

const FACT = 'receipt of a call';
const fresh: Opening = { seq: -1, clean: true, mark: null };
const found = (seq: number, mark: string | null, clean = false): Opening => ({ seq, clean, mark });
const quarantined = [{ seq: 9, fact: FACT }];

describe('a quarantined fact', () => {
  it('a quarantined input is excused when two processes, one after the other, died with a note of it [REC-7]', () => {
    expect(wronglyQuarantined([fresh, found(5, `1 ${FACT}`), found(8, `2 ${FACT}`)], quarantined)).toEqual([]);
    const between = [fresh, found(5, `1 ${FACT}`), found(5, `1 ${FACT}`), found(8, `2 ${FACT}`)];
    expect(wronglyQuarantined(between, quarantined)).toEqual([]);
  });

  it.each<[string, readonly Opening[]]>([
    ['nobody noted it', [fresh, found(5, null), found(8, null)]],
    ['one note of it stood', [fresh, found(5, null), found(8, `1 ${FACT}`)]],
    ['one note of it was found twice', [fresh, found(5, `1 ${FACT}`), found(8, `1 ${FACT}`)]],
    ['the count of one note says two', [fresh, found(5, null), found(8, `2 ${FACT}`)]],
    ['two notes were of two facts', [fresh, found(5, '1 receipt of another'), found(8, `1 ${FACT}`)]],
    ['two notes were of another fact', [fresh, found(5, '1 receipt of another'), found(8, '2 receipt of another')]],
    ['another fact came between', [fresh, found(4, `1 ${FACT}`), found(6, '1 continue'), found(8, `1 ${FACT}`)]],
    ['the world was closed cleanly between', [fresh, found(5, `1 ${FACT}`, true), found(8, `2 ${FACT}`)]],
    ['the second note came after it', [fresh, found(5, `1 ${FACT}`), found(9, `2 ${FACT}`)]],
  ])('a quarantined input is not excused when %s [REC-7]', (_, openings) => {
    expect(wronglyQuarantined(openings, quarantined)).toEqual(quarantined);
  });
});
