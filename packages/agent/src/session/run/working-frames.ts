/** The frames of a watch, until nothing is left to do in this process that could bring another one. */
import type { WorldFrame } from '@reprise/kernel';
import { LastChance } from './last-chance.js';

/** What a watch of a run says when no frame can come any more. */
interface WorkingWords {
  /** The error of a wait that failed, in words about the run. */
  failed(error: unknown): unknown;
  /** The error of a run that waits while nothing is left to do. */
  waiting(): Promise<unknown>;
}

/** Reads frames one at a time. To be closed when its reader leaves. */
export class WorkingFrames {
  readonly #chance = new LastChance();

  constructor(
    private readonly frames: AsyncGenerator<WorldFrame>,
    private readonly words: WorkingWords,
  ) {}

  /** The next frame; undefined when the world is closed or the reader's signal aborted. @throws RepriseError */
  async next(): Promise<WorldFrame | undefined> {
    const next = await this.#next();
    if (next === 'last chance') throw await this.words.waiting();
    return next.done === true ? undefined : next.value;
  }

  async #next(): Promise<IteratorResult<WorldFrame> | 'last chance'> {
    try {
      return await this.#chance.or(this.frames.next());
    } catch (error) {
      throw this.words.failed(error);
    }
  }

  close(): void {
    this.#chance.close();
    this.frames.return(undefined).catch(() => undefined); // not awaited: a read that still waits would hold it up
  }
}
