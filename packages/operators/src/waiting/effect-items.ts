/** What waits in effects: each has a plan that goes on when it is decided, answered or settled. */
import { readQuestion } from '@reprise/agent/history';
import { type Ref, shortText, type Value } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import type { OpenEffect } from '@reprise/kernel/inspect';
import { oneLine, WORDS_MAX, wordsOfEffect } from '../names/effects.js';
import { EFFECTS } from '../names/reducers.js';
import { fieldOf } from '../names/values.js';
import { answerTo } from './answers.js';
import type { ItemParts } from './item-parts.js';
import type { WaitingItem } from './items.js';

/** The items of effects: approvals, questions, and what another system settles. */
export async function effectItems(parts: ItemParts): Promise<readonly WaitingItem[]> {
  const items: WaitingItem[] = [];
  for (const effect of parts.state.effects) {
    if (effect.approval !== undefined) items.push(await approvalItem(parts, effect, effect.approval.to));
    else if (effect.deferred !== undefined && effect.settler === undefined)
      items.push(await deferredItem(parts, effect));
    else items.push(...(await questionItems(parts, effect)));
  }
  return items;
}

async function approvalItem(parts: ItemParts, effect: OpenEffect, to: string): Promise<WaitingItem> {
  const what = await wordsOfEffect(parts.store, effect);
  return itemOf(parts, effect, { kind: 'approval', what, to, until: null, options: [], id: effect.effect });
}

async function deferredItem(parts: ItemParts, effect: OpenEffect): Promise<WaitingItem> {
  const { to, expires } = effect.deferred ?? { to: null, expires: null };
  const of = { to: to ?? ANYBODY, until: expires, id: effect.effect };
  if (effect.name !== EFFECTS.ask) {
    const what = await wordsOfEffect(parts.store, effect);
    return itemOf(parts, effect, { kind: 'outside', what, options: [], ...of });
  }
  const asked = fieldOf(effect.params, 'question_ref') ?? null;
  return itemOf(parts, effect, { kind: 'question', ...(await wordsOfQuestion(parts.store, asked)), ...of });
}

async function questionItems(parts: ItemParts, effect: OpenEffect): Promise<readonly WaitingItem[]> {
  const items: WaitingItem[] = [];
  for (const { n, question, to, expires, at } of effect.asks) {
    const words = await wordsOfQuestion(parts.store, question);
    const of = { to: to ?? ANYBODY, until: expires, id: `${effect.effect}.${n}` };
    items.push({ ...(await itemOf(parts, effect, { kind: 'question', ...words, ...of })), since: at });
  }
  return items;
}

/** The principals that may answer where nothing else was stated. */
const ANYBODY = 'human:*';

type OwnOfItem = Pick<WaitingItem, 'kind' | 'what' | 'options' | 'to' | 'until' | 'id'>;

async function itemOf(parts: ItemParts, { plan, frame, params }: OpenEffect, own: OwnOfItem): Promise<WaitingItem> {
  const of = parts.state.names.ownerOf([plan[0], plan[1]]);
  const node = nodeOfQuestion(params);
  const asker = node === undefined ? of : { ...of, node: node.asker };
  const answer = answerTo({ ...own, of: asker, ...(node === undefined ? {} : { ask: node.ask }) }, parts.world);
  return { ...own, of: asker, since: await parts.times.of(frame), frame, answer };
}

/** The question of a tree that an effect asks people: its number, and that of the node which asked. */
function nodeOfQuestion(params: Value): { readonly ask: number; readonly asker: number | null } | undefined {
  const session = fieldOf(params, 'session');
  const tree = fieldOf(fieldOf(session, 'labels'), 'tree');
  const [, ask] = typeof tree === 'string' ? String(fieldOf(session, 'key')).split(`${tree}/`) : [];
  if (ask === undefined || !/^\d+$/.test(ask)) return undefined;
  const asker = Number(fieldOf(fieldOf(session, 'labels'), 'node'));
  return { ask: Number(ask), asker: Number.isInteger(asker) ? asker : null };
}

async function wordsOfQuestion(
  { content }: ReadonlyStore,
  asked: Value | Ref,
): Promise<Pick<WaitingItem, 'what' | 'options'>> {
  const { question, options = [] } = await readQuestion(content, asked);
  return { what: shortText(oneLine(question), WORDS_MAX), options: options.map(({ id }) => id) };
}
