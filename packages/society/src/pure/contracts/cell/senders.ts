/** The senders that the events of a society declare: cells as their receivers know them. */
import { session } from '@reprise/agent/contracts';
import { by } from '@reprise/kernel/define';
import { TOPIC } from '@reprise/org/contracts';
import { ENTITY, GROUP, L1, STAGING, SWARM } from './names.js';

/** Of a hot context: its entity, which has the same key. */
export const ownEntity = by.cell({ reducer: ENTITY, key: [{ own: true }] });

/** Of an entity: its hot context, which has the same key. */
export const ownHot = by.cell({ reducer: L1, key: [{ own: true }] });

/** Of an agent, or its hot context: its parent. */
export const parentEntity = by.cell({ reducer: ENTITY, key: [{ state: 'parent_entity_id' }] });

/** Of an agent: the cell that made it. A person has none. */
export const makerCell = by.cell({ state: 'maker' });

/** Of an entity: an agent that it made. */
export const childAgent = by.row('children', { reducer: ENTITY });

/** Of an entity: the hot context of an agent that it made, whose own cell has failed. */
export const childHot = by.row('children', { reducer: L1 });

/** Of an entity: a swarm that it created. */
export const ownSwarm = by.row('swarms', { reducer: SWARM });

/** The swarm that the event names. */
export const namedSwarm = by.cell({ reducer: SWARM, key: [{ event: 'swarm_id' }] });

/** The group that the event names. */
export const namedGroup = by.cell({ reducer: GROUP, key: [{ event: 'group' }] });

/** Of an entity: the topic of a group whose member it is. */
export const groupTopic = by.row('memberships', { reducer: TOPIC, key: ['society/', { row: true }] });

/** Of an entity: a session that it made. */
export const ownSession = session('sessions', [{ own: true }, '/', { row: true }]);

/** Of an entity: the cell of a staging store that it made. */
export const ownStaging = by.row('staged', { reducer: STAGING });

/** Of a group: its topic. */
export const ownTopic = by.cell({ reducer: TOPIC, key: ['society/', { own: true }] });

/** Of a group: the cell that commands it. */
export const groupOwner = by.cell({ state: 'owner' });

/** Of a group: an entity that it knows as a member. Whether the membership stands is asked with its row. */
export const groupMember = by.row('members', { reducer: ENTITY });

/** Of a group: the hot context of a member whose own cell has failed. */
export const memberHot = by.row('members', { reducer: L1 });

/** Of a swarm: the entity that created it, its coordinator, and an agent of it. */
export const swarmCreator = by.cell({ reducer: ENTITY, key: [{ state: 'creator' }] });
export const swarmCoordinator = by.cell({ reducer: ENTITY, key: [{ state: 'coordinator' }] });
export const swarmAgent = by.row('agents', { reducer: ENTITY });

/** Of a swarm: the hot context of an agent of it, whose own cell has failed. */
export const swarmAgentHot = by.row('agents', { reducer: L1 });

/** Of a swarm: its group. */
export const swarmGroup = by.cell({ reducer: GROUP, key: [{ state: 'group' }] });
