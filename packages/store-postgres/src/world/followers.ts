/**
 * Readers of worlds that other processes write. A world says until when a reader follows it, so that its owner hints at
 * appends of such worlds alone (`connection/hints.ts`).
 *
 * Invariants
 * F1  A reader that cannot say that it follows, as in a replica or with a role that may only read, still reads everything:
 *     it looks again and again.
 * F2  Rows are locked in the order of their numbers, as appends lock them (committer/M3), so that neither waits for the other
 *     for ever.
 */
import type { Connections } from '../connection/driver.js';
import type { Hints } from '../connection/hints.js';

/** How long a world is followed without its readers being heard of, and how often they are, in milliseconds. */
const FOLLOWED_MS = 30_000;
const EVERY_MS = 10_000;

const FOLLOW = `
  WITH held AS MATERIALIZED (
    SELECT id FROM reprise.world WHERE id = ANY($1::bigint[])
      AND (followed_until IS NULL OR followed_until < clock_timestamp() + $2 * interval '1 ms')
    ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE reprise.world w SET followed_until = clock_timestamp() + $3 * interval '1 ms' FROM held WHERE w.id = held.id`;

/** What hints about the frames of a world are about. */
export function framesTopic(world: number): string {
  return `f${world}`;
}

/** The worlds that this process follows. */
export class Followers {
  /** By the number of the world: how many readers it has here. */
  readonly #worlds = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connections: Connections,
    private readonly hints: Hints,
  ) {}

  /** Calls whenever a world may have more frames. @returns stops that */
  follow(world: number, call: () => void): () => void {
    const stop = this.hints.hear(framesTopic(world), call);
    this.#worlds.set(world, (this.#worlds.get(world) ?? 0) + 1);
    this.#timer ??= setInterval(() => void this.#say([...this.#worlds.keys()]), EVERY_MS).unref();
    void this.#say([world]).then(call); // what was appended before the owner knew of it was not told
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      stop();
      this.#leave(world);
    };
  }

  #leave(world: number): void {
    const left = (this.#worlds.get(world) ?? 0) - 1;
    if (left > 0) this.#worlds.set(world, left);
    else this.#worlds.delete(world);
    if (this.#worlds.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #say(worlds: readonly number[]): Promise<void> {
    const given = [worlds, FOLLOWED_MS - EVERY_MS, FOLLOWED_MS];
    await this.connections.rows('follow a world', FOLLOW, given).catch(() => undefined); // F1
  }
}
