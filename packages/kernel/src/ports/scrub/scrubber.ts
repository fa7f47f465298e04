/**
 * Keeps secrets out of stored and reported texts. Each world has one: code that sends a secret declares it here, and
 * everything that comes back from outside is decoded and passes here before it is journaled, stored, shown or thrown.
 *
 * Invariants
 * S1  A secret is found in plain form, in either case, in base64 (of it, or of a text around it), in hex, and behind the
 *     escapes of JSON, URLs and HTML, also when they are escaped again or broken into lines.
 * S2  A text that comes in pieces is scrubbed as if it had come at once: a possible beginning of a secret waits.
 * S3  The time is linear in the text, however many secrets there are; without secrets texts are not read.
 */
import { bytesIn, plainness } from '../../pure/codec/kinds.js';
import { SECRETS_MAX } from './bounds.js';
import { formsOf, secretsIn, unitsOf } from './forms.js';
import { Matcher } from './matcher.js';
import { readEscapes } from './reading.js';

/** The replacement for a secret. */
const IN_PLACE = '[secret]';

type Units = Uint8Array | Uint16Array;
type Span = readonly [from: number, to: number];

/** The places of secrets in some units, and the place from which one may continue after the end. */
interface Sighting {
  readonly spans: readonly Span[];
  readonly open: number;
}

interface Matchers {
  readonly plain: Matcher;
  readonly read: Matcher;
}

/** Removes secrets from text, bytes and values. */
export class Scrubber {
  /** Secrets declared at the beginning: they are never forgotten. */
  readonly #kept = new Set<string>();
  /** Secrets declared later, in the order of their last declaration. */
  readonly #secrets = new Set<string>();
  #matchers: Matchers | undefined;

  /** @param secrets texts to conceal during the whole life of this scrubber */
  constructor(secrets: Iterable<string> = []) {
    for (const text of secrets) for (const secret of secretsIn(text)) this.#kept.add(secret);
  }

  /** True when there is nothing to look for. */
  get idle(): boolean {
    return this.#kept.size === 0 && this.#secrets.size === 0;
  }

  /**
   * Declares a secret, before it is sent. Texts of fewer than {@link SECRET_LENGTH_MIN} characters are not looked for. Of
   * more than {@link SECRETS_MAX} secrets, the one declared longest ago is forgotten.
   *
   * @returns false for a text that is too short
   */
  conceal(text: string): boolean {
    const found = secretsIn(text);
    for (const secret of found) {
      if (this.#kept.has(secret)) continue;
      const isKnown = this.#secrets.delete(secret);
      const [oldest] = this.#secrets;
      if (this.#secrets.size >= SECRETS_MAX && oldest !== undefined) this.#secrets.delete(oldest);
      this.#secrets.add(secret);
      if (!isKnown) this.#matchers = undefined;
    }
    return found.length > 0;
  }

  scrub(text: string): string {
    if (this.idle) return text;
    const { spans } = this.sight(unitsOf(text), true);
    return spans.length === 0 ? text : spliced(text, spans);
  }

  /** The bytes of a text, or of anything else, without secrets; the same array when they contain none. */
  bytes(bytes: Uint8Array): Uint8Array {
    if (this.idle) return bytes;
    const { spans } = this.sight(bytes, true);
    return spans.length === 0 ? bytes : splicedBytes(bytes, spans);
  }

  /** Whether a secret is in bytes. */
  isIn(bytes: Uint8Array): boolean {
    return !this.idle && this.sight(bytes, true).spans.length > 0;
  }

  /** The value with every text in it scrubbed, keys included; the same object when it contains no secret. */
  value<T>(value: T): T {
    return this.idle ? value : (this.#walk(value, new Map()) as T);
  }

  /** Scrubs a text that comes in pieces. */
  piecewise(): PiecewiseScrubber {
    return new PiecewiseScrubber(this);
  }

  /**
   * Scrubs bytes that come in pieces.
   *
   * @param found called when the bytes contained a secret
   */
  async *pieces(source: AsyncIterable<Uint8Array>, found: () => void = () => undefined): AsyncGenerator<Uint8Array> {
    let held: Uint8Array = new Uint8Array(0);
    for await (const piece of source) {
      if (this.idle && held.length === 0) {
        yield piece;
        continue;
      }
      const bytes = joined(held, piece);
      const { spans, open } = this.sight(bytes, false);
      if (spans.length > 0) found();
      const told = splicedBytes(bytes.subarray(0, open), before(spans, open));
      held = bytes.slice(open);
      if (told.length > 0) yield told;
    }
    if (held.length === 0) return;
    if (this.isIn(held)) found();
    yield this.bytes(held);
  }

  /**
   * The places of secrets.
   *
   * @param ends whether the text ends here: then the beginning of an escape is ordinary text
   */
  sight(units: Units, ends: boolean): Sighting {
    if (this.idle) return { spans: [], open: units.length };
    const { plain, read } = this.#prepared();
    const spans: Span[] = [];
    let open = units.length - plain.scan(units, (from, to) => spans.push([from, to]));
    const reading = readEscapes(units);
    if (reading !== undefined) {
      const { starts, whole } = reading;
      const at = (unit: number): number => starts[unit] ?? units.length;
      const readable = ends ? reading.units : reading.units.subarray(0, whole);
      const begun = read.scan(readable, (from, to) => spans.push([at(from), at(to)]));
      open = Math.min(open, at(readable.length - begun));
    }
    const all = merged(spans);
    // A match that reaches the open end may grow: all of it waits.
    const crossing = all.find(([from, to]) => from < open && open < to);
    return { spans: all, open: crossing === undefined ? open : crossing[0] };
  }

  #prepared(): Matchers {
    if (this.#matchers === undefined) {
      const forms = [...this.#kept, ...this.#secrets].map(formsOf);
      const plain = new Matcher(forms.flatMap((form) => form.plain));
      this.#matchers = { plain, read: new Matcher(forms.flatMap((form) => form.read)) };
    }
    return this.#matchers;
  }

  #walk(thing: unknown, seen: Map<object, unknown>): unknown {
    if (typeof thing === 'string') return this.scrub(thing);
    if (typeof thing !== 'object' || thing === null) return thing;
    if (seen.has(thing)) return seen.get(thing);
    seen.set(thing, thing); // ends a cycle; canonical values have none
    const done = this.#within(thing, seen);
    seen.set(thing, done);
    return done;
  }

  #within(thing: object, seen: Map<object, unknown>): unknown {
    const bytes = bytesIn(thing);
    if (bytes !== undefined) return this.bytes(bytes);
    const kind = plainness(thing);
    if (kind === 'list') {
      const items = thing as readonly unknown[];
      const done = items.map((item) => this.#walk(item, seen));
      return done.some((item, i) => item !== items[i]) ? done : thing;
    }
    if (kind !== 'map') return thing;
    const fields = Object.entries(thing);
    const done = fields.map(([key, field]) => [this.scrub(key), this.#walk(field, seen)] as const);
    const same = done.every(([key, field], i) => key === fields[i]?.[0] && field === fields[i]?.[1]);
    return same ? thing : Object.fromEntries(distinct(done));
  }
}

/** Scrubs a text that comes in pieces (S2). */
export class PiecewiseScrubber {
  #held = '';

  constructor(private readonly scrubber: Scrubber) {}

  /** The part of the text that is safe to report and was not reported yet. */
  push(piece: string): string {
    const text = this.#held + piece;
    const { spans, open } = this.scrubber.sight(unitsOf(text), false);
    this.#held = text.slice(open);
    return spliced(text.slice(0, open), before(spans, open));
  }

  /** The rest, at the end of the text. */
  end(): string {
    const rest = this.scrubber.scrub(this.#held);
    this.#held = '';
    return rest;
  }
}

/** Spans in order; overlapping ones are merged. */
function merged(spans: readonly Span[]): Span[] {
  const all: [number, number][] = [];
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
    const last = all.at(-1);
    if (last !== undefined && from < last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

function before(spans: readonly Span[], end: number): readonly Span[] {
  return spans.filter(([, to]) => to <= end);
}

function spliced(text: string, spans: readonly Span[]): string {
  let done = '';
  let at = 0;
  for (const [from, to] of spans) {
    done += text.slice(at, from) + IN_PLACE;
    at = to;
  }
  return done + text.slice(at);
}

function splicedBytes(bytes: Uint8Array, spans: readonly Span[]): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const [from, to] of spans) {
    parts.push(bytes.subarray(at, from), new TextEncoder().encode(IN_PLACE));
    at = to;
  }
  parts.push(bytes.subarray(at));
  return joined(...parts);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Keys that become equal get a number. */
function distinct(fields: readonly (readonly [string, unknown])[]): (readonly [string, unknown])[] {
  const taken = new Set<string>();
  return fields.map(([key, field]) => {
    let name = key;
    for (let n = 2; taken.has(name); n++) name = `${key}${n}`;
    taken.add(name);
    return [name, field] as const;
  });
}
