/**
 * Reads a regular expression in JavaScript syntax with the flag `u`, and more leniently where that is harmless: an
 * unmatched closing bracket, and a punctuation mark that is escaped without need, stand for themselves.
 *
 * A back reference, which no engine matches in linear time, and syntax that JavaScript does not have, are refused.
 */
import { type CodeSet, codeSet, DIGITS, LINE_ENDS, outside, type PropertyTest, SPACE, WORD } from './code-set.js';

/** The longest pattern, in UTF-16 units. */
export const PATTERN_UNITS_MAX = 10_000;

/** How deep groups may nest: reader and compiler recurse. */
export const PATTERN_DEPTH_MAX = 100;

/** A pattern as a tree. */
export type PatternNode =
  | { readonly type: 'set'; readonly set: CodeSet }
  | { readonly type: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly type: 'choice'; readonly branches: readonly PatternNode[] }
  | { readonly type: 'repeat'; readonly node: PatternNode; readonly min: number; readonly max: number }
  | { readonly type: 'edge'; readonly at: Edge }
  | { readonly type: 'look'; readonly behind: boolean; readonly negative: boolean; readonly node: PatternNode };

/** A position that a pattern asserts. */
export type Edge = 'start' | 'end' | 'word' | 'no_word';

/** Why a pattern is refused. */
export class PatternRefused extends Error {}

/** Finds the code points of a Unicode property: `L`, `Script=Greek`. Undefined for an unknown name. */
export type Properties = (name: string) => PropertyTest | undefined;

/** Reads the source of a regular expression. @throws PatternRefused where it needs more than linear time */
export function readPattern(source: string, properties: Properties): PatternNode {
  if (source.length > PATTERN_UNITS_MAX) throw new PatternRefused(`it is longer than ${PATTERN_UNITS_MAX} characters`);
  return new PatternReader([...source], properties).whole();
}

const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };
const CLASSES: Readonly<Record<string, readonly number[]>> = {
  d: DIGITS,
  D: outside(DIGITS),
  w: WORD,
  W: outside(WORD),
  s: SPACE,
  S: outside(SPACE),
};
const EMPTY: PatternNode = { type: 'sequence', parts: [] };

/** The content of a class: one code point, or several. */
type ClassItem = number | { readonly pairs: readonly number[] } | { readonly property: PropertyTest };

class PatternReader {
  #at = 0;
  #depth = 0;

  constructor(
    private readonly source: readonly string[],
    private readonly properties: Properties,
  ) {}

  whole(): PatternNode {
    const node = this.#choice();
    if (this.#at < this.source.length) throw this.#refused('a ) closes nothing');
    return node;
  }

  #choice(): PatternNode {
    const branches = [this.#sequence()];
    while (this.#take('|')) branches.push(this.#sequence());
    return branches.length === 1 ? (branches[0] ?? EMPTY) : { type: 'choice', branches };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    for (let next = this.#peek(); next !== undefined && next !== '|' && next !== ')'; next = this.#peek()) {
      parts.push(this.#repeated(this.#atom()));
    }
    return parts.length === 1 ? (parts[0] ?? EMPTY) : { type: 'sequence', parts };
  }

  #repeated(node: PatternNode): PatternNode {
    const bounds = this.#quantifier();
    if (bounds === undefined) return node;
    this.#take('?'); // lazy or not, the same texts match
    if (this.#quantifier() !== undefined) throw this.#refused('there is nothing to repeat');
    return { type: 'repeat', node, ...bounds };
  }

  #quantifier(): { readonly min: number; readonly max: number } | undefined {
    if (this.#take('*')) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.#take('+')) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.#take('?')) return { min: 0, max: 1 };
    return this.#counted();
  }

  /** `{2}`, `{2,}`, `{2,5}`; any other brace stands for itself. */
  #counted(): { readonly min: number; readonly max: number } | undefined {
    const from = this.#at;
    if (!this.#take('{')) return undefined;
    const min = this.#digits();
    const open = this.#take(',');
    const max = open ? this.#digits() : min;
    if (min === undefined || !this.#take('}')) {
      this.#at = from;
      return undefined;
    }
    if (max !== undefined && max < min) throw this.#refused('the numbers of {n,m} stand in the wrong order');
    return { min, max: max ?? Number.POSITIVE_INFINITY };
  }

  #digits(): number | undefined {
    let text = '';
    for (let next = this.#peek(); next !== undefined && next >= '0' && next <= '9'; next = this.#peek()) {
      text += next;
      this.#at++;
    }
    return text === '' ? undefined : Number(text);
  }

  #atom(): PatternNode {
    const next = this.#next();
    switch (next) {
      case '^':
        return { type: 'edge', at: 'start' };
      case '$':
        return { type: 'edge', at: 'end' };
      case '.':
        return { type: 'set', set: codeSet(LINE_ENDS, [], true) };
      case '(':
        return this.#group();
      case '[':
        return { type: 'set', set: this.#class() };
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw this.#refused('there is nothing to repeat');
      default:
        return { type: 'set', set: one(codeOf(next)) };
    }
  }

  #group(): PatternNode {
    if (++this.#depth > PATTERN_DEPTH_MAX) throw this.#refused(`groups nest deeper than ${PATTERN_DEPTH_MAX}`);
    const look = this.#groupKind();
    const inner = this.#choice();
    if (!this.#take(')')) throw this.#refused('a ( is not closed');
    this.#depth--;
    return look === undefined ? inner : { type: 'look', ...look, node: inner };
  }

  #groupKind(): { readonly behind: boolean; readonly negative: boolean } | undefined {
    if (!this.#take('?')) return undefined;
    if (this.#take(':')) return undefined;
    if (this.#take('=')) return { behind: false, negative: false };
    if (this.#take('!')) return { behind: false, negative: true };
    if (this.#take('<')) {
      if (this.#take('=')) return { behind: true, negative: false };
      if (this.#take('!')) return { behind: true, negative: true };
      this.#until('>', 'the name of a group is not closed');
      return undefined;
    }
    throw this.#refused('JavaScript has no such group');
  }

  #escape(): PatternNode {
    if (this.#take('b')) return { type: 'edge', at: 'word' };
    if (this.#take('B')) return { type: 'edge', at: 'no_word' };
    const next = this.#peek();
    if (next === 'k' || (next !== undefined && next >= '1' && next <= '9')) {
      throw this.#refused('a back reference cannot be matched in linear time');
    }
    return { type: 'set', set: setOf([this.#escaped()]) };
  }

  #class(): CodeSet {
    const negated = this.#take('^');
    const items: ClassItem[] = [];
    while (!this.#take(']')) {
      const first = this.#classItem();
      if (this.#peek() !== '-' || this.source[this.#at + 1] === ']') {
        items.push(first);
        continue;
      }
      this.#at++;
      const last = this.#classItem();
      if (typeof first === 'number' && typeof last === 'number') {
        if (last < first) throw this.#refused('a range of characters stands in the wrong order');
        items.push({ pairs: [first, last] });
      } else items.push(first, 0x2d, last); // `[\w-.]`: the dash is one of the characters
    }
    return setOf(items, negated);
  }

  #classItem(): ClassItem {
    const next = this.#next('a [ is not closed');
    if (next !== '\\') return codeOf(next);
    if (this.#take('b')) return 8;
    return this.#escaped();
  }

  /** The escape after a backslash that stands for one code point or several. */
  #escaped(): ClassItem {
    const next = this.#next('a \\ stands at the end');
    const pairs = Object.hasOwn(CLASSES, next) ? CLASSES[next] : undefined;
    if (pairs !== undefined) return { pairs };
    const control = Object.hasOwn(CONTROLS, next) ? CONTROLS[next] : undefined;
    if (control !== undefined) return control;
    if (next === 'p' || next === 'P') return this.#property(next === 'P');
    if (next === 'x') return this.#hex(2);
    if (next === 'u') return this.#unicode();
    if (next === 'c') return this.#controlLetter();
    if (next === '0' && !isDigit(this.#peek())) return 0;
    if (isAlphanumeric(next)) throw this.#refused(`JavaScript has no \\${next}`);
    return codeOf(next);
  }

  #property(negative: boolean): ClassItem {
    if (!this.#take('{')) throw this.#refused('\\p needs the name of a property in braces');
    const name = this.#until('}', 'the name of a property is not closed');
    const has = this.properties(name);
    if (has === undefined) throw this.#refused(`the property ${name.slice(0, 64)} is not known here`);
    return { property: negative ? (codePoint) => !has(codePoint) : has };
  }

  #unicode(): number {
    if (this.#take('{')) {
      const code = Number.parseInt(this.#until('}', '\\u{ is not closed'), 16);
      if (!(code <= 0x10ffff)) throw this.#refused('\\u{ } names no code point');
      return code;
    }
    const high = this.#hex(4);
    if (high < 0xd800 || high > 0xdbff || this.#peek() !== '\\' || this.source[this.#at + 1] !== 'u') return high;
    const from = this.#at;
    this.#at += 2;
    const low = this.#hex(4);
    if (low >= 0xdc00 && low <= 0xdfff) return (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000;
    this.#at = from;
    return high;
  }

  #hex(length: number): number {
    const digits = this.source.slice(this.#at, this.#at + length).join('');
    if (!/^[0-9a-fA-F]+$/.test(digits) || digits.length !== length) {
      throw this.#refused(`${length} hexadecimal digits are missing`);
    }
    this.#at += length;
    return Number.parseInt(digits, 16);
  }

  #controlLetter(): number {
    const letter = this.#next('\\c needs a letter');
    if (!/^[A-Za-z]$/.test(letter)) throw this.#refused('\\c needs a letter');
    return codeOf(letter) % 32;
  }

  #until(end: string, otherwise: string): string {
    const from = this.#at;
    while (this.#next(otherwise) !== end);
    return this.source.slice(from, this.#at - 1).join('');
  }

  #peek(): string | undefined {
    return this.source[this.#at];
  }

  #next(otherwise = 'it ends too early'): string {
    const next = this.source[this.#at++];
    if (next === undefined) throw this.#refused(otherwise);
    return next;
  }

  #take(expected: string): boolean {
    if (this.source[this.#at] !== expected) return false;
    this.#at++;
    return true;
  }

  #refused(why: string): PatternRefused {
    return new PatternRefused(why);
  }
}

function setOf(items: readonly ClassItem[], negated = false): CodeSet {
  const pairs: number[] = [];
  const properties: PropertyTest[] = [];
  for (const item of items) {
    if (typeof item === 'number') pairs.push(item, item);
    else if ('pairs' in item) pairs.push(...item.pairs);
    else properties.push(item.property);
  }
  return codeSet(pairs, properties, negated);
}

function one(code: number): CodeSet {
  return codeSet([code, code]);
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}

function isAlphanumeric(character: string): boolean {
  return /^[A-Za-z0-9]$/.test(character);
}
