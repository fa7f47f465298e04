/**
 * The terminal: what was printed stays; below it stand the line that is being said, a status, and what the person types.
 *
 * Owns: what stands where, and the lines that are typed. Does not own: what any of it means (`chat.ts`).
 *
 * Invariants
 * S1  What is printed never mixes with what is typed: the lower part is taken away, the text written, and the lower part
 *     put back, in one write.
 * S2  Where there is no terminal, lines are written as they are, and nothing is ever taken away.
 */
import { createInterface, type Interface } from 'node:readline';
import { columnsOf, fitting, type Paint, paintFor, wrapped } from './paint.js';

/** What a screen tells. */
export interface ScreenEvents {
  line(text: string): void;
  interrupt(): void;
  /** Nothing more will be typed. */
  end(): void;
}

/** A terminal, or what stands in its place. */
export class Screen {
  readonly paint: Paint;
  readonly #reader: Interface;
  readonly #isTerminal: boolean;
  /** The line that is being said, as far as it was. */
  #saying = '';
  #status = '';
  #label = '';
  #isClosed = false;

  constructor(
    private readonly input: NodeJS.ReadStream,
    private readonly output: NodeJS.WriteStream,
    events: ScreenEvents,
  ) {
    this.#isTerminal = input.isTTY === true && output.isTTY === true;
    this.paint = paintFor(this.#isTerminal && process.env.NO_COLOR === undefined);
    this.#reader = createInterface({ input, output, terminal: this.#isTerminal, prompt: '', historySize: 500 });
    this.#reader.on('line', (text) => {
      this.#typed(text);
      events.line(text);
    });
    this.#reader.on('SIGINT', () => events.interrupt());
    this.#reader.on('close', () => {
      if (!this.#isClosed) events.end();
    });
  }

  /** Prints lines. */
  print(...lines: readonly string[]): void {
    this.#write(`${lines.join('\n')}\n`);
  }

  /** Goes on with the line that is being said; whole lines are printed, and what is printed meanwhile stands above it. */
  say(piece: string): void {
    const said = this.#saying + piece;
    const text = this.#isTerminal ? wrapped(said, this.output.columns || 80) : said;
    const end = text.lastIndexOf('\n') + 1;
    this.#write(text.slice(0, end), () => {
      this.#saying = text.slice(end);
    });
  }

  /** Ends the line that is being said. */
  endSaying(): void {
    if (this.#saying !== '') this.say('\n');
  }

  /** What is under way; empty when nothing is. */
  status(text: string): void {
    if (this.#status === text) return;
    this.#write('', () => {
      this.#status = text;
    });
  }

  /** What stands before what is typed. */
  label(text: string): void {
    this.#write('', () => {
      this.#label = text;
    });
  }

  /** Puts a text where the person types, to be changed. */
  prefill(text: string): void {
    if (this.#isTerminal) this.#reader.write(text);
  }

  /** Whether a text can be put where the person types. */
  get canPrefill(): boolean {
    return this.#isTerminal;
  }

  /** Takes away what is typed; false when nothing was. */
  clearTyped(): boolean {
    if (!this.#isTerminal || this.#reader.line === '') return false;
    this.#reader.write(null, { ctrl: true, name: 'e' });
    this.#reader.write(null, { ctrl: true, name: 'u' });
    return true;
  }

  /** Takes the lower part away, and no lines any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isTerminal) this.output.write(this.#taken());
    this.#reader.close();
    this.input.pause();
  }

  /** The line as it was typed becomes part of what was printed. */
  #typed(text: string): void {
    const shown = text.trim() === '' ? '' : `${this.paint.cyan('›')} ${text}\n`;
    if (!this.#isTerminal) {
      this.output.write(shown);
      return;
    }
    // The cursor stands at the beginning of the row below what was typed.
    const rows = this.#rowsOf(`${this.#label}${text}`);
    this.output.write(`${up(rows + this.#rowsAbove())}\r\u001b[J${shown}${this.#above()}`);
    this.#reader.setPrompt(this.#label);
    this.#reader.prompt();
  }

  /** S1 */
  #write(text: string, change: () => void = () => undefined): void {
    if (this.#isClosed || !this.#isTerminal) {
      change();
      if (text !== '') this.output.write(text);
      return;
    }
    const taken = this.#taken();
    const { rows } = this.#reader.getCursorPos();
    change();
    // The reader goes up by the rows of what was typed before it writes: they are given to it.
    this.output.write(`${taken}${text}${this.#above()}${'\n'.repeat(rows)}`);
    this.#reader.setPrompt(this.#label);
    this.#reader.prompt(true);
  }

  /** Takes the lower part away. */
  #taken(): string {
    return `${up(this.#rowsAbove() + this.#reader.getCursorPos().rows)}\r\u001b[J`;
  }

  /** What stands above what is typed. */
  #above(): string {
    return this.#lines()
      .map((line) => `${line}\n`)
      .join('');
  }

  #rowsAbove(): number {
    return this.#lines().reduce((rows, line) => rows + this.#rowsOf(line), 0);
  }

  #lines(): string[] {
    const { columns = 80 } = this.output;
    return [this.#saying, this.paint.dim(fitting(this.#status, columns - 1))].filter((line) => line !== '');
  }

  #rowsOf(line: string): number {
    return Math.max(1, Math.ceil(columnsOf(line) / (this.output.columns || 80)));
  }
}

function up(rows: number): string {
  return rows === 0 ? '' : `\u001b[${rows}A`;
}
