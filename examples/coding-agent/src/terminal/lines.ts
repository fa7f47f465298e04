/** A terminal that is a pipe or dumb: lines in, lines out, nothing is ever erased. */
import { createInterface, type Interface } from 'node:readline';
import { cleared, GATE, type Gate, open, QUIET_MS, ask as register, see, typed, unask } from '../approvals/gate.js';
import type { Panel, Printed, Terminal, TerminalEvents } from './terminal.js';
import { type Paint, paintFor } from './text/paint.js';
import { plain } from './text/plain.js';
import { harmless, type Line, textOf } from './text/spans.js';

/** After so many turns of the event loop, everything that had arrived was read. */
const TURNS = 3;

/** Lines in place of a screen. */
export class Lines implements Terminal {
  readonly paint: Paint = paintFor(false);
  readonly hasFooter = false;
  gate: Gate = GATE;
  readonly #reader: Interface;
  #panel: Panel | undefined;
  /** Whether the answer that is being written ends inside a line. */
  #isInside = false;
  #isClosed = false;
  #turn = 0;

  constructor(
    private readonly input: NodeJS.ReadStream,
    private readonly output: NodeJS.WriteStream,
    private readonly events: TerminalEvents,
  ) {
    this.#reader = createInterface({ input, terminal: false });
    this.#reader.on('line', (text) => this.#line(text));
    this.#reader.on('close', () => {
      if (!this.#isClosed) events.end();
    });
  }

  get columns(): number {
    return this.output.columns || 100;
  }

  print(...lines: readonly Printed[]): void {
    const text = lines.map((line) => shown(typeof line === 'string' ? line : textOf(line).trimEnd()));
    this.#write(`${this.#isInside ? '\n' : ''}${text.join('\n')}\n`, false);
  }

  say(piece: string): void {
    if (piece !== '') this.#write(plain(piece), !piece.endsWith('\n'));
  }

  endSaying(): void {
    if (this.#isInside) this.#write('\n', false);
  }

  unsay(): void {
    this.endSaying();
  }

  live(): void {}

  status(): void {}

  footer(): void {}

  label(): void {}

  panel(panel: Panel | undefined): void {
    this.#panel = panel;
    if (panel === undefined) {
      this.gate = unask(this.gate);
      return;
    }
    this.gate = register(this.gate, panel.id, panel.body.length);
    this.print(...panel.body);
    void this.#asks(panel);
  }

  page(_title: string, lines: readonly Line[]): Promise<void> {
    this.print(...lines);
    return Promise.resolve();
  }

  prefill(): boolean {
    return false;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reader.close();
    this.input.pause();
  }

  /** Asks when the body is written, and what was typed before is read. */
  async #asks(panel: Panel): Promise<void> {
    await new Promise<void>((resolve) => this.output.write('', () => resolve()));
    for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (this.#panel !== panel || this.#isClosed) return;
    this.gate = open(see(this.gate, panel.body.length), panel.id);
    this.print(...panel.ask);
  }

  #line(text: string): void {
    this.gate = typed(cleared(this.gate), this.#now());
    this.events.read();
    this.events.line(text);
    this.gate = cleared(this.gate);
  }

  /**
   * The time of a line, for the gate. A pipe is written by a program, which may answer faster than a person: there only
   * lines that arrive together count as a paste.
   */
  #now(): number {
    if (this.input.isTTY === true) return performance.now();
    setImmediate(() => {
      this.#turn += 1;
    });
    return this.#turn * QUIET_MS;
  }

  #write(text: string, isInside: boolean): void {
    this.#isInside = isInside;
    this.output.write(text);
  }
}

/** A printed text, with its line breaks. */
function shown(text: string): string {
  return text.split('\n').map(harmless).join('\n');
}
