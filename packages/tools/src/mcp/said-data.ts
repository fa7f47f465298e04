/**
 * What structured data says that the texts beside it do not.
 *
 * Servers say data as text as well, for readers that take no other: as its JSON, as the one text that the data wraps, or
 * item by item. What was said once is left out here, so that a model reads it once.
 */
import type { Value } from '@reprise/contracts';
import { encode, portableSha256, toHex } from '@reprise/kernel';

/** How deep data is looked through for what the texts say; what lies deeper is told as it is. */
const DEPTH_MAX = 4;

/** The shortest text that is known again among other members; a shorter one may stand there by chance. */
const KNOWN_UNITS_MIN = 16;

/** What texts, and the files beside them, say. */
export class Said {
  readonly #texts = new Set<string>();
  readonly #values = new Set<string>();

  /**
   * @param texts the texts of an answer
   * @param parts its other parts as the server gave them, and what they hold as base64
   */
  constructor(texts: readonly string[], parts: readonly unknown[]) {
    for (const text of [...texts, texts.join('\n'), texts.join('')]) {
      if (text.trim() === '') continue;
      this.#texts.add(text.trim());
      const read = parsed(text);
      if (read !== undefined) this.#values.add(keyOf(read));
    }
    for (const part of parts) {
      if (typeof part === 'string') this.#texts.add(part);
      else this.#values.add(keyOf(part));
    }
  }

  /** What data says beyond it; undefined when that is nothing. */
  beyond(data: unknown): unknown {
    return this.#rest(data, true, DEPTH_MAX);
  }

  /** @param alone whether nothing else stands beside it: then a short text is known again, too */
  #rest(data: unknown, alone: boolean, depth: number): unknown {
    if (this.#isSaid(data, alone)) return undefined;
    if (typeof data !== 'object' || data === null || depth === 0) return data;
    if (Array.isArray(data)) {
      const isSaid = data.length > 0 && data.every((item) => this.#rest(item, true, depth - 1) === undefined);
      return isSaid ? undefined : data;
    }
    const members = Object.entries(data);
    const left = members.flatMap(([name, member]) => {
      const rest = this.#rest(member, members.length === 1, depth - 1);
      return rest === undefined ? [] : [[name, rest] as const];
    });
    return members.length > 0 && left.length === 0 ? undefined : Object.fromEntries(left);
  }

  #isSaid(data: unknown, alone: boolean): boolean {
    if (typeof data === 'string') {
      const text = data.trim();
      return (alone || text.length >= KNOWN_UNITS_MIN) && (this.#texts.has(text) || text === '');
    }
    if (typeof data !== 'object' || data === null) return alone && this.#texts.has(String(data));
    return this.#values.has(keyOf(data));
  }
}

function parsed(text: string): unknown {
  const start = text.trimStart()[0];
  if (start !== '{' && start !== '[') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same for the same data, whatever the order of its keys. */
function keyOf(data: unknown): string {
  try {
    return toHex(portableSha256(encode(data as Value)));
  } catch {
    return `no canonical form: ${JSON.stringify(data)}`;
  }
}
