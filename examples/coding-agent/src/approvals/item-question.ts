/** The question about a pending item: what is asked, and what each answer does. */
import type { Decision, Pending } from 'reprise';
import { toolDifferences } from 'reprise/history';
import { callLine, wholeCall } from '../terminal/calls.js';
import { type Line, span } from '../terminal/text/spans.js';
import { visible, visibleInLine } from '../terminal/text/visible.js';
import { fitting } from '../terminal/text/width.js';
import { readEdited, readTyped, type Typed } from './answers.js';
import type { Question, Reading } from './asking.js';
import { describePattern, type Pattern } from './patterns.js';

/** How much of a call its question names; the whole call stands above it. */
const ASKED_COLUMNS = 80;

/** What answers do. */
export interface ItemActions {
  decide(item: Pending, decision: Decision): void;
  /** Approves the item, and what the pattern covers from now on. */
  always(item: Pending, pattern: Pattern): void;
  /** Lets the user change the arguments. */
  edit(item: Pending, args: unknown): void;
  /** Asks again, with changed arguments. */
  change(item: Pending, args: unknown): void;
  view(): void;
}

/** How an item is asked about. */
export interface ItemQuestion {
  readonly folder: string;
  /** The arguments that the user has put in place of the model's. */
  readonly changed?: { readonly args: unknown };
  /** Whether the next line is the changed arguments. */
  readonly isEditing: boolean;
  /** What "always" would cover. */
  readonly pattern: Pattern | undefined;
}

/** Makes the question about an item. */
export async function itemQuestion(item: Pending, how: ItemQuestion, actions: ItemActions): Promise<Question> {
  return item.kind === 'question' ? freeQuestion(item, actions) : approvalQuestion(item, how, actions);
}

function freeQuestion(item: Pending, actions: ItemActions): Question {
  const options = (item.question?.options ?? []).map(({ label }, i) => optionLine(i + 1, label));
  const [first = [], ...rest] = visible(item.question?.question ?? '').lines;
  const ask = options.length === 0 ? 'Type your answer.' : `Type a number from 1 to ${options.length}.`;
  return {
    id: item.id,
    title: [span('It asks: ', 'bold'), ...first],
    body: [...rest, ...options],
    ask: [[span('? ', 'yellow'), span(ask, 'bold')]],
    read: (text) => meaning(readTyped(text, item), item, undefined, actions),
  };
}

function optionLine(number: number, label: string): Line {
  return [span(`  ${number}  `, 'cyan'), ...visibleInLine(label)];
}

async function approvalQuestion(item: Pending, how: ItemQuestion, actions: ItemActions): Promise<Question> {
  const { changed, isEditing, pattern, folder } = how;
  const args = changed === undefined ? item.args : changed.args;
  const { tool = 'a change of tools' } = item;
  const { lines, difference } = await wholeCall(tool, args, folder);
  const counts = difference === undefined ? [] : [span(`  +${difference.added} -${difference.removed}`, 'dim')];
  const edited = changed === undefined ? [] : [span('  (changed by you)', 'yellow')];
  const reason = item.reason === undefined ? [] : visible(item.reason).lines;
  const drift = item.drift === undefined ? [] : visible(JSON.stringify(item.drift, null, 2)).lines;
  const line = callLine(tool, args);
  return {
    id: changed === undefined ? `${item.id} ${item.digest}` : `${item.id} changed ${JSON.stringify(args)}`,
    title: [span(tool.startsWith('run_') ? tool : line, 'bold'), ...counts, ...edited],
    body: [...reason, ...lines, ...drift, ...versions(item)],
    ask: isEditing
      ? [
          [
            span('? ', 'yellow'),
            span('Change the arguments, and press Enter. You are asked again before it runs.', 'bold'),
          ],
        ]
      : [
          [span('? ', 'yellow'), span(`Allow ${tool}: ${fitting(line, ASKED_COLUMNS)}?`, 'bold')],
          [span('  '), span(choices(pattern), 'dim')],
        ],
    read: (text) => {
      const typed = isEditing ? readEdited(text) : readTyped(text, item);
      const decision = typed.kind === 'decision' ? withArgs(typed.decision, changed) : undefined;
      return meaning(decision && typed.kind === 'decision' ? { ...typed, decision } : typed, item, how, actions);
    },
  };
}

/** Both versions of a tool that has changed since the call was asked about. */
function versions({ changed }: Pending): readonly Line[] {
  if (changed === undefined) return [];
  const differences = toolDifferences(changed).flatMap(({ what, before = 'not recorded', after }) => [
    [span(`  ${what} before: `, 'dim'), ...visibleInLine(before)],
    [span(`  ${what} now:    `, 'yellow'), ...visibleInLine(after)],
  ]);
  return [
    [span('The tool has changed since this call was asked about. What you allow is the new version:', 'yellow')],
    ...differences,
  ];
}

function choices(pattern: Pattern | undefined): string {
  const always = pattern === undefined ? '' : `  [a]lways: ${describePattern(pattern)}`;
  return `[y]es  [n]o why  [e]dit  [v]iew, then Enter${always}`;
}

function withArgs(decision: Decision, changed: ItemQuestion['changed']): Decision {
  return changed === undefined || !('approve' in decision) ? decision : { ...decision, args: changed.args };
}

function meaning(typed: Typed, item: Pending, how: ItemQuestion | undefined, actions: ItemActions): Reading {
  switch (typed.kind) {
    case 'decision':
      return { kind: 'decides', deciding: typed.deciding, done: () => actions.decide(item, typed.decision) };
    case 'always': {
      const pattern = how?.pattern;
      if (pattern !== undefined)
        return { kind: 'decides', deciding: 'approve', done: () => actions.always(item, pattern) };
      return { kind: 'wrong', why: 'No pattern covers this call, so it can only be allowed once: y.' };
    }
    case 'edit':
      if (typed.args === undefined)
        return { kind: 'does', done: () => actions.edit(item, how?.changed?.args ?? item.args) };
      return { kind: 'does', done: () => actions.change(item, typed.args) };
    case 'view':
      return { kind: 'does', done: () => actions.view() };
    default:
      return typed;
  }
}
