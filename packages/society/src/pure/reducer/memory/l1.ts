/**
 * The hot context of one entity.
 *
 * Invariants
 * H1  Only the entity changes it; its parent reads it as well.
 * H2  A refused change leaves everything as it was. Each change raises the version by one.
 * H3  The chain moves at the start and the end of the entity's sessions only: each link is the digest of the link before,
 *     the number of sessions, and the content.
 * H4  The linked contents, identity and capabilities have at most 48 KiB together.
 */

import type { Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel/codec';
import {
  allRows,
  defineReducer,
  type EventHandlers,
  handledBy,
  type ReducerContext,
  reducerOnUse,
  type Table,
} from '@reprise/kernel/define';
import { entityAt, groupAt, L1 } from '../../contracts/cell/names.js';
import type { News } from '../../contracts/entity-parts.js';
import {
  AGENT_FIELDS,
  L1_BYTES_MAX,
  L1_FIELDS,
  type L1Field,
  type L1Patch,
  type L1State,
  LINKS_MAX,
  l1Commands,
  l1Facts,
  l1State,
  l1Tables,
  NO_FIELDS,
} from '../../contracts/memory/l1.js';
import { sendUp } from '../context/entity.js';
import { eventOf } from '../group/told-groups.js';
import { isSessionOf } from '../rights/session.js';

type HotContext = ReducerContext<typeof l1Tables>;

const HANDLERS: EventHandlers<L1State, typeof l1Commands, typeof l1Tables> = {
  'society/OpenL1@1': (draft, { parent_entity_id, agent_type, identity, capabilities }, ctx) => {
    if (draft.version > 0) return;
    Object.assign(draft, { parent_entity_id, agent_type, identity });
    ctx.table('record').set(CAPABILITIES, capabilities);
    draft.chain.hash = linkOf(draft, null, ctx);
    keepLink(draft, ctx);
    changed(draft, 'opened', [], ctx);
  },
  'society/IdentifyL1@1': (draft, { identity, capabilities }, ctx) => {
    if (identity !== undefined) draft.identity = identity;
    if (capabilities !== undefined) ctx.table('record').set(CAPABILITIES, capabilities);
    changed(draft, 'identified', [], ctx);
  },
  'society/WriteL1@1': (draft, { call, patch, expected_version }, ctx) => {
    const refused = refusedFields(draft, patch);
    const code = refused.length > 0 ? 'not_yours' : refusalOf(draft, patch, expected_version, ctx);
    if (code === null) write(draft, patch, ctx);
    tell(draft, { call, code, refused, wrote: true }, ctx);
  },
  'society/ReadL1@1': (draft, { call }, ctx) => {
    tell(draft, { call, code: null, refused: [], wrote: false }, ctx);
  },
  'society/PassTold@1': (_draft, told, ctx) => {
    ctx.send(entityAt(told.to), { name: 'society/Told@1', value: told });
  },
  'society/SessionL1@1': (draft, { phase }, ctx) => {
    if (phase === 'start') draft.chain.count++;
    draft.chain.hash = linkOf(draft, draft.chain.hash, ctx);
    keepLink(draft, ctx);
    changed(draft, phase === 'start' ? 'session_start' : 'session_end', [], ctx);
  },
  'society/AgentSession@1': (_draft, { session, open }, ctx) => {
    if (!isSessionOf(ctx.address[1], session)) ctx.reject('not_yours');
    keep(ctx.table('sessions'), session, open);
  },
  'society/AgentGroup@1': (_draft, { group, member }, ctx) => keep(ctx.table('groups'), group, member),
  'society/TellAnew@1': (draft, { capabilities }, ctx) => {
    for (const name of ['sessions', 'groups'] as const) {
      const table = ctx.table(name);
      for (const [key] of allRows(table)) table.delete(key);
    }
    if (ctx.hash(capabilities) === ctx.hash(capabilitiesOf(ctx))) return;
    ctx.table('record').set(CAPABILITIES, capabilities);
    changed(draft, 'identified', [], ctx);
  },
  'sys/Revived@1': (_draft, _, ctx) => {
    ctx.send(entityAt(ctx.address[1]), { name: 'society/HotRevived@1', value: {} });
  },
  // The cell of the agent has failed: its maker hears which sessions are open.
  'society/TellSessions@1': (_draft, _, ctx) => {
    for (const [session] of allRows(ctx.table('sessions')))
      sendUp(ctx.caller, { name: 'society/AgentSession@1', value: { session, open: true } }, ctx);
  },
  // The groups of the agent, whose cell has failed, hear what its maker made of it.
  'society/StatusForFailed@1': (_draft, { old, now }, ctx) => {
    const groups = ctx.table('groups');
    const leaving = { name: 'society/Leave@1', value: { entity: ctx.address[1] } };
    for (const [group] of allRows(groups)) {
      ctx.send(groupAt(group), eventOf(['status', old, now], ctx));
      if (now !== 'removed') continue;
      ctx.send(groupAt(group), leaving);
      groups.delete(group);
    }
  },
  'society/SyncL1@1': (draft, synced, ctx) => {
    draft.synced = { ...synced, at: ctx.now };
    changed(draft, 'synced', [], ctx);
  },
  'society/ForgetL1@1': (draft, _, ctx) => {
    const named = L1_FIELDS.filter((field) => draft.fields[field] !== null);
    draft.fields = { ...NO_FIELDS };
    changed(draft, 'forgotten', named, ctx);
  },
};

/** The reducer of hot contexts. */
export const l1Reducer = reducerOnUse(L1, () =>
  defineReducer({
    name: L1,
    state: l1State,
    events: l1Commands,
    facts: l1Facts,
    tables: l1Tables,
    init: (): L1State => ({
      version: 0,
      updated_at: 0,
      parent_entity_id: null,
      agent_type: null,
      identity: { display_name: '', public_key: null },
      fields: { ...NO_FIELDS },
      progress_ppm: null,
      chain: { hash: '0'.repeat(64), count: 0 },
      synced: null,
      links: [],
    }),
    reduce: handledBy(HANDLERS),
  }),
);

const CAPABILITIES = 'capabilities';

function keep(table: Table<null>, key: string, isThere: boolean): void {
  if (isThere) table.set(key, null);
  else table.delete(key);
}

function refusedFields({ agent_type }: L1State, { refused = [], ...patch }: L1Patch): readonly string[] {
  const may: readonly string[] = agent_type === null ? L1_FIELDS : AGENT_FIELDS;
  const given = Object.keys(patch).filter((field) => field !== 'progress_ppm');
  return [...refused, ...given.filter((field) => !may.includes(field))].slice(0, 16);
}

function refusalOf(
  draft: L1State,
  patch: L1Patch,
  expected: number,
  ctx: HotContext,
): News<'society/L1Told@1'>['code'] {
  if (expected !== draft.version) return 'revision_conflict';
  const fields = { ...draft.fields, ...fieldsOf(patch) };
  const { identity } = draft;
  const record = encode({ identity, capabilities: capabilitiesOf(ctx) } as unknown as Value).length;
  const bytes = L1_FIELDS.reduce((sum, field) => sum + (fields[field]?.bytes ?? 0), record);
  return bytes > L1_BYTES_MAX ? 'too_large' : null;
}

function write(draft: L1State, patch: L1Patch, ctx: HotContext): void {
  const fields = fieldsOf(patch);
  Object.assign(draft.fields, fields);
  if (patch.progress_ppm !== undefined) draft.progress_ppm = patch.progress_ppm;
  changed(draft, 'written', Object.keys(fields) as L1Field[], ctx);
}

function fieldsOf({ progress_ppm: _progress, refused: _refused, ...fields }: L1Patch): Partial<L1State['fields']> {
  return fields as Partial<L1State['fields']>;
}

function linkOf(draft: L1State, prev: string | null, ctx: HotContext): string {
  return ctx.hash(linkContent(draft, { prev, count: draft.chain.count, capabilities: capabilitiesOf(ctx) }));
}

function keepLink(draft: L1State, { now }: HotContext): void {
  draft.links = [...draft.links, { ...draft.chain, at: now }].slice(-LINKS_MAX);
}

type Cause = 'opened' | 'identified' | 'written' | 'session_start' | 'session_end' | 'synced' | 'forgotten';

function changed(draft: L1State, cause: Cause, fields: readonly L1Field[], ctx: HotContext): void {
  draft.version++;
  draft.updated_at = ctx.now;
  ctx.record('society/L1Changed@1', {
    entity_id: ctx.address[1],
    version: draft.version,
    cause,
    fields: [...fields],
    chain_hash: draft.chain.hash,
    session_count: draft.chain.count,
  });
}

type Told = Pick<News<'society/L1Told@1'>, 'call' | 'code' | 'wrote'> & { readonly refused: readonly string[] };

function tell(draft: L1State, told: Told, ctx: HotContext): void {
  const { caller } = ctx;
  if (caller === null || !ctx.takes(caller, 'society/L1Told@1')) return;
  const { links: _, ...state } = draft;
  const value = { ...told, entity_id: ctx.address[1], state, capabilities: capabilitiesOf(ctx) };
  ctx.send(caller, { name: 'society/L1Told@1', value });
}

function capabilitiesOf(ctx: HotContext): Value {
  return ctx.table('record').get(CAPABILITIES) ?? {};
}

/** The part of a hot context that a link states. */
export type LinkedL1 = Pick<L1State, 'parent_entity_id' | 'agent_type' | 'identity' | 'fields' | 'progress_ppm'>;

/**
 * What a link is the digest of. What waits in the inbox is shown in the hot context, and is no part of it.
 *
 * @param prev the link before; null for the first
 * @param count the sessions begun so far
 */
export function linkContent(
  { parent_entity_id, agent_type, identity, fields, progress_ppm }: LinkedL1,
  { prev, count, capabilities }: { readonly prev: string | null; readonly count: number; readonly capabilities: Value },
): Value {
  const content = { parent_entity_id, agent_type, identity, fields, progress_ppm, capabilities };
  return { prev, count, content } as unknown as Value;
}
