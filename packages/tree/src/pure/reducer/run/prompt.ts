/**
 * What the prompt of a launch is composed of: identity and rules, the goals above, what the node needs, results of
 * siblings for a fork, answers, results of children for a synthesis, its task, and how it gives its result.
 *
 * Words of the tree stand as they are; goals are names in them. The task, what people tell, results, answers and
 * questions are words of others, which stand between marks.
 */
import { type Actor, type Ref, startOfText } from '@reprise/contracts';
import {
  type ComposedItem,
  type ComposedSection,
  type ComposedView,
  key,
  pair,
  pairsOf,
  type ToldText,
  told,
  toldItem,
  toldLines,
} from '@reprise/org/contracts';
import {
  type AskRow,
  type Carried,
  type Given,
  type NodeRow,
  type RecordedWords,
  WORDS_KEY,
  WRONG_RESULTS_MAX,
} from '../../contracts/index.js';
import { questionItems } from '../ask/route.js';
import { NO_SIGN_OFF, nodeActor, wordsForModel } from '../delivery/actors.js';
import { childrenOf, numbers, unpassed } from '../delivery/around.js';
import type { Delivery } from '../delivery/delivery.js';
import { draftOf } from '../delivery/drafts.js';
import { isEnded, type ReadNode } from '../delivery/nodes.js';
import { mayMake } from '../delivery/standing.js';

interface PromptParts {
  readonly sections: ComposedSection[];
  readonly carries: Carried;
}

/** The bytes that a prompt shows of one result. */
const RESULT_VIEW: ComposedView = { head: 60_000 };

/** What the prompt of a node's next run is composed of. */
export function promptOf(delivery: Delivery, row: NodeRow): PromptParts {
  const needed = neededResults(delivery, row);
  const siblings = row.type === 'fork' ? siblingResults(delivery, row) : [];
  const children = row.phase === 'synthesis' || row.gen > 0 ? childResults(delivery, row) : [];
  const words = wordsOf(delivery);
  const sections: ComposedSection[] = [
    section('', [toldItem(told`You are node #${row.n} in a coordination tree.`), linked(words.rules_ref)]),
    ...(mayMake(delivery, row) ? [] : [section('', [linked(words.leaf_ref)])]),
    section('Goals', [toldItem(goalChain(delivery, row))]),
    results('Results that you need', needed),
    results('Results of your siblings', siblings),
    section('Answers to your questions', answersFor(delivery, row)),
    ...purpose(delivery, row),
    results('Results of your children', children),
    section('What you were told', toldTo(delivery, row.n, 'w')),
    section('Questions to you', questionsTo(delivery, row)),
    section('Your task', [task(row)]),
    section('Your result', resultNotes(delivery, row)),
  ];
  const carries = {
    inputs: [...needed, ...siblings, ...children].map(({ n }) => n),
    answers: unpassed(delivery, row.n).map(([n]) => n),
    questions: [...numbers(delivery, 'routes', row.n)],
    told: entriesTold(delivery, row.n).map(([text]) => text),
  };
  return { sections: sections.filter(({ items }) => items.length > 0), carries };
}

/** The texts of the tree: no node is in the line before they are supplied. */
function wordsOf({ ctx }: Delivery): RecordedWords {
  return ctx.table('words').get(WORDS_KEY) ?? ctx.reject('not_started');
}

function section(title: string, items: readonly ComposedItem[]): ComposedSection {
  return { title, items: [...items] };
}

function results(title: string, shown: readonly Shown[]): ComposedSection {
  const items = shown.map(({ item }) => item);
  return section(title, items);
}

/** Words of the author of the tree. */
function linked(ref: Ref): ComposedItem {
  return { label: '', ref, kind: 'text', view: 'full', own: true };
}

/** Words of others that the node is to follow: its task, and what people tell it. */
function brief({ words, names }: ToldText, ref: Ref): ComposedItem {
  return { label: words, names, ref, kind: 'text', view: 'full', own: 'brief' };
}

function task({ prompt_ref, goal }: ReadNode): ComposedItem {
  if (prompt_ref !== null) return brief(told`your task`, prompt_ref);
  return { label: 'your task', text: goal, kind: 'text', view: 'full', own: 'brief' };
}

function data({ words, names }: ToldText, ref: Ref, kind: ComposedItem['kind'], view: ComposedView): ComposedItem {
  return { label: words, ...(names.length === 0 ? {} : { names }), ref, kind, view };
}

function goalChain({ nodes }: Delivery, row: ReadNode): ToldText {
  const chain = [...nodes.upFrom(row.n)].reverse();
  return toldLines(
    chain.map(({ n, goal }) => (n === row.n ? told`#${n} "${goal}" <- your task` : told`#${n} "${goal}"`)),
  );
}

interface Shown {
  readonly n: number;
  readonly item: ComposedItem;
}

/** What the nodes that it needs gave, or how they ended. */
function neededResults(delivery: Delivery, { n }: ReadNode): Shown[] {
  return numbers(delivery, 'needs', n).flatMap((need) => {
    const view = delivery.ctx.table('needs').get(pair(n, need))?.view ?? 'full';
    return view === 'none' ? [] : [{ n: need, item: outcome(delivery.nodes.at(need), view) }];
  });
}

/** What the siblings gave that are complete now. */
function siblingResults(delivery: Delivery, row: ReadNode): Shown[] {
  if (row.parent === null) return [];
  const needed = new Set(numbers(delivery, 'needs', row.n));
  return childrenOf(delivery, row.parent)
    .filter(({ n, status }) => n !== row.n && status === 'complete' && !needed.has(n))
    .map((sibling) => ({ n: sibling.n, item: outcome(sibling, 'full') }));
}

/** What the children gave, or how they ended. */
function childResults(delivery: Delivery, { n }: ReadNode): Shown[] {
  return childrenOf(delivery, n)
    .filter(isEnded)
    .map((child) => ({ n: child.n, item: outcome(child, 'full') }));
}

/** The outcome of another node: its result as data, or its failure. */
function outcome({ n, goal, status, code, result }: ReadNode, view: 'full' | 'summary'): ComposedItem {
  if (result === null) return toldItem(told`#${n} "${goal}" ${status}${code === null ? told`` : told` (${code})`}`);
  return shownGiven(told`#${n} ${status}: ${startOfText(goal, LABEL_NAME_MAX)}`, result, view);
}

const LABEL_NAME_MAX = 200;

function shownGiven(label: ToldText, { ref, kind, summary_ref }: Given, view: 'full' | 'summary'): ComposedItem {
  if (view === 'full') return data(label, ref, kind, RESULT_VIEW);
  return summary_ref === undefined ? data(label, ref, kind, 'summary') : data(label, summary_ref, 'text', 'summary');
}

/** The outcomes of its questions that it has not received. */
function answersFor(delivery: Delivery, row: ReadNode): ComposedItem[] {
  return unpassed(delivery, row.n).flatMap(([n, ask]) => answerItems(delivery, n, ask));
}

/** The outcome of a question: who gave it stands first, so that a long question cannot cut it off. */
function answerItems(delivery: Delivery, n: number, { outcome, answers, returns }: AskRow): ComposedItem[] {
  if (outcome === null) return [];
  const { goal } = delivery.nodes.at(n);
  const { how, by, picked, text_ref } = outcome;
  const answer = (who: Actor, ref: Ref) => {
    const note = returns === 'approval' && who.kind !== 'person' ? told` (${NO_SIGN_OFF})` : told``;
    const by = wordsForModel(delivery, who);
    const label = told`Answer of ${by}${note} to question #${n}: ${startOfText(goal, LABEL_NAME_MAX)}`;
    return data(label, ref, 'text', RESULT_VIEW);
  };
  const nodes = answers.map((one) => answer(nodeActor(delivery, one.by), one.text_ref));
  if (nodes.length > 0 && (by === null || by.kind === 'several' || by.kind === 'node')) return nodes;
  if (by !== null && text_ref !== null) return [answer(by, text_ref), ...nodes];
  return [toldItem(told`Question #${n} "${goal}": ${how}${picked === null ? told`` : told`: "${String(picked)}"`}`)];
}

/** Why it runs again, when it does. */
function purpose(delivery: Delivery, row: ReadNode): ComposedSection[] {
  const words = wordsOf(delivery);
  if (row.answering) return [section('', [linked(words.answer_ref)])];
  const failed =
    row.unfinished === null ? [] : [toldItem(told`Your last run ended without a result: ${row.unfinished}.`)];
  if (row.phase === 'synthesis')
    return [section('Synthesis', [linked(words.synthesis_ref), ...ownDraft(delivery, row), ...failed])];
  if (row.phase === 'repair') return [section('Repair', [linked(words.repair_ref)])];
  return [section('Your last run', failed)];
}

/** What the node itself said when it made its children. */
function ownDraft(delivery: Delivery, { n }: ReadNode): ComposedItem[] {
  const draft = draftOf(delivery, n);
  return draft?.given == null ? [] : [shownGiven(told`your own draft`, draft.given, 'full')];
}

/** Texts for the next prompt of a node: words of people (`w`), or problems with its result (`p`). */
function toldTo(delivery: Delivery, n: number, what: 'w' | 'p'): ComposedItem[] {
  return entriesTold(delivery, n)
    .filter(([text]) => text.includes(`.${what}`))
    .map(([, { text_ref, by }]) =>
      brief(by === null ? told`what is wrong` : told`told by: ${wordsForModel(delivery, by)}`, text_ref),
    );
}

function entriesTold({ ctx }: Delivery, n: number) {
  return ctx.table('told').range({ ...pairsOf(n), limit: 64 });
}

function questionsTo(delivery: Delivery, { n }: ReadNode): ComposedItem[] {
  return numbers(delivery, 'routes', n).flatMap((ask) => {
    const row = delivery.ctx.table('asks').get(key(ask));
    return row === undefined ? [] : questionItems(ask, row);
  });
}

function resultNotes(delivery: Delivery, row: ReadNode): ComposedItem[] {
  const words = wordsOf(delivery);
  const schema = row.schema_ref === null ? [] : [data(told`schema`, row.schema_ref, 'value', 'full')];
  const wrong = toldTo(delivery, row.n, 'p');
  const left = row.wrong === 0 ? [] : [toldItem(told`You have ${WRONG_RESULTS_MAX - row.wrong} more tries.`)];
  return [linked(words.returns[row.returns]), ...schema, ...wrong, ...left];
}
