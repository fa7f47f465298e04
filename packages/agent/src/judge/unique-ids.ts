import { startOfText, wellFormed } from '@reprise/contracts';

/** The most characters of a call's id. */
const ID_MAX = 128;

/** The characters that every provider accepts in an id that is sent back to it. */
const PLAIN = /^[A-Za-z0-9_-]+$/;

/**
 * The ids of the calls of one answer, each different and none empty or too long. The first call with an id keeps it; a
 * later one gets a number behind it.
 *
 * @example uniqueIds(['a', 'a', '']) // ['a', 'a_2', 'call_3']
 */
export function uniqueIds(given: readonly string[]): readonly string[] {
  const wanted = given.map((id, at) => wellFormed(startOfText(id, ID_MAX)) || `call_${at + 1}`);
  const taken = new Set<string>();
  return wanted.map((id) => {
    const free = taken.has(id) ? numbered(id, (name) => taken.has(name) || wanted.includes(name)) : id;
    taken.add(free);
    return free;
  });
}

function numbered(id: string, isTaken: (name: string) => boolean): string {
  const stem = PLAIN.test(id) ? id.slice(0, ID_MAX - 8) : 'call';
  let n = 2;
  while (isTaken(`${stem}_${n}`)) n += 1;
  return `${stem}_${n}`;
}
