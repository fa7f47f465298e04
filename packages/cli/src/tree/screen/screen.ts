/**
 * The screen of a tree on a terminal: drawn from its facts, at most ten times a second.
 *
 * Owns: the terminal's modes, the state of the screen, its redraws. Does not own: what is drawn (`draw.ts`), what keys do
 * (`state.ts`), how acts are executed.
 *
 * Invariants
 * S1  The terminal is left as it was found, however the program ends.
 * S2  A redraw is one write, and two of them are at least `DRAW_MS` apart.
 * S3  Text of models and people is drawn without its control characters.
 */
import { StringDecoder } from 'node:string_decoder';
import type { TreeView } from '@reprise/tree';
import type { Past } from '../past.js';
import type { Texts } from '../texts.js';
import { draw, type Row } from './draw.js';
import { keysIn } from './keys.js';
import { BEGINNING, press, type ScreenState, type Travel, type Wish } from './state.js';

const DRAW_MS = 100;
/** The clock in the head goes on while nothing happens. */
const TICK_MS = 1_000;

/** The other screen, without a cursor, with brackets around pastes. */
const OPEN = '\u001b[?1049h\u001b[?25l\u001b[?2004h';
const CLOSE = '\u001b[?2004l\u001b[?25h\u001b[?1049l';
const PASTE_UNITS_MAX = 1_000_000;
const SYNC = ['\u001b[?2026h', '\u001b[?2026l'] as const;

const STYLES: Readonly<Record<Row['style'], string>> = {
  plain: '',
  bold: '\u001b[1m',
  dim: '\u001b[2m',
  selected: '\u001b[7m',
  ask: '\u001b[1;33m',
};

/** What the screen needs of its owner. */
export interface ScreenParts {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly texts: Texts;
  /** Whether this process runs the tree. */
  readonly runs: boolean;
  /** The earlier states of the tree. */
  readonly past: Past;
  /** The lines of a node in full, with one of its launches. */
  detail(tree: TreeView, open: NonNullable<ScreenState['open']>, columns: number): Promise<readonly string[]>;
  /** Executes a wish. @returns what became of it, in a line */
  execute(wish: Wish): Promise<string>;
}

export class TreeScreen {
  readonly #decoder = new StringDecoder('utf8');
  #state: ScreenState = BEGINNING;
  #tree: TreeView | undefined;
  #detail: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #tick: NodeJS.Timeout;
  #drawnAt = 0;
  /** A paste whose end has not arrived. */
  #pasting = '';
  #isUnowned = false;
  #isClosed = false;
  /** What waits for the present. */
  readonly #waiting: (() => void)[] = [];
  /** The difference between the wall clock and the journal's time at the newest frame. */
  #offset = 0;
  readonly #restore = (): void => void (this.#isClosed || this.parts.output.write(CLOSE));
  readonly #read = (bytes: Buffer): void => this.#press(this.#decoder.write(bytes));
  readonly #resized = (): void => this.#soon();

  constructor(private readonly parts: ScreenParts) {
    const { input, output } = parts;
    input.setRawMode(true);
    input.on('data', this.#read);
    input.resume();
    output.on('resize', this.#resized);
    process.on('exit', this.#restore); // S1
    output.write(OPEN);
    this.#tick = setInterval(() => this.#soon(), TICK_MS);
  }

  /** Shows a newer state of the tree. */
  show(tree: TreeView): void {
    this.#tree = tree;
    this.#offset = Date.now() - tree.newest.at;
    this.#soon();
  }

  /** Shows whether no process has the world open. */
  unowned(isUnowned: boolean): void {
    if (this.#isUnowned === isUnowned) return;
    this.#isUnowned = isUnowned;
    this.#soon();
  }

  /** Shows the tree as it was after a frame; null shows it as it is. */
  showAt(at: number | null): void {
    this.#state = { ...this.#state, at };
    if (at === null) for (const resolve of this.#waiting.splice(0)) resolve();
    this.#soon();
  }

  /** Shows a message until the next key. */
  say(message: string): void {
    this.#state = { ...this.#state, message };
    this.#soon();
  }

  /** Waits until what is now is shown: at once, unless the user looks at an earlier frame. */
  present(signal: AbortSignal): Promise<void> {
    if (this.#state.at === null || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  /** Gives the terminal back as it was. */
  close(): void {
    if (this.#isClosed) return;
    const { input, output } = this.parts;
    clearTimeout(this.#timer);
    clearInterval(this.#tick);
    output.write(CLOSE);
    this.#isClosed = true;
    process.off('exit', this.#restore);
    output.off('resize', this.#resized);
    input.off('data', this.#read);
    input.setRawMode(false);
    input.pause();
  }

  #press(read: string): void {
    const { keys, rest } = keysIn(this.#pasting + read);
    this.#pasting = rest.slice(0, PASTE_UNITS_MAX);
    for (const key of keys) {
      const tree = this.#shown;
      if (tree === undefined) continue;
      const { state, wish } = press(this.#state, key, tree, this.parts.runs);
      this.#state = state;
      if (wish?.do === 'travel') this.#travel(wish.to);
      else if (wish !== undefined) void this.#execute(wish);
    }
    this.#soon();
  }

  /** The tree that is shown: as it is, or as it was. */
  get #shown(): TreeView | undefined {
    const { at } = this.#state;
    return at === null ? this.#tree : this.parts.past.at(at);
  }

  #travel(to: Travel['to']): void {
    this.showAt(to === 'now' ? null : this.parts.past.step(this.#state.at, to));
  }

  async #execute(wish: Wish): Promise<void> {
    this.say(await this.parts.execute(wish).catch((error: Error) => error.message));
  }

  // S2
  #soon(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    const wait = Math.max(0, this.#drawnAt + DRAW_MS - performance.now());
    this.#timer = setTimeout(() => void this.#draw(), wait);
  }

  async #draw(): Promise<void> {
    const { output, texts, runs } = this.parts;
    const tree = this.#shown;
    this.#drawnAt = performance.now();
    const columns = Math.max(20, output.columns || 80);
    const rows = Math.max(8, output.rows || 24);
    const drawnState = this.#state;
    if (tree !== undefined) {
      await texts.load(tree);
      const { open } = drawnState;
      if (open !== null) this.#detail = await this.#detailOf(tree, open, columns);
    }
    this.#timer = undefined;
    if (tree === undefined || this.#isClosed) return;
    const { open, at } = this.#state;
    const { open: drawnOpen } = drawnState;
    // Another node, launch or frame was opened meanwhile.
    if (at !== drawnState.at || open?.n !== drawnOpen?.n || open?.launch !== drawnOpen?.launch) return this.#soon();
    const now = at === null ? Date.now() - this.#offset : tree.newest.at;
    const newest = this.#tree?.newest.frame ?? 0;
    const options = {
      columns,
      rows,
      now,
      newest,
      textOf: texts.get,
      detail: this.#detail,
      runs,
      isUnowned: this.#isUnowned,
    };
    const drawn = draw(tree, this.#state, options);
    const text = drawn.map(({ text: row, style }) => `${STYLES[style]}${row}\u001b[0m\u001b[K`).join('\r\n');
    output.write(`${SYNC[0]}\u001b[H${text}\u001b[J${SYNC[1]}`);
  }

  async #detailOf(tree: TreeView, open: NonNullable<ScreenState['open']>, columns: number): Promise<readonly string[]> {
    if (tree.nodes.get(open.n) === undefined) return [`#${open.n} was made later.`];
    return this.parts.detail(tree, open, columns);
  }
}
