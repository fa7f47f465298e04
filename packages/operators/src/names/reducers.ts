/**
 * Names of reducers and effects that an answer looks for, written out: the packages that define them load their reducers
 * with them, which takes longer than most answers. A test compares them.
 */
export const REDUCERS = {
  session: 'aos.agent/SessionReducer@1',
  job: 'work/Job@1',
  tree: 'tree/Tree@1',
  project: 'specialists/Project@1',
  entity: 'society/Entity@1',
  group: 'society/Group@1',
  swarm: 'society/Swarm@1',
  store: 'memory/Store@1',
} as const;

/** Kinds of effects that have words of their own. */
export const EFFECTS = {
  model: 'llm.generate@2',
  tool: 'tool.call@1',
  ask: 'human.ask@1',
  adopt: 'toolset.adopt@1',
} as const;
