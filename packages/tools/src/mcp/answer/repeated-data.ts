/**
 * Removes from structured data what the texts beside it already contain.
 *
 * Servers repeat data as text for clients that read only text: as its JSON, as the one text that the data wraps, or
 * item by item. Repetitions are removed here, so that a model reads everything once.
 */

import type { Value } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import { encode, portableSha256, toHex } from '@reprise/kernel';

/** How deep data is compared with the texts; deeper data is kept as it is. */
const DEPTH_MAX = 4;

/** The shortest text that counts as a repetition among other members; a shorter one may match by chance. */
const KNOWN_UNITS_MIN = 16;

/** The content of an answer's texts and files. */
export class Said {
  readonly #texts = new Set<string>();
  readonly #values = new Set<string>();

  /**
   * @param texts the texts of an answer
   * @param parts the answer's other parts as the server sent them, with their base64 content
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

  /** The data without repetitions; undefined when nothing is left. */
  beyond(data: unknown): unknown {
    return this.#rest(data, true, DEPTH_MAX);
  }

  /** @param alone whether nothing else stands beside it; then even a short text counts as a repetition */
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
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** A key that is equal for equal data, whatever the order of its members. */
function keyOf(data: unknown): string {
  try {
    return toHex(portableSha256(encode(data as Value)));
  } catch {
    return `no canonical form: ${JSON.stringify(data)}`;
  }
}
