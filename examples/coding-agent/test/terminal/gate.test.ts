/** Which typed lines decide a question: from the bytes of a terminal to the decision. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ask, cleared, type Gate, open, QUIET_MS, quiet, see, submit } from '../../src/approvals/gate.js';
import { type Asks, receive, type Typing, typingWith } from '../../src/terminal/input/typing.js';
import { hold, refutes, SEEDED } from './hold.js';

const FILE = 'gate.test.ts';
const ROWS = 10;
const PAUSE = 50;

/** Something that happens: bytes arrive, the question is drawn, rows are seen, or nothing happens for a while. */
type Event =
  | { readonly type: 'read'; readonly text: string; readonly gap: number }
  | { readonly type: 'drawn' }
  | { readonly type: 'seen'; readonly rows: number }
  | { readonly type: 'pause' };

/** What a mutant leaves out. */
type Mutant = 'origin' | 'end' | 'quiet' | undefined;

/** Plays events against the input and the gate; returns which event decided, and how. */
function play(events: readonly Event[], mutant?: Mutant): { readonly at: number; readonly approves: boolean }[] {
  const decided: { at: number; approves: boolean }[] = [];
  let typing: Typing = { ...typingWith([]), gate: ask(typingWith([]).gate, 'q', ROWS) };
  let now = 1_000;
  let approves = false;
  const set = (gate: Gate): void => {
    typing = { ...typing, gate };
  };
  const submitted = (asked: Asks, state: Typing): Typing => {
    if (asked.type !== 'submit') return state;
    const text = asked.text.trim();
    approves = text === 'y';
    if (text !== 'y' && text !== 'n') return { ...state, gate: cleared(state.gate) };
    let { gate } = asked.typing;
    if (mutant === 'origin' && gate.line !== undefined)
      gate = { ...gate, line: { isEarly: false, isPasted: false, isRushed: false } };
    if (mutant === 'end') gate = see(gate, ROWS);
    return { ...state, gate: submit(gate, approves ? 'approve' : 'settle').gate };
  };
  const settled = (at: number): void => {
    const { gate, decides } = quiet(typing.gate);
    set(gate);
    if (decides !== undefined) decided.push({ at, approves });
  };
  events.forEach((event, at) => {
    if (event.type === 'drawn') set(open(typing.gate, 'q'));
    if (event.type === 'seen') set(see(typing.gate, event.rows));
    if (event.type === 'pause') {
      now += PAUSE;
      settled(at);
    }
    if (event.type !== 'read') return;
    now += event.gap;
    if (event.gap > 2 * QUIET_MS || mutant === 'quiet') settled(at);
    typing = receive(typing, { text: event.text, at: now, columns: 80 }, submitted);
  });
  settled(events.length);
  return decided;
}

const BEGIN = '\u001b[200~';
const END = '\u001b[201~';

const read = fc.record({
  type: fc.constant('read' as const),
  text: fc.constantFrom(
    'y',
    'y',
    'n',
    '\r',
    '\r',
    'x',
    'y\r',
    'y\r\n',
    '\ry\r',
    `${BEGIN}y\r${END}`,
    BEGIN,
    END,
    '\u007f',
    '\u0015',
    '\u0019',
    '\u001b[A',
    '\u001b[D',
    ' ',
    '\n',
  ),
  gap: fc.constantFrom(0, 1, QUIET_MS - 1, QUIET_MS, 30, 120),
});
const happening: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: read },
  { weight: 1, arbitrary: fc.constant({ type: 'drawn' } as const) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('seen' as const), rows: fc.integer({ min: 1, max: ROWS }) }) },
  { weight: 2, arbitrary: fc.constant({ type: 'pause' } as const) },
);
const happenings = fc.array(happening, { maxLength: 30 });

/** The reads that made up the line which decided: from behind the Enter before it, or from the beginning. */
function lineBefore(events: readonly Event[], at: number): { index: number; event: Event & { type: 'read' } }[] {
  const reads = events.slice(0, at).flatMap((event, index) => (event.type === 'read' ? [{ index, event }] : []));
  const enters = reads.filter(({ event }) => event.text.includes('\r'));
  const before = enters.at(-2)?.index ?? -1;
  return reads.filter(({ index }) => index > before);
}

/** How long nothing was read before an event, in milliseconds. */
function silenceBefore(events: readonly Event[], index: number): number {
  const last = events.slice(0, index).findLastIndex(({ type }) => type === 'read');
  if (last < 0) return Number.POSITIVE_INFINITY;
  const event = events[index];
  const pauses = events.slice(last, index).filter(({ type }) => type === 'pause').length;
  return pauses * PAUSE + (event?.type === 'read' ? event.gap : 0);
}

const UP_OR_LEFT = new RegExp(`^${'\u001b'}\\[[AD]$`);

const lawOfOrigin = (mutant?: Mutant) =>
  fc.property(happenings, (events) => {
    for (const { at } of play(events, mutant)) {
      const drawn = events.findIndex(({ type }) => type === 'drawn');
      const line = lineBefore(events, at);
      expect(drawn).toBeGreaterThanOrEqual(0);
      // The keys that decided were single, slow, and behind the drawing: the letter and the Enter at least. The Enter may be
      // as fast as the terminal hands it over: in the read of the letter, or in the next one.
      const keys = line.slice(line.findLastIndex(({ event }) => /^[yn](?:\r\n?)?$/.test(event.text)));
      expect(keys.at(-1)?.event.text).toMatch(/^(?:[yn]?\r\n?)$/);
      for (const { index, event } of keys) {
        expect(index).toBeGreaterThan(drawn);
        const isBehind = keys.length > 1 && index === keys.at(-1)?.index;
        if (!isBehind) expect(silenceBefore(events, index)).toBeGreaterThanOrEqual(QUIET_MS);
        expect([...event.text.replace(UP_OR_LEFT, 'k').replace(/^([yn])\r\n?$/, '$1')]).toHaveLength(1);
      }
      const whole = events
        .slice(0, at)
        .flatMap((event) => (event.type === 'read' ? [event.text] : []))
        .join('');
      expect(whole.lastIndexOf(BEGIN)).toBeLessThanOrEqual(whole.lastIndexOf(END)); // no paste is open
    }
  });

const lawOfTheEnd = (mutant?: Mutant) =>
  fc.property(happenings, (events) => {
    for (const { at, approves } of play(events, mutant)) {
      const seen = events.slice(0, at).some((event) => event.type === 'seen' && event.rows >= ROWS);
      expect(approves && !seen).toBe(false);
    }
  });

const lawOfQuiet = (mutant?: Mutant) =>
  fc.property(happenings, (events) => {
    for (const { at } of play(events, mutant)) {
      const next = events[at];
      if (next?.type === 'read') expect(silenceBefore(events, at)).toBeGreaterThanOrEqual(QUIET_MS);
    }
  });

describe('what decides a question', () => {
  it.each([
    ['in one read', [['y\r', 100]], undefined],
    [
      'in two reads, one right behind the other',
      [
        ['y', 100],
        ['\r', 101],
      ],
      undefined,
    ],
    [
      'right behind other input',
      [
        ['x', 99],
        ['\u007f', 99],
        ['y', 100],
        ['\r', 101],
      ],
      'pasted',
    ],
    [
      'behind two characters',
      [
        ['y', 100],
        ['y', 101],
        ['\r', 102],
      ],
      'pasted',
    ],
  ] as const)('y and its Enter that arrive %s are judged by how the y came', (_, reads, refused) => {
    let typing = typingWith([]);
    typing = { ...typing, gate: open(ask(typing.gate, 'q', 0), 'q') };
    const found: unknown[] = [];
    for (const [text, at] of reads)
      typing = receive(typing, { text, at, columns: 80 }, (asked, next) => {
        if (asked.type === 'submit') found.push(submit(asked.typing.gate, 'settle').refused);
        return next;
      });
    expect(found).toEqual([refused]);
  });

  it(`no bytes from before the question was drawn decide it, and no paste does, ${SEEDED}`, () => {
    hold(lawOfOrigin(), FILE, 5_000);
    expect(refutes(lawOfOrigin('origin'), 20_000)).toBe(true);
  });

  it(`an approval before the end was on the screen never counts, ${SEEDED}`, () => {
    hold(lawOfTheEnd(), FILE, 5_000);
    expect(refutes(lawOfTheEnd('end'), 20_000)).toBe(true);
  });

  it(`a line that is followed at once was part of a paste, and decides nothing, ${SEEDED}`, () => {
    hold(lawOfQuiet(), FILE, 5_000);
    expect(refutes(lawOfQuiet('quiet'), 20_000)).toBe(true);
  });

  it(`keys typed one by one behind the question decide it, and so do a letter and Enter that are read at once, ${SEEDED}`, () => {
    hold(
      fc.property(fc.array(read, { maxLength: 8 }), fc.boolean(), fc.boolean(), (before, approves, atOnce) => {
        // What came before ends outside a paste, with an empty line.
        const empty: Event[] = [END, '\u0015', '\r'].map((text) => ({ type: 'read', text, gap: 100 }));
        const typed: Event[] = (approves ? ['y', '\r'] : ['n', '\r']).map((text) => ({ type: 'read', text, gap: 60 }));
        if (atOnce) typed.splice(0, 2, { type: 'read', text: approves ? 'y\r' : 'n\r', gap: 60 });
        const events: Event[] = [...before, ...empty, { type: 'drawn' }, { type: 'seen', rows: ROWS }, ...typed];
        expect(play(events)).toEqual([{ at: events.length, approves }]);
      }),
      FILE,
    );
  });
});
