import { createHash } from 'node:crypto';
import { type Head, type Journal, memory, type OpenStore, type Store } from '@reprise/kernel';

/** When a holder of the store dies: at its n-th commit, before what it appends is there or just after. */
export interface Fate {
  readonly commits: number;
  readonly side: 'before' | 'after';
}

/** A store whose holders die at chosen commits. */
export interface MortalStore extends Store {
  /** How many died. */
  readonly deaths: number;
}

/**
 * A memory store with deaths.
 *
 * @param fate asked at each opening; undefined lets that holder live
 */
export function mortalStore(fate: () => Fate | undefined = () => undefined): MortalStore {
  const inner = memory({ hash: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()) });
  let deaths = 0;
  const holder = (open: OpenStore, { commits, side }: Fate): Journal => {
    let left = commits;
    const journal: Journal = Object.create(open.journal);
    journal.append = async (...given): Promise<Head> => {
      if (--left > 0) return open.journal.append(...given);
      deaths++;
      if (side === 'after') await open.journal.append(...given);
      await open.close();
      throw new Error('the process is dead');
    };
    return journal;
  };
  return {
    label: `mortal ${inner.label}`,
    open: async () => {
      const open = await inner.open();
      const mine = fate();
      const journal = mine === undefined ? open.journal : holder(open, mine);
      return { ...open, journal, cleanlyClosed: deaths === 0 };
    },
    openReadonly: () => inner.openReadonly(),
    get deaths() {
      return deaths;
    },
  };
}
