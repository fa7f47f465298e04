/** The keys of the screen: as many as a row has room for, and all of them in words. Pure. */
import { wrapToColumns } from '../../text/layout.js';

/** A key as the row of keys shows it. The keys of the lowest importance give way first. */
interface ShownKey {
  readonly text: string;
  readonly importance: number;
}

const key = (text: string, importance: number): ShownKey => ({ text, importance });

/** The keys on the tree, in the order of the row. */
export const TREE_KEYS: readonly ShownKey[] = [
  key('↑↓ move', 8),
  key('⏎ open', 9),
  key('a answer', 10),
  key('t tell', 6),
  key('n add', 3),
  key('s stop', 7),
  key('p pause', 5),
  key('r retry', 4),
  key('w why', 0),
  key('/ filter', 1),
  key('[ ] frames', 2),
  key('q leave', 11),
  key('? help', 12),
];

/** The keys while a node is shown in full. */
export const NODE_KEYS: readonly ShownKey[] = [
  key('⏎ back', 11),
  key('↑↓ scroll', 9),
  key('←→ launches', 8),
  key('a answer', 10),
  key('t tell', 6),
  key('s stop', 7),
  key('p pause', 5),
  key('r retry', 4),
  key('[ ] frames', 3),
  key('? help', 12),
];

/** The keys that a row has room for: whole ones, the most important. */
export function keysIn(keys: readonly ShownKey[], columns: number): string {
  const shown = [...keys];
  const row = () => ` ${shown.map(({ text }) => text).join('  ')}`;
  while (shown.length > 1 && row().length > columns) {
    const least = Math.min(...shown.map(({ importance }) => importance));
    shown.splice(
      shown.findIndex(({ importance }) => importance === least),
      1,
    );
  }
  return row();
}

const HELP: readonly (readonly [keys: string, what: string])[] = [
  ['↑ ↓', 'move or scroll; page up and down by ten'],
  ['⏎ w', 'read the node whole; ← → its launches'],
  ['a', 'answer its question, or the first one'],
  ['t', 'tell the node something'],
  ['n', 'add a child to the node'],
  ['s', 'stop the node and all below it'],
  ['p r', 'pause it or let it go on; retry it'],
  ['/', 'show the nodes with some words; esc all'],
  ['[ ] .', 'the frames before and behind; now'],
  ['q', 'leave: nothing is ended by it'],
  ['', '○ pending  ● active  ◐ waits  ? asks  ⏸ paused  ◆ steps'],
  ['', '✓ complete  ✗ failed  ⊘ cancelled'],
];

/** All keys and marks, a line or more for each. */
export function helpLines(columns: number): readonly string[] {
  const lines = HELP.map(([keys, what]) => (keys === '' ? `   ${what}` : ` ${keys.padEnd(5)}  ${what}`));
  return lines.flatMap((line) => wrapToColumns(line, columns, 8).split('\n'));
}
