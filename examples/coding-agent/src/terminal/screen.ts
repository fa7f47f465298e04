/**
 * A terminal that is drawn: printed lines stay and scroll away; below them is the lower part, which is drawn anew.
 *
 * Owns: the lower part (the answer that is being written, the panel of a question, the input), the modes of the
 * terminal, the pager. Does not own: what typed lines mean (`chat.ts`), and which of them decide (`approvals/gate.ts`).
 *
 * Invariants
 * S1  Printed text never mixes with the lower part: one write erases it, prints, and draws it again.
 * S2  The lower part is never higher than the screen, and no row is wider: the cursor is always where it is believed
 *     to be.
 * S3  A question is drawn only after its body was drawn, and after the input that came before was read.
 * S4  The terminal is left as it was found, however the program ends.
 */
import { StringDecoder } from 'node:string_decoder';
import { cleared, type Gate, isSeen, open, ask as register, remeasure, see, unask } from '../approvals/gate.js';
import { withText } from './input/editor.js';
import { decode, settle } from './input/keys.js';
import { layout, shownRow } from './input/layout.js';
import { type Asks, receive, receiveRest, type Typing, typingWith } from './input/typing.js';
import { MarkdownStream } from './markdown.js';
import { openPager, type Pager, resized, rowsOf, screenOf, seenRows, turn } from './pager.js';
import type { Panel, Printed, Terminal, TerminalEvents } from './terminal.js';
import { type Paint, paintFor } from './text/paint.js';
import { brokenUp, CONTINUED, type Line, lineWidth, painted, span, wrapped } from './text/spans.js';
import { fitting } from './text/width.js';

/** Draws are at least this far apart, unless a key was pressed, in milliseconds. */
const DRAW_MS = 16;
/** How long an escape character may stand alone before it is the key, in milliseconds. */
const ESCAPE_MS = 50;
/**
 * How long a body stands before its question is drawn, in milliseconds: what a person was typing when it appeared comes
 * before the question, and counts as typed before.
 */
const DRAIN_MS = 120;
/** How many rows of changing lines are shown. */
const LIVE_ROWS = 8;

/** Bracketed paste, and keys that say whether Shift was held, where the terminal knows them. */
const MODES_ON = '\u001b[?2004h\u001b[>1u';
const MODES_OFF = '\u001b[<u\u001b[?2004l\u001b[?25h';
/** The other screen, without a cursor. */
const PAGER_ON = '\u001b[?1049h\u001b[?25l';
const SYNC = ['\u001b[?2026h', '\u001b[?2026l'] as const;

/** A screen. */
export class Screen implements Terminal {
  readonly paint: Paint;
  readonly hasFooter = true;
  #typing: Typing;
  readonly #decoder = new StringDecoder('utf8');
  readonly #stream = new MarkdownStream();
  #saying = false;
  #live: readonly Line[] = [];
  #status = '';
  #footer = '';
  #label: Line = [];
  #panel: Panel | undefined;
  #isAsking = false;
  #pager: { state: Pager; isPanel: boolean; done: () => void } | undefined;
  /** The rows of the lower part as they were drawn, and the row of the cursor in them. */
  #drawn: { widths: readonly number[]; row: number } = { widths: [], row: 0 };
  /** What waits to be printed. */
  #queue = '';
  #timer: NodeJS.Timeout | undefined;
  #escape: NodeJS.Timeout | undefined;
  #lastDraw = 0;
  #isFirstRead = true;
  #isClosed = false;
  #isSuspended = false;
  readonly #restore = (): void => void (this.#isClosed || this.output.write(MODES_OFF));

  constructor(
    private readonly input: NodeJS.ReadStream,
    private readonly output: NodeJS.WriteStream,
    private readonly events: TerminalEvents,
    options: { readonly colors: boolean; readonly history: readonly string[] },
  ) {
    this.paint = paintFor(options.colors);
    this.#typing = typingWith(options.history);
    input.setRawMode(true);
    input.on('data', (bytes: Buffer) => this.#read(bytes));
    input.on('end', () => !this.#isClosed && events.end());
    output.on('resize', () => this.#resize());
    process.on('exit', this.#restore); // S4
    process.on('SIGCONT', this.#continued);
    output.write(MODES_ON);
    input.resume();
  }

  get gate(): Gate {
    return this.#typing.gate;
  }

  set gate(gate: Gate) {
    this.#typing = { ...this.#typing, gate };
  }

  get columns(): number {
    return Math.max(20, this.output.columns || 80);
  }

  get #height(): number {
    return Math.max(6, this.output.rows || 24);
  }

  print(...lines: readonly Printed[]): void {
    if (this.#saying) this.#flushAnswer();
    for (const line of lines.flatMap((one) => brokenUp(typeof one === 'string' ? [span(one)] : one)))
      this.#queue += this.#rows(line);
    this.#draw();
  }

  say(piece: string): void {
    this.#saying = true;
    this.#stream.push(piece);
    this.#draw();
  }

  endSaying(): void {
    if (!this.#saying) return;
    this.#saying = false;
    for (const row of this.#stream.end(this.columns)) this.#queue += `${painted(row, this.paint)}\n`;
    this.#draw();
  }

  unsay(): void {
    this.#saying = false;
    this.#stream.end(this.columns);
    this.#draw();
  }

  live(lines: readonly Line[]): void {
    this.#live = lines;
    this.#draw();
  }

  status(text: string): void {
    if (this.#status === text) return;
    this.#status = text;
    this.#draw();
  }

  footer(text: string): void {
    if (this.#footer === text) return;
    this.#footer = text;
    this.#draw();
  }

  label(line: Line): void {
    this.#label = line;
    this.#draw();
  }

  panel(panel: Panel | undefined): void {
    this.#panel = panel;
    this.#isAsking = false;
    this.gate = panel === undefined ? unask(this.gate) : register(this.gate, panel.id, this.#bodyRows(panel).length);
    this.#drawNow();
    if (panel !== undefined) void this.#asks(panel);
  }

  page(title: string, lines: readonly Line[], isPanel = false): Promise<void> {
    return new Promise((done) => {
      const atEnd = isPanel ? 'q goes back to the question' : 'q goes back';
      this.#pager?.done();
      const size = { columns: this.columns, height: this.#height };
      const isNew = this.#pager === undefined;
      this.#pager = { state: openPager({ title, lines, atEnd, ...size }), isPanel, done };
      if (isNew) this.output.write(PAGER_ON);
      this.#drawPager();
    });
  }

  prefill(text: string): boolean {
    this.#typing = { ...this.#typing, editor: withText(this.#typing.editor, text) };
    this.#drawNow();
    return true;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#closePager();
    clearTimeout(this.#timer);
    clearTimeout(this.#escape);
    this.output.write(`${this.#erased()}${this.#queue}${MODES_OFF}`);
    this.#isClosed = true;
    process.off('exit', this.#restore);
    process.off('SIGCONT', this.#continued);
    this.input.setRawMode(false);
    this.input.pause();
  }

  /** Suspends the program, and draws again when it goes on. */
  #suspend(): void {
    this.output.write(`${this.#erased()}${MODES_OFF}`);
    this.#drawn = { widths: [], row: 0 };
    this.input.setRawMode(false);
    this.#isSuspended = true;
    // The group, as a terminal does it: under npm, the shell waits for npm, which would wait for this process.
    process.kill(0, 'SIGTSTP');
  }

  /**
   * The program goes on, however it was stopped. Nothing is drawn before the terminal gives single keys again: a person who
   * answers what is on the screen would be heard as a paste.
   */
  readonly #continued = (): void => {
    this.#isSuspended = false;
    this.input.setRawMode(false); // what the platform believes of the terminal is no longer so
    this.input.setRawMode(true);
    this.output.write(`${MODES_ON}${this.#pager === undefined ? '' : PAGER_ON}`);
    this.#resize();
  };

  /** S3 */
  async #asks(panel: Panel): Promise<void> {
    await new Promise<void>((resolve) => this.output.write('', () => resolve()));
    await new Promise((resolve) => setTimeout(resolve, DRAIN_MS));
    await new Promise((resolve) => setImmediate(resolve)); // what arrived meanwhile was read just before
    if (this.#panel !== panel || this.#isClosed) return;
    this.#isAsking = true;
    this.gate = open(this.gate, panel.id);
    this.#drawNow();
  }

  #read(bytes: Buffer): void {
    const text = this.#isFirstRead ? typedAhead(this.#decoder.write(bytes)) : this.#decoder.write(bytes);
    const read = { text, at: performance.now(), columns: this.#inputColumns };
    this.#isFirstRead = false;
    clearTimeout(this.#escape);
    if (this.#pager !== undefined) return this.#readPager(read.text);
    this.#typing = receive(this.#typing, read, (asked, typing) => this.#answer(asked, typing));
    this.events.read();
    if (this.#typing.decoding.pending !== '') this.#escape = setTimeout(() => this.#readRest(), ESCAPE_MS);
    this.#drawNow();
  }

  #readRest(): void {
    const read = { at: performance.now(), columns: this.#inputColumns };
    this.#typing = receiveRest(this.#typing, read, (asked, typing) => this.#answer(asked, typing));
    this.#drawNow();
  }

  #answer(asked: Asks, typing: Typing): Typing {
    this.#typing = typing;
    switch (asked.type) {
      case 'submit':
        this.#typing = { ...typing, gate: asked.typing.gate };
        this.#submitted(asked.text);
        this.gate = cleared(this.gate);
        break;
      case 'interrupt':
        if (!this.#dropTyped()) this.events.interrupt();
        break;
      case 'escape':
        if (!this.#dropTyped()) this.events.escape();
        break;
      case 'complete':
        this.#complete();
        break;
      case 'expand':
        this.events.expand();
        break;
      case 'suspend':
        this.#suspend();
        break;
      case 'redraw':
        this.output.write('\u001b[2J\u001b[H');
        this.#drawn = { widths: [], row: 0 };
        break;
      case 'end':
        this.events.end();
        break;
      case 'key':
        if (this.#panel !== undefined && !(asked.name === ' ' && isSeen(this.gate))) this.events.view();
        else if (asked.name === ' ') this.#typing = { ...typing, editor: withText(typing.editor, ' ') };
    }
    return this.#typing;
  }

  #submitted(text: string): void {
    if (!this.events.line(text)) return;
    const { editor } = this.#typing;
    const history = text === editor.history.at(-1) ? editor.history : [...editor.history, text];
    this.#typing = { ...this.#typing, editor: { ...editor, history } };
  }

  #dropTyped(): boolean {
    const { editor } = this.#typing;
    if (editor.text === '') return false;
    this.#typing = { ...this.#typing, editor: withText(editor, ''), gate: cleared(this.#typing.gate) };
    this.events.dropped();
    return true;
  }

  #complete(): void {
    const { editor } = this.#typing;
    const names = this.events.complete(editor.text);
    const [first = ''] = names;
    const common = names.reduce((found, name) => {
      let end = 0;
      while (end < found.length && found[end] === name[end]) end += 1;
      return found.slice(0, end);
    }, first);
    const text = names.length === 1 ? `${first} ` : common;
    if (text.length > editor.text.length) this.#typing = { ...this.#typing, editor: withText(editor, text) };
    else if (names.length > 1) this.print([span(names.join('  '), 'dim')]);
  }

  #readPager(text: string): void {
    const { decoding, inputs } = decode(this.#typing.decoding, text);
    const alone = inputs.length === 0 && decoding.pending === '\u001b';
    this.#typing = { ...this.#typing, decoding: alone ? { ...decoding, pending: '' } : decoding };
    // What has not ended by then is no key: it does not swallow the next one.
    if (this.#typing.decoding.pending !== '') this.#escape = setTimeout(() => this.#dropRest(), ESCAPE_MS);
    const keys = alone ? [{ kind: 'key', name: 'escape' } as const] : inputs;
    for (const input of keys) {
      if (this.#pager === undefined) return;
      const next = turn(this.#pager.state, input);
      if (next === undefined) this.#closePager();
      else this.#pager.state = next;
    }
    if (this.#pager !== undefined) this.#drawPager();
  }

  #dropRest(): void {
    this.#typing = { ...this.#typing, decoding: settle(this.#typing.decoding).decoding };
  }

  #drawPager(): void {
    if (this.#pager === undefined || this.#isSuspended) return;
    const { state, isPanel } = this.#pager;
    const rows = screenOf(state).map((row) => `${painted(row, this.paint)}\u001b[K`);
    this.output.write(`${SYNC[0]}\u001b[H${rows.join('\r\n')}${SYNC[1]}`);
    // The page breaks lines elsewhere than the panel, so only its end counts.
    if (isPanel && seenRows(state) >= rowsOf(state).length) this.gate = see(this.gate, this.gate.asked?.rows ?? 0);
  }

  #closePager(): void {
    if (this.#pager === undefined) return;
    const { done } = this.#pager;
    this.#pager = undefined;
    this.output.write('\u001b[?1049l\u001b[?25h');
    this.#drawNow();
    done();
  }

  #resize(): void {
    if (this.#panel !== undefined) this.gate = remeasure(this.gate, this.#bodyRows(this.#panel).length);
    if (this.#pager !== undefined) {
      this.#pager.state = resized(this.#pager.state, this.columns, this.#height);
      this.#drawPager();
    } else this.#drawNow();
  }

  #flushAnswer(): void {
    for (const row of this.#stream.take(this.columns)) this.#queue += `${painted(row, this.paint)}\n`;
  }

  /** A printed line as rows; blanks at its beginning stand before each. */
  #rows(line: Line): string {
    const blanks = /^ */.exec(line[0]?.text ?? '')?.[0] ?? '';
    const rows = wrapped(line, this.columns, { words: true, indent: [span(blanks)] });
    return rows.map((row) => `${painted(row, this.paint)}\n`).join('');
  }

  #draw(): void {
    if (this.#timer !== undefined) return;
    const wait = Math.max(0, this.#lastDraw + DRAW_MS - performance.now());
    this.#timer = setTimeout(() => this.#drawNow(), wait);
  }

  /** S1 */
  #drawNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isClosed || this.#isSuspended || this.#pager !== undefined) return;
    this.#lastDraw = performance.now();
    if (this.#saying) this.#flushAnswer();
    const erased = this.#erased();
    const { rows, cursor } = this.#lower();
    const text = rows.map((row) => painted(row, this.paint)).join('\n');
    const up = rows.length - 1 - cursor.row;
    const back = `${up > 0 ? `\u001b[${up}A` : ''}\r${cursor.column > 0 ? `\u001b[${cursor.column}C` : ''}`;
    this.output.write(`${SYNC[0]}${erased}${this.#queue}${text}${back}${SYNC[1]}`);
    this.#queue = '';
    this.#drawn = { widths: rows.map(lineWidth), row: cursor.row };
  }

  /** Moves to the beginning of the lower part, and erases it. After a change of size, its rows may have been broken. */
  #erased(): string {
    const { columns } = this;
    const above = this.#drawn.widths.slice(0, this.#drawn.row);
    const up = above.reduce((rows, width) => rows + Math.max(1, Math.ceil(width / columns)), 0);
    return `${up > 0 ? `\u001b[${up}A` : ''}\r\u001b[J`;
  }

  get #inputColumns(): number {
    return Math.max(8, this.columns - lineWidth(this.#label) - 1);
  }

  /** S2: the rows of the lower part, and the place of the cursor in them. */
  #lower(): { rows: readonly Line[]; cursor: { row: number; column: number } } {
    const { columns } = this;
    const input = this.#inputRows(Math.max(1, Math.floor(this.#height / 3)));
    const footer = this.#footer === '' ? [] : [[span(fitting(this.#footer, columns - 1), 'dim')]];
    const status = this.#status === '' ? [] : [[span(fitting(this.#status, columns - 1), 'dim')]];
    let left = this.#height - 1 - input.rows.length - footer.length - status.length;
    const panel = this.#panelRows(left);
    left -= panel.length;
    const live = this.#liveRows().slice(-Math.max(0, Math.min(left, this.#saying ? left : LIVE_ROWS)));
    const above = [...(left > 0 ? live : []), ...panel, ...status];
    return {
      rows: [...above, ...input.rows, ...footer],
      cursor: { row: above.length + input.row, column: input.column },
    };
  }

  #liveRows(): readonly Line[] {
    const answer = this.#saying ? this.#stream.live(this.columns - 1) : [];
    return [...answer, ...this.#live.flatMap((line) => wrapped(line, this.columns - 1))];
  }

  #bodyRows({ body }: Panel): readonly Line[] {
    return body.flatMap((line) => wrapped(line, this.columns - 1, { indent: [...line.slice(0, 1), CONTINUED] }));
  }

  /** The panel in so many rows: as much of the body as there is room for, then the question. */
  #panelRows(room: number): readonly Line[] {
    const panel = this.#panel;
    if (panel === undefined) return [];
    const asked = panel.ask.flatMap((line) => wrapped(line, this.columns - 1, { words: true, indent: [span('  ')] }));
    const ask = this.#isAsking ? asked : asked.map((): Line => []);
    const body = this.#bodyRows(panel);
    const fits = Math.max(0, room - ask.length);
    if (body.length <= fits) {
      this.gate = see(this.gate, body.length);
      return [...body, ...ask];
    }
    const shown = body.slice(0, Math.max(0, fits - 1));
    this.gate = see(this.gate, shown.length);
    const left = body.length - shown.length;
    const more = isSeen(this.gate)
      ? [span(`  … ${left} more rows, which you have seen`, 'dim')]
      : [span(`  … ${left} more rows: Space reads on`, 'yellow')];
    return [...shown, more, ...ask];
  }

  /** The typed text in at most so many rows, the cursor among them. */
  #inputRows(most: number): { rows: readonly Line[]; row: number; column: number } {
    const { editor } = this.#typing;
    const laid = layout(editor.text, editor.cursor, this.#inputColumns);
    const mark = lineWidth(this.#label);
    const first = Math.max(0, Math.min(laid.row - most + 1, laid.rows.length - most));
    const rows = laid.rows.slice(first, first + most).map((row, i) => {
      const isFirst = first + i === 0;
      return [...(isFirst ? this.#label : [span(' '.repeat(mark))]), ...shownRow(row)];
    });
    return { rows, row: laid.row - first, column: mark + laid.column };
  }
}

/** A line that was typed before the program read keys: there, the terminal ends it with a line feed. */
function typedAhead(text: string): string {
  const isLine = text.length > 1 && text.indexOf('\n') === text.length - 1 && !text.includes('\u001b');
  return isLine ? `${text.slice(0, -1)}\r` : text;
}
