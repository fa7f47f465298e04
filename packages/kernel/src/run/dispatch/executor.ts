/** What sees to the open effects of a world: the dispatcher executes them, a dry fork answers them. */
import type { EffectLeaf, EmittedEffect, LeafChange } from '../../pure/engine/index.js';

/** Sees to open effects. */
export interface Executor {
  /** Nothing is under way, and nothing that could be done now waits. */
  readonly idle: boolean;
  /** Whether there is work that goes on by itself, now or when the world is opened again. */
  readonly unfinished: boolean;
  /** How many are under way. */
  readonly runningCount: number;
  /** Lets effects start. */
  enable(): void;
  /** Lets no more effects start. */
  disable(): void;
  /** Takes in an effect that was open when the world was opened. */
  adopt(effect: string, leaf: EffectLeaf): void;
  /** Takes places for effects that are being emitted. @returns those that may be armed in the same frame */
  reserve(emitted: readonly EmittedEffect[]): readonly string[];
  /** Gives places back. */
  release(effects: readonly string[]): void;
  /** Follows durable frames: what is open, what may start, what should stop. */
  follow(changes: readonly LeafChange[], armed: readonly string[], aborts: readonly string[]): void;
  /** Resolves when what is under way now has ended, durably. */
  ended(): Promise<void>;
  /** Stops everything, waiting up to `graceMs`. @returns how many did not end */
  close(graceMs: number): Promise<number>;
}
