/** What was typed in a folder, for the up key: one entry a line, as JSON, since entries have lines themselves. */
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const NAME = 'history.jsonl';
/** How many entries are kept. */
const ENTRIES_MAX = 1_000;
/** Longer texts are not kept. */
const ENTRY_UNITS_MAX = 10_000;

/** The history of a folder. */
export class History {
  #written: Promise<void> = Promise.resolve();

  private constructor(
    private readonly file: string,
    /** The entries when the program began, oldest first. */
    readonly entries: readonly string[],
  ) {}

  /** Reads the history. One that cannot be read is empty. */
  static async open(worlds: string): Promise<History> {
    const file = path.join(worlds, NAME);
    const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
    const entries = lines.flatMap(entryIn);
    const kept = entries.slice(-ENTRIES_MAX);
    if (entries.length > 2 * ENTRIES_MAX) {
      const text = kept.map((entry) => `${JSON.stringify(entry)}\n`).join('');
      await writeFile(file, text, { mode: 0o600 }).catch(() => undefined);
    }
    return new History(file, kept);
  }

  /** Adds an entry. */
  add(text: string): void {
    if (text.trim() === '' || text.length > ENTRY_UNITS_MAX) return;
    const line = `${JSON.stringify(text)}\n`;
    this.#written = this.#written.then(() => appendFile(this.file, line, { mode: 0o600 }).catch(() => undefined));
  }

  /** Resolves when all entries are written. */
  written(): Promise<void> {
    return this.#written;
  }
}

function entryIn(line: string): string[] {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'string' ? [entry] : [];
  } catch {
    return [];
  }
}
