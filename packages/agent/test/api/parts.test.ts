/** Inputs of several kinds, as a session records them. */
import { encode, memory } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { storeParts } from '../../src/session/parts.js';

describe('an input', () => {
  it('an input accepts an artifact under any path, however long: its name is the end of the path, in whole characters', async () => {
    const { content } = await memory().open();
    const blob_ref = await content.put(new Uint8Array([1]));
    for (const path of ['😀'.repeat(200), `${'😀'.repeat(200)}a`, `${'😀'.repeat(200)}.tar`, 'a.png']) {
      const artifact = { path, blob_ref, bytes: 1, media_type: 'image/png' };
      const [part] = await storeParts(content, { artifact }, async () => undefined);
      expect(() => encode(part as never), path.slice(0, 8)).not.toThrow();
      expect(part).toMatchObject({ kind: 'blob' });
      expect(path.endsWith((part as { name: string }).name)).toBe(true);
    }
  });
});
