/** The interface of what handles the open effects of a world: the dispatcher executes them, a dry fork answers them. */
import type { EffectLeaf, EmittedEffect, LeafChange } from '../../pure/engine/index.js';

/** Executes the effects that the journal has as open. */
export interface Executor {
  /** True when nothing is under way, and nothing that could be done now waits. */
  readonly idle: boolean;
  /** True while there is work that goes on by itself, now or when the world is opened again. */
  readonly unfinished: boolean;
  /** The number of effects under way. */
  readonly runningCount: number;
  enable(): void;
  /** Lets no more effects start. */
  disable(): void;
  /**
   * Lets no more effects start, and tells running ones to stop, as their receipts are lost: their world has failed, or
   * another process has taken it over.
   */
  abandon(why: 'world_failed' | 'fenced'): void;
  /** Takes in an effect that was open when the world was opened. */
  adopt(effect: string, leaf: EffectLeaf): void;
  /** Takes slots for effects that are being emitted. @returns the effects that may be armed in the same frame */
  reserve(emitted: readonly EmittedEffect[]): readonly string[];
  /** Gives back slots that `reserve` took for these effects. */
  release(effects: readonly string[]): void;
  /** Follows durable frames: what is open, what may start, what should stop. */
  follow(changes: readonly LeafChange[], armed: readonly string[], aborts: readonly string[]): void;
  /** Resolves when the effects now under way have ended and their receipts are durable. */
  ended(): Promise<void>;
  /** Stops everything, waiting up to `graceMs` milliseconds. @returns how many effects did not end */
  close(graceMs: number): Promise<number>;
}
