import { randomBytes } from 'node:crypto';
import { Scrubber } from '@reprise/kernel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PLACES } from './places.js';
import { haulOf, sightings } from './watch.js';

afterEach(() => {
  vi.restoreAllMocks();
  delete process.env.CANARY_TOKEN;
});

/** A secret that no run before had: fit for a header, and changed by every usual way of writing it down. */
function planted(): string {
  return `Cnry/${randomBytes(9).toString('hex')}+8e=Zz`;
}

describe.each(PLACES)('a secret in $name', ({ make }) => {
  it('is nowhere in what is stored, told, printed and thrown [CON-16]', async () => {
    const secret = planted();
    const haul = await haulOf(await make(secret));
    expect([...haul.keys()]).toEqual(expect.arrayContaining(['journal', 'blobs', 'files', 'events', 'result']));
    expect(sightings(haul, secret)).toEqual([]);
  });

  it('is found when the scrubber is not told of it: the check sees that mutant', async () => {
    const secret = planted();
    vi.spyOn(Scrubber.prototype, 'conceal').mockReturnValue(false);
    expect(sightings(await haulOf(await make(secret)), secret)).not.toEqual([]);
  });
});
