/** The page "Who may send": each event of each reducer with its declared senders, from the definitions. */
import { formatAddress } from '@reprise/contracts';
import type { ReducerDefinition } from '@reprise/kernel';
import type { KeyPart, Who } from '@reprise/kernel/define';
import { REDUCERS } from '../conformance/senders/declared.js';

/** The page, from the top of the repository. */
export const SENDERS_PAGE = 'docs/reference/senders.md';

const INTRODUCTION = `# Who may send

<!-- This page is generated from the definitions: \`DOCS_UPDATE=1 npx vitest run scripts/test/senders.test.ts\`. -->

An event of a reducer declares its senders beside its schema (\`from(schema, by.outside, by.maker)\`). The engine refuses every other sender with \`not_yours\` before the reducer runs, whatever the policy permits ([RED-35](../spec/reducers.md)). The [policy](../explanation/authority.md) decides beforehand whether a sender reaches the cell at all; rules for the cells named here are derived from the declarations.

| words | form | who that is |
| --- | --- | --- |
| outside | \`by.outside\` | a request of the operator or of a person (\`human:*\`); not of an adapter, and not in the name of a cell |
| adapter | \`by.adapter\` | the adapter of an open effect of the cell |
| itself | \`by.self\` | the cell itself |
| own plan | \`by.ownPlan\` | a plan of the cell |
| a request in its name | \`by.ownRequest\` | a request in the name of the cell: of a client that acts as it, outside |
| maker | \`by.maker\` | the cell that made this one, in that generation; of a cell made from outside: the outside |
| each caller | \`by.any\` | whom the policy lets through |
| the cell in \`field\` | \`by.cell({ state })\` | the cell whose address is in a field of the state |
| \`Reducer@1/key\` | \`by.cell({ reducer, key })\` | the cell of this reducer with this key |
| \`Reducer@1/key\` with a row in \`table\` | \`by.row(table, { reducer, key })\` | a cell of this reducer for which the table has a row |
| above: \`Reducer@1\` | \`by.above(reducer)\` | a cell of this reducer that stands above the cell in the chain of makers |

In a key, \`‹own›\` is the key of the receiving cell, \`‹row›\` the key of a row, \`‹event.x›\` and \`‹state.x›\` a field of the event or the state.
`;

/** The whole page. */
export function sendersPage(): string {
  return `${[INTRODUCTION, ...REDUCERS.map(sectionOf)].join('\n')}`;
}

function sectionOf({ name, events }: ReducerDefinition): string {
  const rows = [...events]
    .filter(([event]) => !event.startsWith('sys/'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([event, { creates, from }]) =>
        `| \`${event}\` | ${creates ? 'yes' : ''} | ${(from ?? []).map(wordsOf).join(', ')} |`,
    );
  return `## \`${name}\`\n\n| event | makes the cell | senders |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

const PLAIN = {
  outside: 'outside',
  adapter: 'adapter',
  self: 'itself',
  ownPlan: 'own plan',
  ownRequest: 'a request in its name',
  maker: 'maker',
  any: 'each caller',
} as const;

function wordsOf(who: Who): string {
  switch (who.form) {
    case 'state':
      return `the cell in \`${who.state}\``;
    case 'cell':
      return `\`${formatAddress([who.reducer, keyText(who.key)])}\``;
    case 'row':
      return `\`${formatAddress([who.reducer, keyText(who.key)])}\` with a row in \`${who.table}\``;
    case 'above':
      return `above: \`${who.reducer}\``;
    default:
      return PLAIN[who.form];
  }
}

function keyText(key: readonly KeyPart[]): string {
  return key
    .map((part) => {
      if (typeof part === 'string') return part;
      if ('own' in part) return '‹own›';
      if ('row' in part) return '‹row›';
      return 'event' in part ? `‹event.${part.event}›` : `‹state.${part.state}›`;
    })
    .join('');
}
