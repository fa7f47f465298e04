/** The listeners of a world's troubles. */
import type { LeafChange } from '../../../pure/engine/index.js';
import { newTroubles, type Trouble, type TroubleListener } from '../../../state/trouble.js';
import { tellListener } from '../../callers/tell.js';

/** Calls the listeners of a world for each new trouble. */
export class TroubleListeners {
  readonly #listeners = new Set<{ readonly tell: TroubleListener }>();

  /** Adds a listener. @returns a function that removes it */
  add(tell: TroubleListener): () => void {
    const entry = { tell };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  follow(changes: readonly LeafChange[]): void {
    if (this.#listeners.size === 0) return;
    for (const trouble of newTroubles(changes)) this.tell(trouble);
  }

  tell(trouble: Trouble): void {
    for (const { tell } of [...this.#listeners]) tellListener(() => tell(trouble));
  }
}
