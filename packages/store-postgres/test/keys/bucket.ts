/** A bucket in memory for tests: it remembers everything that it was ever given, as an attacker with all versions would. */
import type { ObjectStore } from '@reprise/kernel';

/** An object store, and what lay in it at any time. */
export interface MemoryBucket extends ObjectStore {
  readonly now: ReadonlyMap<string, Uint8Array>;
  readonly ever: ReadonlyMap<string, Uint8Array>;
}

export function memoryBucket(): MemoryBucket {
  const [now, ever] = [new Map<string, Uint8Array>(), new Map<string, Uint8Array>()];
  return {
    ...{ label: 'memory', now, ever },
    put: async (name, bytes) => {
      now.set(name, new Uint8Array(bytes));
      ever.set(name, new Uint8Array(bytes));
    },
    get: async (name) => {
      const found = now.get(name);
      return found && new Uint8Array(found);
    },
    remove: async (name) => void now.delete(name),
  };
}
