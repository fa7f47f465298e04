/** What the user has allowed without a question: patterns for one folder, in a file beside its worlds. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { located } from './located.js';
import { type Call, describePattern, matches, type Pattern } from './patterns.js';

const NAME = 'allowed.json';
const KINDS: ReadonlySet<unknown> = new Set(['tool', 'file', 'folder', 'command'] satisfies Pattern['kind'][]);

/** The patterns of a folder. */
export class Allowed {
  #patterns: readonly Pattern[] = [];

  private constructor(private readonly file: string) {}

  /** Reads the patterns. A file that cannot be read allows nothing. */
  static async open(worlds: string): Promise<Allowed> {
    const allowed = new Allowed(path.join(worlds, NAME));
    allowed.#patterns = patternsIn(await readFile(allowed.file, 'utf8').catch(() => '[]'));
    return allowed;
  }

  /** The patterns, oldest first. */
  get list(): readonly Pattern[] {
    return this.#patterns;
  }

  /** The pattern that covers a call, if there is one. */
  covering(call: Call, folder: string): Pattern | undefined {
    const placed = located(call, folder);
    return this.#patterns.find((pattern) => matches(pattern, placed));
  }

  /** Adds a pattern. */
  async add(pattern: Pattern): Promise<void> {
    const known = this.#patterns.map(describePattern);
    if (!known.includes(describePattern(pattern))) await this.#write([...this.#patterns, pattern]);
  }

  /** Takes a pattern back. */
  drop(pattern: Pattern): Promise<void> {
    return this.#write(this.#patterns.filter((one) => one !== pattern));
  }

  async #write(patterns: readonly Pattern[]): Promise<void> {
    const draft = `${this.file}.${process.pid}`;
    await writeFile(draft, `${JSON.stringify(patterns, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, this.file);
    this.#patterns = patterns;
  }
}

function patternsIn(text: string): readonly Pattern[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isPattern) : [];
  } catch {
    return [];
  }
}

function isPattern(value: unknown): value is Pattern {
  const { kind, tool, file, folder, words, exact, in: place } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!KINDS.has(kind)) return false;
  if (kind === 'tool') return typeof tool === 'string';
  if (kind === 'file') return typeof file === 'string';
  if (kind === 'folder') return typeof folder === 'string';
  const isWords = Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string');
  return isWords && typeof exact === 'boolean' && typeof place === 'string';
}
