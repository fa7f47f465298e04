/** To which agent and to which part of an organization a session belongs, by names that people know. */

import type { SessionState } from '@reprise/agent/contracts';
import type { Address, Sender } from '@reprise/contracts';
import { requireArgument } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { REDUCERS } from './reducers.js';

const count = z.int().min(0);

/** The owner of a session, or of another cell that acts. What does not apply is null. */
export const owner = z.strictObject({
  /** The address of the cell. */
  cell: z.string(),
  /** The key of the session; null for a cell of another kind. */
  session: z.nullable(z.string()),
  /** The name of the agent: of a society its display name, otherwise that of its definition. */
  agent: z.nullable(z.string()),
  /** The id of the agent in its society. */
  entity: z.nullable(z.string()),
  tree: z.nullable(z.string()),
  node: z.nullable(count),
  project: z.nullable(z.string()),
  task: z.nullable(count),
  result: z.nullable(count),
  swarm: z.nullable(z.string()),
  slot: z.nullable(z.string()),
});

/** The owner of a session, or of another cell that acts. */
export type Owner = z.infer<typeof owner>;

/** How a session was made: its agent, its labels, and the cell that made it. */
export interface Making {
  readonly agent: string | null;
  readonly labels: SessionState['labels'];
  readonly maker: Sender;
}

/** The reducers whose labels say where a session belongs: labels of an app's own sessions are words of the app. */
const ORGANIZATIONS: readonly string[] = [
  REDUCERS.tree,
  REDUCERS.project,
  REDUCERS.job,
  REDUCERS.entity,
  REDUCERS.swarm,
];

/** Whose session it is. @param nameOf the display name of an agent of a society, by its id */
export function ownerOfSession(
  [reducer, session]: Address,
  { agent, labels, maker }: Making,
  nameOf: (entity: string) => string | undefined,
): Owner {
  const isOwned = maker !== null && ORGANIZATIONS.includes(maker[0]);
  const said = isOwned ? labels : {};
  const entity = said.entity ?? (maker !== null && isOfEntity(session) ? session.slice(0, ENTITY_DIGITS) : null);
  return {
    cell: `${reducer}/${session}`,
    session,
    agent: (entity === null ? undefined : nameOf(entity)) ?? agent,
    entity,
    tree: said.tree ?? null,
    node: numberIn(said.node),
    project: said.project ?? null,
    task: numberIn(said.task),
    result: numberIn(said.result),
    swarm: said.swarm ?? null,
    slot: said.slot ?? null,
  };
}

/** The owner of a cell that is no session. */
export function ownerOfCell([reducer, key]: Address, nameOf: (entity: string) => string | undefined): Owner {
  const entity = reducer === REDUCERS.entity ? key : null;
  return {
    ...NOBODY,
    cell: `${reducer}/${key}`,
    agent: entity === null ? null : (nameOf(entity) ?? null),
    entity,
    tree: reducer === REDUCERS.tree ? key : null,
    project: reducer === REDUCERS.project ? key : null,
    swarm: reducer === REDUCERS.swarm ? key : null,
  };
}

const NOBODY: Owner = {
  ...{ cell: '', session: null, agent: null, entity: null, tree: null, node: null },
  ...{ project: null, task: null, result: null, swarm: null, slot: null },
};

const ENTITY_DIGITS = 64;

function isOfEntity(session: string): boolean {
  return /^[0-9a-f]{64}\//.test(session);
}

function numberIn(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** An owner in a few words: `security, task 3 of review`, `node #2 of survey`, `main`. It holds no id. Escape it. */
export function ownerWords(of: Owner): string {
  requireArgument(typeof of?.cell === 'string', 'ownerWords(of)', 'an owner, as reports have them in `of`', of);
  const agent = of.agent ?? (of.session === null ? null : shortKey(of.session));
  const place =
    of.tree !== null
      ? of.node === null
        ? `tree ${of.tree}`
        : `node #${of.node} of ${of.tree}`
      : of.project !== null
        ? `${of.task === null ? (of.result === null ? 'project' : `result ${of.result} of`) : `task ${of.task} of`} ${of.project}`
        : of.swarm !== null
          ? `${of.slot === null ? 'swarm' : `${of.slot} of`} ${of.swarm}`
          : undefined;
  if (place === undefined) return of.session === null ? shortKey(of.cell) : `${shortKey(of.session)}${ofAgent(of)}`;
  return agent === null || of.session === null ? place : `${agent}, ${place}`;
}

/** The agent behind the key of a session, where the key does not name it. */
function ofAgent({ agent, session }: Owner): string {
  return agent === null || session === agent ? '' : ` (${agent})`;
}

const DIGITS_SHOWN = 8;

/** A key or an address without long ids: the beginning of each is left. */
export function shortKey(key: string): string {
  return key.replace(LONG_ID, shortId);
}

/** An id, a digest, or another run of digits that nobody reads. */
export const LONG_ID = /[0-9a-f]{32,}/g;

/** The beginning of an id: every command takes it in place of all of it. */
export function shortId(id: string): string {
  return `${id.slice(0, DIGITS_SHOWN)}…`;
}
