/** A scan of all that a world of registrations writes, for the bytes of private keys in every form. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { register } from '../../../../conformance/society/secrets/registrations.js';
import { formsOf, found } from '../../../../conformance/society/secrets/scan.js';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function place(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-secrets-'));
  folders.push(folder);
  return folder;
}

describe('the private keys of agents', () => {
  it('a scan of the files of a world and its fork, of errors and of the journal as text finds no private key in any form, and finds each that a careless vault gives away [SOC-5]', async () => {
    const sound = await register(place(), 60, false);
    expect(sound.keys).toHaveLength(60);
    expect(found(sound.keys, sound.bytes)).toEqual([]);
    const careless = await register(place(), 4, true);
    expect(found(careless.keys, careless.bytes)).toEqual([0, 1, 2, 3]);
  });

  it('a scan finds a key in each form, wherever it stands', () => {
    const keys = [0x11, 0x5a, 0xee].map((byte) =>
      Buffer.from(Array.from({ length: 32 }, (_, n) => (byte * (n + 3)) & 255)),
    );
    for (const [n, key] of keys.entries())
      for (const form of formsOf(key)) {
        const text = Buffer.concat([Buffer.from('x'.repeat(17)), Buffer.from(form, 'latin1'), Buffer.from('y')]);
        expect(found(keys, [Buffer.from('nothing'), text])).toEqual([n]);
      }
    expect(found(keys, [Buffer.from('nothing here, at all, of any key')])).toEqual([]);
  });
});
