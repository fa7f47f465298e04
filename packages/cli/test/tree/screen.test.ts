/** The screen of a tree as rows, and what keys do to it: pure, from facts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { TreeFold } from '@reprise/tree';
import { describe, expect, it } from 'vitest';
import { Facts, surveyed, textOf } from '../../../tree/test/views/facts.js';
import { Past } from '../../src/tree/past.js';
import { draw } from '../../src/tree/screen/draw.js';
import { keysIn } from '../../src/tree/screen/keys.js';
import { BEGINNING, press, type ScreenState } from '../../src/tree/screen/state.js';

const tree = surveyed().view();
const size = { now: tree.newest.at, textOf: () => '41 files', detail: [], runs: true, newest: tree.newest.frame };

function rowsOf(state: ScreenState, columns: number, rows = 20, view = tree): readonly string[] {
  return draw(view, state, { ...size, columns, rows }).map(({ text }) => text);
}

/** The screen after keys, and the last wish. */
function after(keys: string, state = BEGINNING, runs = true) {
  let wish: unknown;
  for (const key of keysIn(keys).keys) {
    const pressed = press(state, key, tree, runs);
    state = pressed.state;
    wish = pressed.wish ?? wish;
  }
  return { state, wish };
}

/** All wishes of keys. */
function wishes(keys: string): readonly unknown[] {
  return Array.from(keys, (_, i) => after(keys.slice(0, i + 1)).wish);
}

const [ENTER, DOWN, UP, ESCAPE, CTRL_C] = ['\r', '\u001b[B', '\u001b[A', '\u001b', '\u0003'];
const [LEFT, RIGHT] = ['\u001b[D', '\u001b[C'];

describe('the screen of a tree', () => {
  it.each([80, 120])(
    'the screen at %i columns shows head, questions, nodes and keys as the golden file has them',
    (columns) => {
      const { state } = after(DOWN.repeat(2));
      const rows = rowsOf(state, columns);
      for (const row of rows) expect([...row].length).toBeLessThanOrEqual(columns);
      const text = `${rows.join('\n')}\n`;
      const path = new URL(`./golden/screen-${columns}.txt`, import.meta.url);
      if (process.env.GOLDEN_UPDATE === '1') writeFileSync(path, text);
      expect(text).toBe(readFileSync(path, 'utf8'));
    },
  );

  it('the screen always has as many rows as the terminal, and shows the selected node', () => {
    const facts = new Facts().start('Many').node(1, { type: 'goal', parent: null, status: 'active', run: 'live' });
    for (let n = 2; n <= 150; n++) facts.node(n, { goal: `Part ${n}` });
    const view = facts.view();
    for (const rows of [8, 24, 60]) {
      const drawn = rowsOf({ ...BEGINNING, selected: 120 }, 80, rows, view);
      expect(drawn).toHaveLength(rows);
      expect(drawn.filter((row) => row.startsWith('❯'))).toEqual([expect.stringContaining('#120')]);
    }
  });

  it.each([
    [80, 24],
    [60, 16],
  ])(
    'nothing is cut at %i×%i of the head, the options of questions, costs, notes, keys and advice',
    (columns, rows) => {
      const message = 'no reprise tree runs this world; unless an app does: reprise tree continue survey';
      const shown = rowsOf({ ...BEGINNING, message }, columns, rows);
      expect(shown).toHaveLength(rows);
      for (const row of shown) expect([...row].length).toBeLessThanOrEqual(columns);
      const text = shown.map((row) => row.trim()).join(' ');
      for (const whole of [
        'survey · ● running · 00:17 · 3 of 9 ended · 1 at work · $0.31 of $5.00',
        '[1] yes   [2] no   [3] until 2.0 (default)',
        message,
        '⏎ open  a answer',
        'q leave  ? help',
      ])
        expect(text.replaceAll(/ {2,}/g, ' ')).toContain(whole.replaceAll(/ {2,}/g, ' '));
      const all = Array.from({ length: 10 }, (_, i) => rowsOf({ ...BEGINNING, selected: i + 1 }, columns, rows)).flat();
      for (const part of ['$0.09', '$0.04', 'blocked-by: #3, #4', 'timeout', 'attempt 2'])
        expect(all.some((row) => row.endsWith(part) || row.includes(`${part} `))).toBe(true);
      expect(all.filter((row) => row.startsWith(' ? ') && row.includes('…'))).toEqual([]);
    },
  );

  it.each([60, 80, 120])(
    'a question mark shows all keys in words at %i columns, and any key but an arrow ends that',
    (columns) => {
      const { state } = after('?');
      const shown = rowsOf(state, columns, 16);
      for (const row of shown) expect(row).not.toContain('…');
      const text = shown.join('\n');
      for (const words of [
        'answer its question',
        'tell the node',
        'add a child',
        'stop the node',
        'pause it',
        'retry it',
        'read the node',
        'show the nodes',
        'the frames before',
        'leave:',
      ])
        expect(text).toContain(words);
      expect(after(`?${DOWN}`).state.help).toBe(1);
      expect(after('?s')).toEqual({ state: BEGINNING, wish: undefined });
      expect(after(`?${CTRL_C}`).state.confirm).toEqual({ what: 'leave' });
    },
  );

  it('a tree that no process runs does not say that it runs, except as it was in an earlier frame', () => {
    const shown = (at: number | null) =>
      draw(tree, { ...BEGINNING, at }, { ...size, columns: 80, rows: 24, isUnowned: true }).map(({ text }) => text);
    expect(shown(null).join('\n')).toContain('○ no process runs it');
    expect(shown(null).join('\n')).not.toMatch(/running/);
    expect(shown(null).join('\n')).toContain('reprise tree continue survey goes on');
    expect(shown(5)[0]).toContain('● running');
  });

  it('keys move the selection, and stop at both ends', () => {
    expect(after(DOWN).state.selected).toBe(2);
    expect(after(UP).state.selected).toBe(1);
    expect(after(DOWN.repeat(50)).state.selected).toBe(10);
    expect(after(`${DOWN}${DOWN}${ENTER}`).state.open).toEqual({ n: 3, from: 0, launch: null });
  });

  it('keys become acts on the selected node; a stop is confirmed, a retry needs an end, a question takes its options only', () => {
    expect(after(`${DOWN}s`).wish).toBeUndefined();
    expect(after(`${DOWN}${DOWN}sy`).wish).toEqual({ do: 'act', verb: 'stop', n: 3 });
    expect(after(`${DOWN}${DOWN}s${ESCAPE}`)).toMatchObject({ wish: undefined, state: { confirm: null } });
    expect(after(`${DOWN}${DOWN}p`).wish).toEqual({ do: 'act', verb: 'pause', n: 3 });
    expect(after(`${DOWN}${DOWN}r`)).toMatchObject({ wish: undefined, state: { message: '#3 has not ended' } });
    expect(after(`${DOWN}r`).wish).toEqual({ do: 'act', verb: 'retry', n: 2 });
    expect(after(`a3${ENTER}`).wish).toEqual({ do: 'act', verb: 'answer', n: 8, text: 'until 2.0' });
    expect(after(`amaybe${ENTER}`)).toMatchObject({
      wish: undefined,
      state: { message: '"maybe" is not one of the options' },
    });
    expect(after(`tHello there${ENTER}`).wish).toEqual({ do: 'act', verb: 'tell', n: 1, text: 'Hello there' });
    expect(after(`nA child${ENTER}`).wish).toEqual({ do: 'act', verb: 'add', n: 1, text: 'A child' });
    expect(after(`t  ${ENTER}`).wish).toBeUndefined();
  });

  it('⏎ alone answers a question with its default, and keeps the box open for a question without a default', () => {
    const asked = (ask: object) => ({
      ...tree,
      asks: new Map([...tree.asks].map(([n, one]) => [n, { ...one, ...ask }])),
    });
    const boxed = { ...BEGINNING, typing: { for: 'answer', n: 8, text: '' } } as const;
    const [enter] = keysIn(ENTER).keys;
    const one = press(boxed, enter!, asked({ options: ['now', 'later'], default: 'later' }), true);
    expect(one.wish).toEqual({ do: 'act', verb: 'answer', n: 8, text: 'later' });
    const none = press(boxed, enter!, asked({ options: ['now', 'later'], default: null }), true);
    expect(none).toMatchObject({
      state: { typing: boxed.typing, message: 'the question has no default: type an answer' },
    });
    expect(none.wish).toBeUndefined();
  });

  it('a filter shows the nodes with its words, and escape shows all again', () => {
    const { state } = after(`/tests${ENTER}`);
    const shown = (of: ScreenState) => rowsOf(of, 100).filter((row) => /#\d+ \[/.test(row));
    expect(shown(state)).toEqual([expect.stringContaining('Rewrite the tests')]);
    expect(shown(after(ESCAPE, state).state).length).toBeGreaterThan(5);
  });

  it('Ctrl-C asks whether to leave in the process that runs the tree, and leaves the second time; it leaves at once elsewhere [TREE-63]', () => {
    const asked = after(CTRL_C);
    expect(asked).toMatchObject({ wish: undefined, state: { confirm: { what: 'leave' } } });
    expect(after(CTRL_C, asked.state).wish).toEqual({ do: 'leave' });
    expect(after('l', asked.state).wish).toEqual({ do: 'leave' });
    expect(after(`tword${CTRL_C}${CTRL_C}`).wish).toEqual({ do: 'leave' });
    expect(after(CTRL_C, BEGINNING, false).wish).toEqual({ do: 'leave' });
    expect(after('q', BEGINNING, false).wish).toEqual({ do: 'leave' });
  });

  it('only the words stop all, typed out behind a question, end the whole tree: no word after Ctrl-C or on the tree does [TREE-64]', () => {
    const ending = { do: 'act', verb: 'stop', n: 1 };
    for (const word of [
      'cancel',
      'continue',
      'c',
      'yes',
      'end',
      'ended',
      'everything',
      'stop',
      'system',
      'sy',
      'send',
      'all',
      'estop',
    ])
      for (const before of [CTRL_C, 'q', '', 's'])
        for (const behind of ['', ENTER, `${ENTER}${ENTER}`])
          expect([before, word, wishes(`${before}${word}${behind}`)]).toEqual([
            before,
            word,
            expect.not.arrayContaining([ending]),
          ]);
    for (const keys of [`stop all${ENTER}`, `${CTRL_C}stop all${ENTER}`])
      expect(wishes(keys)).not.toContainEqual(ending);
    expect(after(`${CTRL_C}e`).state.typing).toEqual({ for: 'end', n: 1, text: '' });
    expect(rowsOf(after(`${CTRL_C}e`).state, 100).join('\n')).toMatch(/End all \d+ nodes for good\? Type stop all and/);
    expect(after(`${CTRL_C}estop all${ENTER}`).wish).toEqual(ending);
    expect(after(`sstop all${ENTER}`).wish).toEqual(ending);
    expect(after(`${CTRL_C}ecancel${ENTER}`).state.message).toBe('nothing was ended: "cancel" is not "stop all"');
  });

  it('a paste is text where something is typed, and presses no key elsewhere; control characters are never typed', () => {
    const paste = (text: string) => `\u001b[200~${text}\u001b[201~`;
    expect(after(paste('sy')).wish).toBeUndefined();
    expect(after(`t${paste('two\nlines\u0003 sy')}\u0007${ENTER}`).wish).toMatchObject({ text: 'two lines  sy' });
    expect(keysIn('\u001b[200~half').rest).toBe('\u001b[200~half');
  });

  it('the keys [ ] and . go to other frames, where nothing can be acted on', () => {
    expect(after('[').wish).toEqual({ do: 'travel', to: -1 });
    expect(after(']').wish).toEqual({ do: 'travel', to: 1 });
    const past = { ...BEGINNING, at: 6 };
    expect(after('.', past).wish).toEqual({ do: 'travel', to: 'now' });
    for (const key of ['a', 't', 'n', 's', 'p', 'r'])
      expect(after(key, past)).toMatchObject({ wish: undefined, state: { typing: null, confirm: null } });
    expect(after('s', past).state.message).toContain('this is frame 6');
    const rows = rowsOf(past, 80);
    expect(rows.at(-2)).toBe(` frame 6 of ${tree.newest.frame}, as it was: [ ] other frames  . now`);
    expect(rowsOf(BEGINNING, 80).join('\n')).not.toContain('as it was');
  });

  it('left and right go over the launches of an opened node, and stop at both ends', () => {
    expect(after(ENTER).state.open?.launch).toBeNull();
    const facts = new Facts().start('Often').node(1, { type: 'goal', parent: null });
    for (const launch of [1, 2, 3])
      facts.push('tree/Launched@1', {
        ...{ n: 1, launch, gen: 0, attempt: 1, run: launch - 1, session: 'survey/1', inputs: [] },
        phase: 'work',
        prompt_ref: textOf(launch).ref,
      });
    const often = facts.view();
    const launches = (keys: string) => {
      let state: ScreenState = { ...BEGINNING, open: { n: 1, from: 4, launch: null } };
      for (const key of keysIn(keys).keys) state = press(state, key, often, true).state;
      return state.open;
    };
    expect(launches(LEFT)).toEqual({ n: 1, from: 0, launch: 2 });
    expect(launches(LEFT.repeat(5))?.launch).toBe(1);
    expect(launches(`${LEFT}${LEFT}${RIGHT}`)?.launch).toBe(2);
    expect(launches(`${LEFT}${RIGHT}${RIGHT}`)?.launch).toBeNull();
  });
});

describe('the past of a tree', () => {
  const placed = surveyed().list.map((fact, i) => ({ fact, place: { frame: i + 1, at: i * 1_000 } }));
  const past = new Past('survey');
  for (const one of placed) past.add(one);
  past.add({ fact: { ...placed[0]?.fact, tree: 'other' } as never, place: { frame: 500, at: 0 } });

  it('the tree at a frame is the one that its facts up to that frame give', () => {
    expect(past.at(0)).toBeUndefined();
    for (const frame of [1, 7, placed.length]) {
      const fold = new TreeFold();
      for (const { fact, place } of placed.slice(0, frame)) fold.add(fact, place);
      expect(past.at(frame)).toEqual(fold.trees.get('survey'));
    }
  });

  it('steps lead from change to change, and stop at the first and at the last one', () => {
    const last = placed.length;
    expect(past.step(null, -1)).toBe(last - 1);
    expect(past.step(3, -1)).toBe(2);
    expect(past.step(1, -1)).toBe(1);
    expect(past.step(2, 1)).toBe(3);
    expect(past.step(last - 1, 1)).toBe(last);
    expect(past.step(last, 1)).toBe(last);
    expect(past.step(null, 1)).toBeNull();
  });
});
