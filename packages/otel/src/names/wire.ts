/**
 * Names of reducers, effects and events that a tracer looks for, written out: the packages that define them load their
 * reducers with them. A test compares them.
 */

/** The reducers whose cells have spans, or own sessions that do. */
export const REDUCERS = {
  session: 'aos.agent/SessionReducer@1',
  job: 'work/Job@1',
  tree: 'tree/Tree@1',
  project: 'specialists/Project@1',
  entity: 'society/Entity@1',
  swarm: 'society/Swarm@1',
} as const;

/** The effects that have spans. */
export const EFFECTS = {
  model: 'llm.generate@2',
  memoryWrite: 'memory.write@1',
  memoryRead: 'memory.read@1',
  memorySearch: 'memory.search@1',
} as const;

/** The events that say why something begins. */
export const EVENTS = {
  adopted: 'aos.agent/AgentAdopted@1',
  ownerCall: 'aos.agent/OwnerCall@1',
  ownerCalls: 'aos.agent/OwnerCalls@1',
  begin: 'work/Begin@1',
  work: 'society/Work@1',
} as const;

/** The calls of a node that make nodes. */
export const MAKING_CALLS: readonly string[] = ['spawn', 'fork', 'serial'];
