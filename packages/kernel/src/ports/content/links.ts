/** Whether everything that a value links is there: asked before the value is journaled, so that a world verifies. */
import type { Ref, Value } from '@reprise/contracts';
import { decode, linksOf } from '../../pure/codec/index.js';
import { macrotask } from '../time/turn.js';
import { LINKS_FOLLOWED_MAX, LINKS_PER_TURN } from './bounds.js';
import type { ContentReader } from './port.js';

/**
 * A link that may not be journaled: its content is not there any more, or never was, or is linked as a value and is not
 * one, or leads to more content than is followed for one value.
 */
export interface BadLink {
  readonly ref: Ref;
  readonly why: 'blob_missing' | 'blob_erased' | 'not_a_value' | 'too_many_links';
}

/** Values known to be whole, so that a log that is linked again and again is walked once. */
const KNOWN_MAX = 10_000;

/**
 * Follows links through values. Outsiders can say of any content that it is a value, and put a value that links
 * nothing stored; once journaled, either would make every verification fail. What was erased may not be linked anew;
 * inside of stored values its links are left standing, as in a transcript of which one message is gone.
 */
export class LinkCheck {
  readonly #whole = new Set<string>();
  /** The erasure after which `#whole` was collected: a later one makes it void. */
  #wholeSince = -1;

  constructor(private readonly content: ContentReader) {}

  /** The first bad link under a value; undefined when all of them lead somewhere. */
  async firstBad(value: Value): Promise<BadLink | undefined> {
    const direct = linksOf(value);
    if (direct.length === 0) return undefined;
    await this.#forgetErased();
    const anew = new Set(direct.map(({ hex }) => hex));
    const open = [...direct];
    const walked = new Set<string>();
    let followed = 0;
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      if (++followed > LINKS_FOLLOWED_MAX) return { ref, why: 'too_many_links' };
      if (followed % LINKS_PER_TURN === 0) await macrotask();
      if (ref.kind === 'value' && (this.#whole.has(ref.hex) || walked.has(ref.hex))) continue;
      const links = await this.#linksOf(ref);
      if (links === 'blob_erased' && !anew.has(ref.hex)) continue;
      if (typeof links === 'string') return { ref, why: links };
      if (ref.kind === 'value') walked.add(ref.hex);
      open.push(...links);
    }
    if (this.#whole.size + walked.size > KNOWN_MAX) this.#whole.clear();
    for (const hex of walked) this.#whole.add(hex);
    return undefined;
  }

  async #forgetErased(): Promise<void> {
    const through = await this.content.erasedThrough();
    if (through !== this.#wholeSince) this.#whole.clear();
    this.#wholeSince = through;
  }

  /** What stored content links, or why it may not be linked itself. */
  async #linksOf(ref: Ref): Promise<readonly Ref[] | BadLink['why']> {
    if (ref.kind === 'raw') return (await this.content.has(ref)) ? [] : this.#whyGone(ref);
    const bytes = await this.content.get(ref);
    return bytes === undefined ? this.#whyGone(ref) : (linksIn(bytes) ?? 'not_a_value');
  }

  async #whyGone(ref: Ref): Promise<BadLink['why']> {
    return (await this.content.erasedBy(ref)) === undefined ? 'blob_missing' : 'blob_erased';
  }
}

/** What the bytes of a value link; undefined when they are no value. */
export function linksIn(bytes: Uint8Array): Ref[] | undefined {
  try {
    return linksOf(decode(bytes));
  } catch {
    return undefined;
  }
}
