/** A store whose writer can die at a chosen point, like a process: frames that were not appended are lost. */
import type { JournalRecord } from '@reprise/contracts';
import { memory, type OpenStore, RepriseError, readFrame, type Store, type StoredFrame } from '@reprise/kernel';

/**
 * The point at which a process dies. `append`: before the next frame is durable, so it is lost. `attempt`: a tool has
 * finished but its answer is not durable. `receipt`: the answer of a tool has just become durable.
 */
export type CrashPoint = 'append' | 'attempt' | 'receipt';

interface Armed {
  readonly point: CrashPoint;
  reached(): void;
}

/** A store whose writer can die. The next opening reports that the last close was unclean. */
export class MortalStore implements Store {
  readonly label: string;
  readonly #calls = new Set<string>();
  #holder: { readonly open: OpenStore; dead: boolean } | undefined;
  #armed: Armed | undefined;
  #crashed = false;

  constructor(private readonly inner: Store = memory()) {
    this.label = `mortal ${inner.label}`;
  }

  async open(): Promise<OpenStore> {
    const open = await this.inner.open();
    for await (const frame of open.journal.read(0)) this.#learn(frame);
    const cleanlyClosed = open.cleanlyClosed && !this.#crashed;
    const holder = { open, dead: false };
    this.#holder = holder;
    this.#crashed = false;
    return {
      ...open,
      cleanlyClosed,
      journal: {
        ...open.journal,
        append: async (frames, expected) => {
          const answers = frames.some((frame) => this.#learn(frame));
          if (holder.dead || this.#dies(answers, 'before')) throw this.#death();
          const head = await open.journal.append(frames, expected);
          if (this.#dies(answers, 'after')) throw this.#death();
          return head;
        },
      },
    };
  }

  openReadonly() {
    return this.inner.openReadonly();
  }

  /** Makes the writer die the next time it reaches this point. Resolves when it is dead. */
  armed(point: CrashPoint): Promise<void> {
    return new Promise((reached) => {
      this.#armed = { point, reached };
    });
  }

  /** Makes the writer die now; another writer can open the store afterwards. */
  async crash(): Promise<void> {
    this.#armed = undefined;
    this.#crashed = true;
    const holder = this.#holder;
    if (holder === undefined) return;
    holder.dead = true;
    await holder.open.close();
  }

  #dies(answers: boolean, when: 'before' | 'after'): boolean {
    const point = this.#armed?.point;
    const here =
      when === 'after' ? point === 'receipt' && answers : point === 'append' || (point === 'attempt' && answers);
    if (!here) return false;
    if (this.#holder !== undefined) this.#holder.dead = true;
    this.#armed?.reached();
    return true;
  }

  #death(): RepriseError {
    return new RepriseError('store_failed', 'the process that held this store is dead', { where: this.label });
  }

  /** Records which effects are tool calls. @returns whether the frame has the answer of a tool call */
  #learn({ bytes, seq }: StoredFrame): boolean {
    let answers = false;
    for (const record of readFrame(bytes, seq).all as readonly JournalRecord[]) {
      if (record.kind === 'effect' && record.name === 'tool.call@1') this.#calls.add(record.effect);
      answers ||= record.kind === 'receipt' && this.#calls.has(record.effect);
    }
    return answers;
  }
}
