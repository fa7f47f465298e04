/**
 * Tokens of running programs.
 *
 * Invariants
 * K1  A token stands for one running program and ends with it.
 * K2  No token is kept, only its hash: it stands in the file that its program is given, and nowhere else.
 */
import { createHash, randomBytes } from 'node:crypto';
import { BRIDGE_ENDED_MAX } from './limits.js';

const TOKEN_BYTES = 32;

export class Tokens<Holder> {
  readonly #held = new Map<string, Holder>();
  readonly #ended = new Set<string>();

  /** Makes a token. @returns the token, and what ends it */
  give(holder: Holder): { readonly token: string; end(): void } {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const key = keyOf(token);
    this.#held.set(key, holder);
    return { token, end: () => this.#end(key) };
  }

  /** The program for which a token stands: `ended` when it has ended, undefined when there never was one. */
  find(token: string): Holder | 'ended' | undefined {
    const key = keyOf(token);
    return this.#held.get(key) ?? (this.#ended.has(key) ? 'ended' : undefined);
  }

  #end(key: string): void {
    if (!this.#held.delete(key)) return;
    this.#ended.add(key);
    const [oldest] = this.#ended;
    if (this.#ended.size > BRIDGE_ENDED_MAX && oldest !== undefined) this.#ended.delete(oldest);
  }
}

/** K2; a lookup by a hash tells nothing by the time it takes. */
function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
