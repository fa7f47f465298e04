import { memory, type OpenStore, type Store } from '../../src/index.js';

/** A store whose process can die: what was not appended is lost, and the process can write no more. */
export interface CrashableStore extends Store {
  /** Ends the process that has the store open. The next opening learns that the last close was unclean. */
  crash(): Promise<void>;
}

/** A memory store with a crash. */
export function crashable(inner: Store = memory()): CrashableStore {
  let holder: OpenStore | undefined;
  let crashed = false;
  return {
    label: `crashable ${inner.label}`,
    open: async () => {
      const open = await inner.open();
      const cleanlyClosed = open.cleanlyClosed && !crashed;
      crashed = false;
      holder = open;
      return { ...open, cleanlyClosed };
    },
    openReadonly: () => inner.openReadonly(),
    crash: async () => {
      crashed = true;
      await holder?.close();
    },
  };
}
