/**
 * What was written before in the same item is referred to and not repeated, by the registered CBOR tags: 256 opens a
 * scope of strings, 25 refers to one; 28 marks a value as shareable, 29 refers to one. Every text and byte string that
 * is long enough gets the next number, map keys and the bytes of links included; every marked map gets the next of its
 * own. Readers that know the tags resolve them by themselves. A text of 64 lower-case hex digits, which is a digest, is
 * written as its 32 bytes under tag 23, which says that bytes stand for their hex digits.
 *
 * One rule makes the form canonical: a text, a digest or a link that stood before as such is always written as a
 * reference; map keys and plain bytes never are, nor are they referred to. A map of three or more entries is marked, or, when it equals
 * one of the first marked maps that are alike, written as a reference: alike are maps with as many keys, the same first
 * and the same last. They are few, so that no list of maps can make the comparison take long.
 */
import type { Ref, Value } from '@reprise/contracts';
import { ALIKE_MAPS_MAX } from './bounds.js';
import { equalValues } from './equal.js';

/** The tag of a scope of strings. */
export const SCOPE_TAG = 256;

/** The tag of a reference to a string. */
export const STRING_TAG = 25;

/** The tag of a value that may be referred to. */
export const SHARED_TAG = 28;

/** The tag of a reference to such a value. */
export const VALUE_TAG = 29;

/** The tag of bytes that stand for their hex digits (RFC 8949 §3.4.5.2); here they are lower-case. */
export const DIGEST_TAG = 23;

/** The hex digits of a digest. */
export const DIGEST_UNITS = 64;

/** The length from which a string gets a number in any case. */
const LEAST_MAX = 7;

/** The length from which a string gets a number: shorter ones would not be shorter as a reference. */
function leastLength(next: number): number {
  if (next < 24) return 3;
  if (next < 0x100) return 4;
  return next < 0x1_0000 ? 5 : LEAST_MAX;
}

/** A map that can be referred to, and how many bytes it takes without references in it. */
interface SharedMap {
  readonly map: object;
  readonly bytes: number;
}

/** Maps that can be referred to, by number: those of a writer as they were given, those of a reader as they were read. */
class SharedMaps {
  readonly #alike = new Map<string, [number: number, map: object][]>();
  readonly #maps: (SharedMap | undefined)[] = [];

  /** The number of an equal map among the first that are alike; undefined without one. @param keys the keys with a value, in order */
  find(map: object, keys: readonly string[]): number | undefined {
    const alike = this.#alike.get(likeness(keys));
    return alike?.find(([, other]) => equalValues(other as Value, map as Value))?.[0];
  }

  /** Takes the next number, for a map that begins here. */
  begin(): number {
    return this.#maps.push(undefined) - 1;
  }

  /** The map with this number was written or read. @param bytes what it takes without references */
  end(number: number, map: object, keys: readonly string[], bytes: number): void {
    this.#maps[number] = { map, bytes };
    const name = likeness(keys);
    const alike = this.#alike.get(name);
    if (alike === undefined) this.#alike.set(name, [[number, map]]);
    else if (alike.length < ALIKE_MAPS_MAX) alike.push([number, map]);
  }

  /** The map with this number; undefined when no map has it, or when it has not ended. */
  at(number: number): SharedMap | undefined {
    return this.#maps[number];
  }
}

/** What maps have in common that are alike. */
function likeness(keys: readonly string[]): string {
  return `${keys.length} ${keys[0]} ${keys[keys.length - 1]}`;
}

/** The strings that a writer has written, by number. */
export class WrittenScope {
  readonly maps = new SharedMaps();
  /** The links, each once, in the order of their numbers. */
  readonly links: Ref[] = [];
  readonly #texts = new Map<string, number>();
  readonly #raw = new Map<string, number>();
  readonly #values = new Map<string, number>();
  readonly #digests = new Map<string, number>();
  #next = 0;

  /** The number of a text; undefined when it has none. */
  text(text: string): number | undefined {
    return this.#texts.get(text);
  }

  /** The number of a link; undefined when it has none. */
  link({ hex, kind }: Ref): number | undefined {
    return (kind === 'value' ? this.#values : this.#raw).get(hex);
  }

  /** The number of a digest; undefined when it has none. */
  digest(hex: string): number | undefined {
    return this.#digests.get(hex);
  }

  /** Gives the next number to a digest that was written. */
  wroteDigest(hex: string): void {
    this.#digests.set(hex, this.#next++);
  }

  /** A text was written in so many bytes. */
  wroteText(text: string, bytes: number): void {
    if (bytes >= LEAST_MAX || bytes >= leastLength(this.#next)) this.#texts.set(text, this.#next++);
  }

  /** Lists a link that was written, and gives it the next number. */
  wroteLink(link: Ref): void {
    (link.kind === 'value' ? this.#values : this.#raw).set(link.hex, this.#next++);
    this.links.push(link);
  }

  /** A key or plain bytes were written: they count, and are never referred to. */
  wroteOther(bytes: number): void {
    if (bytes >= LEAST_MAX || bytes >= leastLength(this.#next)) this.#next++;
  }
}

/** A digest that was read: a reference to it has a tag of its own, as one to a link has. */
export class ReadDigest {
  constructor(readonly hex: string) {}
}

/** What a reference can lead to. */
export type Referred = string | Ref | ReadDigest;

/** The strings that a reader has read, by number; undefined stands for keys and plain bytes. */
export class ReadScope {
  readonly maps = new SharedMaps();
  readonly #strings: (Referred | undefined)[] = [];
  readonly #texts = new Set<string>();
  readonly #links = new Set<string>();
  readonly #digests = new Set<string>();

  /** The string with this number; undefined when no string that may be referred to has it. */
  at(index: number): Referred | undefined {
    return this.#strings[index];
  }

  /** A text was read in so many bytes. @returns false when it should have been a reference */
  readText(text: string, bytes: number): boolean {
    if (bytes < LEAST_MAX && bytes < leastLength(this.#strings.length)) return true;
    return this.#add(this.#texts, text, text);
  }

  /** A link was read. @returns false when it should have been a reference */
  readLink(link: Ref): boolean {
    return this.#add(this.#links, `${link.kind}${link.hex}`, link);
  }

  /** A digest was read. @returns false when it should have been a reference */
  readDigest(hex: string): boolean {
    return this.#add(this.#digests, hex, new ReadDigest(hex));
  }

  /** A key or plain bytes were read. */
  readOther(bytes: number): void {
    if (bytes >= LEAST_MAX || bytes >= leastLength(this.#strings.length)) this.#strings.push(undefined);
  }

  #add(known: Set<string>, name: string, string: Referred): boolean {
    if (known.has(name)) return false;
    known.add(name);
    this.#strings.push(string);
    return true;
  }
}
