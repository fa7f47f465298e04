/** Keys in the memory of the process, for tests. */
import { randomBytes } from 'node:crypto';
import { KEY_BYTES, type KeyService } from '@reprise/kernel';
import { requireKeyNames } from './names.js';

/**
 * Keys that live as long as the object does: for tests. Content that is sealed with them is lost when the process ends.
 *
 * @example const database = postgres(url, { keys: memoryKeys() });
 */
export function memoryKeys(): KeyService {
  const keys = new Map<string, Uint8Array>();
  function kept(name: string): Uint8Array {
    const key = keys.get(name) ?? new Uint8Array(randomBytes(KEY_BYTES));
    keys.set(name, key);
    return new Uint8Array(key);
  }
  function found(name: string): Uint8Array | undefined {
    const key = keys.get(name);
    return key && new Uint8Array(key);
  }
  return {
    label: 'memory',
    keep: async (names) => requireKeyNames(names).map(kept),
    find: async (names) => requireKeyNames(names).map(found),
    destroy: async (names) => {
      for (const name of requireKeyNames(names)) {
        keys.get(name)?.fill(0);
        keys.delete(name);
      }
    },
  };
}
