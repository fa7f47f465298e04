import { randomBytes } from 'node:crypto';
import { Scrubber } from '@reprise/kernel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { everyNth, spread } from '../../../../conformance/part.js';
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

describe.each(spread(3, PLACES))('a secret in $name', ({ make }) => {
  it('the secret appears nowhere in what is stored, sent, printed and thrown [CON-16]', async () => {
    const secret = planted();
    const haul = await haulOf(await make(secret));
    expect([...haul.keys()]).toEqual(expect.arrayContaining(['journal', 'blobs', 'files', 'events', 'result']));
    expect(sightings(haul, secret)).toEqual([]);
  });
});

describe.each(everyNth(12, PLACES))('without the scrubber, a secret in $name', ({ make }) => {
  it('mutant: without the scrubber the secret is found', async () => {
    const secret = planted();
    vi.spyOn(Scrubber.prototype, 'idle', 'get').mockReturnValue(true);
    expect(sightings(await haulOf(await make(secret)), secret)).not.toEqual([]);
  });
});
