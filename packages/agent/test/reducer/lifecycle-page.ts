/** The tables of `docs/reference/session-lifecycle.md`, made from the tables that the reducer goes by. */
import { LIFECYCLES } from '../../src/contracts/index.js';
import { MOVES, REACTIONS, TRIGGERS } from '../../src/reducer/transcript/lifecycle-table.js';

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const rule = (columns: number): string => row(Array.from({ length: columns }, () => '---'));

/** Every trigger in every state of an open session. */
export function reactionsTable(): string {
  const head = [row(['', ...LIFECYCLES.map((state) => `\`${state}\``)]), rule(LIFECYCLES.length + 1)];
  const rows = TRIGGERS.map((trigger) =>
    row([`\`${trigger}\``, ...LIFECYCLES.map((state) => wordOf(REACTIONS[trigger][state]))]),
  );
  return [...head, ...rows].join('\n');
}

/** The moves from each state. */
export function movesTable(): string {
  const rows = LIFECYCLES.map((from) => row([`\`${from}\``, MOVES[from].map((to) => `\`${to}\``).join(', ')]));
  return [row(['from', 'to']), rule(2), ...rows].join('\n');
}

function wordOf(reaction: (typeof REACTIONS)['input']['Idle']): string {
  return typeof reaction === 'object' ? `✗ \`${reaction.refused}\`` : reaction;
}

/** A page with its generated tables in their places. */
export function withTables(page: string): string {
  const put = (text: string, name: string, table: string): string => {
    const between = new RegExp(`(<!-- ${name} -->\\n)[^]*?(\\n<!-- end of ${name} -->)`);
    if (!between.test(text)) throw new Error(`the page has no place for ${name}`);
    return text.replace(between, `$1\n${table}\n$2`);
  };
  return put(put(page, 'reactions', reactionsTable()), 'moves', movesTable());
}
