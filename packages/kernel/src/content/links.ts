/** Whether everything that a value links is there: asked before the value is journaled, so that a world verifies. */
import type { Ref, Value } from '@reprise/contracts';
import { decode, linksOf } from '../codec/index.js';
import type { ContentReader } from './port.js';

/** A link that may not be journaled: its content is not there, or it is linked as a value and is none. */
export interface BadLink {
  readonly ref: Ref;
  readonly why: 'blob_missing' | 'not_a_value';
}

/** Values known to be whole, so that a log that is linked again and again is walked once. */
const KNOWN_MAX = 10_000;

/**
 * Follows links through values. Outsiders can say of any content that it is a value, and put a value that links
 * nothing stored; once journaled, either would make every verification fail.
 */
export class LinkCheck {
  readonly #whole = new Set<string>();

  constructor(private readonly content: ContentReader) {}

  /** The first bad link under a value; undefined when all of them lead somewhere. */
  async firstBad(value: Value): Promise<BadLink | undefined> {
    const open = linksOf(value);
    const walked = new Set<string>();
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      if (ref.kind === 'raw') {
        if (!(await this.content.has(ref))) return { ref, why: 'blob_missing' };
        continue;
      }
      if (this.#whole.has(ref.hex) || walked.has(ref.hex)) continue;
      const bytes = await this.content.get(ref);
      if (bytes === undefined) return { ref, why: 'blob_missing' };
      const links = linksIn(bytes);
      if (links === undefined) return { ref, why: 'not_a_value' };
      walked.add(ref.hex);
      open.push(...links);
    }
    if (this.#whole.size + walked.size > KNOWN_MAX) this.#whole.clear();
    for (const hex of walked) this.#whole.add(hex);
    return undefined;
  }
}

function linksIn(bytes: Uint8Array): Ref[] | undefined {
  try {
    return linksOf(decode(bytes));
  } catch {
    return undefined;
  }
}
