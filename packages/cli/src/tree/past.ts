/** The earlier states of one tree: its facts, from which it is folded again for any frame. */
import { type PlacedFact, TreeFold, type TreeView } from '@reprise/tree';

/** The past of a tree. */
export class Past {
  readonly #facts: PlacedFact[] = [];
  /** The frames with a fact of the tree, in order. */
  readonly #frames: number[] = [];
  #known: { readonly frame: number; readonly tree: TreeView | undefined } | undefined;

  constructor(private readonly tree: string) {}

  /** Adds a fact; those of other trees do not count. */
  add(placed: PlacedFact): void {
    if (placed.fact.tree !== this.tree) return;
    this.#facts.push(placed);
    const { frame } = placed.place;
    if (this.#frames.at(-1) !== frame) this.#frames.push(frame);
    this.#known = undefined;
  }

  /** The tree as it was after a frame; undefined before it started. */
  at(frame: number): TreeView | undefined {
    if (this.#known?.frame !== frame) this.#known = { frame, tree: this.#folded(frame) };
    return this.#known.tree;
  }

  /**
   * The frame of the change before or behind one; at the first and at the last change that one itself.
   *
   * @param from null for now: behind it is nothing
   */
  step(from: number | null, by: -1 | 1): number | null {
    const frames = this.#frames;
    if (from === null) return by === 1 ? null : (frames.at(-2) ?? frames[0] ?? null);
    if (by === 1) return frames.find((frame) => frame > from) ?? from;
    return frames.findLast((frame) => frame < from) ?? frames[0] ?? null;
  }

  #folded(frame: number): TreeView | undefined {
    const fold = new TreeFold();
    for (const { fact, place } of this.#facts) if (place.frame <= frame) fold.add(fact, place);
    return fold.trees.get(this.tree);
  }
}
