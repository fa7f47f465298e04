/** A disk that fails from a chosen operation on, in the ways of real ones. */
import { RepriseError } from '@reprise/contracts';
import type { OpenStore, Store } from '@reprise/kernel';
import { ownNow } from './waited.js';

/** How a disk fails. `killed`: the process dies there as by `kill -9`. */
export type DiskFault = 'full' | 'slow' | 'read_only' | 'killed';

/** A store whose appends and puts are counted, and fail from one of them on. */
export class FailingDisk implements Store {
  readonly label: string;
  /** How many operations there were since `arm`. */
  operations = 0;
  #fault: DiskFault | undefined;
  #from = Number.POSITIVE_INFINITY;
  /** When the fault first met an operation, by `ownNow()`. */
  metAt: number | undefined;
  #over: () => void = () => undefined;
  readonly #gate = new Promise<void>((resolve) => {
    this.#over = resolve;
  });

  constructor(private readonly inner: Store) {
    this.label = inner.label;
  }

  /** From now on operations are counted, and those from the n-th on fail. */
  arm(fault?: DiskFault, from = Number.POSITIVE_INFINITY): void {
    this.operations = 0;
    this.#fault = fault;
    this.#from = from;
  }

  /** The disk works again. */
  heal(): void {
    this.#fault = undefined;
    this.#over();
  }

  async open(): Promise<OpenStore> {
    const open = await this.inner.open();
    const meet = async (): Promise<void> => {
      if (++this.operations < this.#from || this.#fault === undefined) return;
      this.metAt ??= ownNow();
      switch (this.#fault) {
        case 'full':
          throw new RepriseError('store_full', 'no space left on the disk', { where: this.label });
        case 'read_only':
          throw new RepriseError('store_failed', 'the file system can only be read', { where: this.label });
        case 'slow':
          return this.#gate;
        case 'killed':
          process.kill(process.pid, 'SIGKILL');
          return new Promise(() => undefined);
      }
    };
    const { journal, content } = open;
    return {
      ...open,
      journal: {
        ...journal,
        append: async (frames, expected) => {
          await meet();
          return journal.append(frames, expected);
        },
      },
      content: {
        ...content,
        put: async (bytes) => {
          await meet();
          return content.put(bytes);
        },
      },
    };
  }

  openReadonly(): ReturnType<Store['openReadonly']> {
    return this.inner.openReadonly();
  }
}
