/** The archive of an agent: when it is deactivated, its parent keeps what it was about in its own private store (SOC-39). */
import type { ReducerContext } from '@reprise/kernel/define';
import { told, toldItem } from '@reprise/work/contracts';
import { type L1Field, type L1Told, l1At, storeOf } from '../contracts/index.js';
import { archivePlan } from '../plans/archive.js';
import { idOf, tableOf } from './entity-context.js';
import { writeOf } from './memory.js';

/** Begins the name of a reading of an agent's hot context for its archive. */
const ARCHIVE = 'archive.';

/** The id of the item in which an agent's parent keeps what it was about. */
export function archiveId(agent_id: string, at: number): string {
  return `agent-archive-${agent_id}-${at}`;
}

/** Reads the hot context of an agent that has just been deactivated. */
export function beginArchive(agent_id: string, ctx: ReducerContext): void {
  ctx.send(l1At(agent_id), { name: 'society/ReadL1@1', value: { call: `${ARCHIVE}${ctx.now}` } });
}

/** The parts of an archive item, and the fields of the hot context that they show. */
const SECTIONS: readonly (readonly [title: string, field: L1Field])[] = [
  ['Focus', 'active'],
  ['Goal', 'goal'],
  ['Highlights', 'findings'],
  ['Decisions', 'working_memory'],
];

/** Takes what the hot context of an agent says. @returns whether it was asked for an archive */
export function archiveTold({ call, entity_id, state }: L1Told, ctx: ReducerContext): boolean {
  if (!call.startsWith(ARCHIVE)) return false;
  const child = tableOf(ctx, 'children').get(entity_id);
  if (child === undefined) return true;
  const store = storeOf.private(idOf(ctx));
  const { origin } = writeOf(store, ctx);
  const shown = SECTIONS.flatMap(([title, field]) => {
    const part = state.fields[field];
    return part === null
      ? []
      : [{ title, items: [{ label: title, ref: part.ref, kind: 'text', view: 'full' } as const] }];
  });
  const { count, hash } = state.chain;
  const about = told`"${child.display_name}" (${child.agent_type}), ${count} sessions, chain ${hash}`;
  const mentioned = told`${entity_id} ${idOf(ctx)}`;
  const sections = [
    { title: 'Agent', items: [{ ...toldItem(about), label: 'agent' }] },
    ...shown,
    {
      title: 'Entities mentioned',
      items: [{ ...toldItem(mentioned), label: 'entities' }],
    },
  ];
  const key = archiveId(entity_id, Number(call.slice(ARCHIVE.length)));
  ctx.emit({ plan: archivePlan, input: { store, key, origin, sections } });
  return true;
}

/** The archive of an agent was written, or could not be. */
export function archived(value: { readonly key: string; readonly code: string | null }, ctx: ReducerContext): void {
  ctx.record('society/ArchiveKept@1', value);
}
