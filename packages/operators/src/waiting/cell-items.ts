/** What waits by the state of a cell: sessions, projects, nodes of trees, what people have to review. */
import type { Address } from '@reprise/contracts';
import type { FollowedCell } from '@reprise/kernel/inspect';
import { decisionText } from '../names/decisions.js';
import { oneLine } from '../names/effects.js';
import { REDUCERS } from '../names/reducers.js';
import { fieldOf } from '../names/values.js';
import { answerTo } from './answers.js';
import type { ItemParts } from './item-parts.js';
import type { WaitingItem } from './items.js';

/** What a session or a project waits for by its own state; undefined for one that works, or waits for what is listed anyway. */
export function cellItem(parts: ItemParts, { address, fields, changed }: FollowedCell): WaitingItem | undefined {
  const found = address[0] === REDUCERS.session ? waitOfSession(fields) : waitOfProject(address, fields);
  if (found === undefined) return undefined;
  const of = parts.state.names.ownerOf(address);
  const own = { ...found, of, id: `${of.cell} ${found.kind}`, options: [], to: null };
  const place = { since: changed?.at ?? null, frame: changed?.frame ?? null };
  return { ...own, ...place, answer: answerTo(own, parts.world) };
}

type Found = Pick<WaitingItem, 'kind' | 'what' | 'until'>;

function waitOfSession({ lifecycle, waiting, queued }: FollowedCell['fields']): Found | undefined {
  if (lifecycle === 'Paused') return { kind: 'pause', what: 'the session is paused', until: null };
  const isHeldUp = (lifecycle === 'Failed' || lifecycle === 'Cancelled') && Number(queued ?? 0) > 0;
  if (isHeldUp) return { kind: 'pause', what: heldUp(lifecycle, Number(queued)), until: null };
  if (lifecycle !== 'WaitingInput') return undefined;
  const until = Number(fieldOf(waiting, 'until') ?? Number.NaN);
  const ends = Number.isFinite(until) ? until : null;
  const what = fieldOf(waiting, 'for');
  if (what === 'input') return { kind: 'input', what: 'the next message', until: ends };
  return what === 'limit' ? { kind: 'limit', what: 'it has reached a limit of its run', until: ends } : undefined;
}

function heldUp(lifecycle: string, queued: number): string {
  const inputs = queued === 1 ? '1 input waits' : `${queued} inputs wait`;
  return `${inputs} behind a run that ${lifecycle === 'Failed' ? 'failed' : 'was cancelled'}`;
}

function waitOfProject([reducer]: Address, { status, needs }: FollowedCell['fields']): Found | undefined {
  if (reducer !== REDUCERS.project || typeof needs !== 'string' || status === 'done') return undefined;
  return { kind: 'decision', what: decisionText(needs), until: null };
}

/** The paused nodes of trees. */
export function pauseItems(parts: ItemParts): readonly WaitingItem[] {
  return parts.state.pauses.all.map(({ tree, n, goal, place }) => {
    const of = { ...parts.state.names.ownerOf([REDUCERS.tree, tree]), node: n };
    const own = { kind: 'pause' as const, what: `paused: ${oneLine(goal)}`, of, until: null };
    return {
      ...own,
      ...{ id: `${of.cell}/${n} pause`, options: [], to: null },
      ...{ since: place?.at ?? null, frame: place?.frame ?? null },
      answer: answerTo(own, parts.world),
    };
  });
}

/** What people have to review. */
export function returnItems(parts: ItemParts): readonly WaitingItem[] {
  return parts.state.returns.all.map(({ person, agent, id, items, place }) => {
    const of = parts.state.names.ownerOf([REDUCERS.entity, person]);
    const by = parts.state.names.entityName(agent) ?? agent;
    const own = { kind: 'review' as const, what: `${items} items that ${by} has brought back`, of, until: null, agent };
    const { agent: _, ...shown } = own;
    return {
      ...shown,
      ...{ id, options: [], to: `human:${person}` },
      ...{ since: place?.at ?? null, frame: place?.frame ?? null },
      answer: answerTo(own, parts.world),
    };
  });
}
