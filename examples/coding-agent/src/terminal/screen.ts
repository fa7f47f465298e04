/**
 * The terminal: printed lines stay; below them are the line that is being streamed, a status line, and the input line.
 *
 * Owns: the layout, and the typed lines. Does not own: what they mean (`chat.ts`).
 *
 * Invariants
 * S1  Printed text never mixes with typed text: one write erases the lower part, prints the text, and draws the
 *     lower part again.
 * S2  Without a terminal, lines are written as they are, and nothing is ever erased.
 */
import { createInterface, type Interface } from 'node:readline';
import { columnsOf, fitting, type Paint, paintFor, wrapped } from './paint.js';

/** The callbacks of a screen. */
export interface ScreenEvents {
  line(text: string): void;
  interrupt(): void;
  /** The input has ended. */
  end(): void;
}

/** A terminal, or a pipe in its place. */
export class Screen {
  readonly paint: Paint;
  readonly #reader: Interface;
  readonly #isTerminal: boolean;
  /** The part of the streamed line that has arrived. */
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

  /** Adds to the streamed line. Complete lines are printed; other lines printed meanwhile appear above it. */
  say(piece: string): void {
    const said = this.#saying + piece;
    const text = this.#isTerminal ? wrapped(said, this.output.columns || 80) : said;
    const end = text.lastIndexOf('\n') + 1;
    this.#write(text.slice(0, end), () => {
      this.#saying = text.slice(end);
    });
  }

  /** Ends the streamed line. */
  endSaying(): void {
    if (this.#saying !== '') this.say('\n');
  }

  /** Sets the status: the current activity, or an empty text. */
  status(text: string): void {
    if (this.#status === text) return;
    this.#write('', () => {
      this.#status = text;
    });
  }

  /** Sets the prompt of the input line. */
  label(text: string): void {
    this.#write('', () => {
      this.#label = text;
    });
  }

  /** Puts a text into the input line, to be edited. */
  prefill(text: string): void {
    if (this.#isTerminal) this.#reader.write(text);
  }

  /** Whether a text can be put into the input line. */
  get canPrefill(): boolean {
    return this.#isTerminal;
  }

  /** Clears the input line; false if it was empty. */
  clearTyped(): boolean {
    if (!this.#isTerminal || this.#reader.line === '') return false;
    this.#reader.write(null, { ctrl: true, name: 'e' });
    this.#reader.write(null, { ctrl: true, name: 'u' });
    return true;
  }

  /** Erases the lower part, and accepts no more lines. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isTerminal) this.output.write(this.#taken());
    this.#reader.close();
    this.input.pause();
  }

  /** Turns the typed line into a printed line. */
  #typed(text: string): void {
    const shown = text.trim() === '' ? '' : `${this.paint.cyan('›')} ${text}\n`;
    if (!this.#isTerminal) {
      this.output.write(shown);
      return;
    }
    // The cursor is at the beginning of the row below the typed text.
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
    // Before readline writes, it moves up by the rows of the typed text, so these rows are added here.
    this.output.write(`${taken}${text}${this.#above()}${'\n'.repeat(rows)}`);
    this.#reader.setPrompt(this.#label);
    this.#reader.prompt(true);
  }

  /** Erases the lower part. */
  #taken(): string {
    return `${up(this.#rowsAbove() + this.#reader.getCursorPos().rows)}\r\u001b[J`;
  }

  /** The lines above the input line. */
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
