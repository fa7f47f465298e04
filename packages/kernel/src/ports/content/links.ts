/** Checks that all content linked by a value exists before the value is journaled, so that a world verifies. */
import type { Ref, Value } from '@reprise/contracts';
import { decode, linksOf } from '../../pure/codec/index.js';
import type { MaybePromise } from '../time/maybe-promise.js';
import { macrotask } from '../time/turn.js';
import { LINKS_FOLLOWED_MAX, LINKS_PER_TURN } from './bounds.js';
import type { ContentReader } from './port.js';

/**
 * A link that may not be journaled: its content is missing or erased, or is linked as a value but is not one,
 * or leads to more content than is followed for one value.
 */
interface BadLink {
  readonly ref: Ref;
  readonly why: 'blob_missing' | 'blob_erased' | 'not_a_value' | 'too_many_links';
}

/** Values known to be complete, so that a log that is linked again and again is walked once. */
const KNOWN_MAX = 10_000;

/**
 * Follows links through values. A caller can claim of any content that it is a value, and can put a value with dangling
 * links; once journaled, either would make every verification fail. Erased content may not be linked anew;
 * inside stored values such links stay, as in a transcript with one erased message.
 */
export class LinkCheck {
  readonly #whole = new Set<string>();
  /** The erasure after which `#whole` was collected: a later one invalidates it. */
  #wholeSince = -1;

  constructor(private readonly content: ContentReader) {}

  /** The first bad link under a value; undefined when all of them lead somewhere. */
  firstBad(value: Value): MaybePromise<BadLink | undefined> {
    const direct = linksOf(value);
    return direct.length === 0 ? undefined : this.#firstBad(direct);
  }

  async #firstBad(direct: readonly Ref[]): Promise<BadLink | undefined> {
    this.#forgetErased(await this.content.erasedThrough());
    const anew = new Set(direct.map(({ hex }) => hex));
    const open = [...direct];
    const walked = new Set<string>();
    let followed = 0;
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      if (++followed > LINKS_FOLLOWED_MAX) return { ref, why: 'too_many_links' };
      if (followed % LINKS_PER_TURN === 0) await macrotask();
      if (ref.kind === 'value' && (this.#whole.has(ref.hex) || walked.has(ref.hex))) continue;
      // Mostly one blob, which is there: a function that reads it would be a promise more.
      const found = ref.kind === 'raw' ? await this.content.has(ref) : await this.content.get(ref);
      const links = found ? linksOfFound(found) : await this.#whyGone(ref);
      if (links === 'blob_erased' && !anew.has(ref.hex)) continue;
      if (typeof links === 'string') return { ref, why: links };
      if (ref.kind === 'value') walked.add(ref.hex);
      open.push(...links);
    }
    if (this.#whole.size + walked.size > KNOWN_MAX) this.#whole.clear();
    for (const hex of walked) this.#whole.add(hex);
    return undefined;
  }

  #forgetErased(through: number): void {
    if (through !== this.#wholeSince) this.#whole.clear();
    this.#wholeSince = through;
  }

  async #whyGone(ref: Ref): Promise<BadLink['why']> {
    return (await this.content.erasedBy(ref)) === undefined ? 'blob_missing' : 'blob_erased';
  }
}

/** The links of content that is stored, or why it may not be linked itself. @param found its bytes, if it is a value */
function linksOfFound(found: Uint8Array | true): readonly Ref[] | BadLink['why'] {
  return found === true ? [] : (linksIn(found) ?? 'not_a_value');
}

/** The links in the bytes of a value; undefined when the bytes are not a value. */
export function linksIn(bytes: Uint8Array): Ref[] | undefined {
  try {
    return linksOf(decode(bytes));
  } catch {
    return undefined;
  }
}
