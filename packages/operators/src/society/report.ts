/** The shape of what `reprise society show --json` prints. */
import * as z from '@reprise/contracts/schema';

const count = z.int().min(0);
const named = z.strictObject({ id: z.string(), name: z.string() });

/** A person or an agent of a society. */
const societyEntity = z.strictObject({
  ...named.shape,
  /** `person`, or the type of the agent. */
  kind: z.string(),
  status: z.string(),
  /** Why it has that status. */
  reason: z.string(),
  /** Its maker; null for a person. */
  parent: z.nullable(named),
  depth: count,
  /** The tier that the verdicts of its parent give. */
  tier: z.string(),
});

/** A person or an agent of a society. */
export type SocietyEntity = z.infer<typeof societyEntity>;

/** A group, with its members. */
const societyGroup = z.strictObject({
  id: z.string(),
  /** `group`, or `swarm` for that of a swarm. */
  kind: z.string(),
  standing: z.string(),
  /** Whether writes are refused in an emergency. */
  emcon: z.boolean(),
  members: z.array(z.strictObject({ ...named.shape, role: z.string(), tier: z.nullable(z.string()) })),
});

/** A group, with its members. */
export type SocietyGroup = z.infer<typeof societyGroup>;

/** What an agent of a swarm has worked on, and what it found. */
const swarmResult = z.strictObject({
  task: count,
  slot: z.string(),
  index: count,
  agent: named,
  status: z.string(),
  attempt: count,
  /** Of a task that failed: why, by a code. */
  code: z.nullable(z.string()),
  /** The first words of what it found; null before that, and where they were erased. */
  words: z.nullable(z.string()),
});

/** What an agent of a swarm has worked on, and what it found. */
export type SwarmResult = z.infer<typeof swarmResult>;

/** A swarm, with the agents in its slots. */
const societySwarm = z.strictObject({
  id: z.string(),
  status: z.string(),
  strategy: z.string(),
  /** The first words of its goal; null where they were erased. */
  goal: z.nullable(z.string()),
  /** The stage that runs, of a pipeline: from 0 on, and it has as many as slots. */
  stage: count,
  stages: count,
  creator: named,
  code: z.nullable(z.string()),
  slots: z.array(
    z.strictObject({
      slot: z.string(),
      index: count,
      agent: z.nullable(named),
      phase: z.string(),
      task: z.nullable(count),
    }),
  ),
  /** The tasks that have not ended. */
  open: count,
  spent: z.strictObject({ tokens: count, micro_money: count }),
  /** What its agents found, the candidates of its result, by the numbers of their tasks. */
  results: z.array(swarmResult),
  /** Its final result: the words of its lead, or what its strategy made of the candidates; null before that. */
  result: z.nullable(z.string()),
});

/** A swarm, with the agents in its slots. */
export type SocietySwarm = z.infer<typeof societySwarm>;

/** What one entity thinks of another, from its verdicts. */
const societyTrust = z.strictObject({
  observer: named,
  agent: named,
  /** From 0 to 1,000,000: the share of items that are expected to be right. */
  score_ppm: count,
  observations: count,
  tier: z.string(),
});

/** What one entity thinks of another, from its verdicts. */
export type SocietyTrust = z.infer<typeof societyTrust>;

/** The answer of `societyOf`: who is in a society. */
export const societyReport = z.strictObject({
  frame: z.int(),
  /** People first, then agents by their depth and name. */
  entities: z.array(societyEntity),
  groups: z.array(societyGroup),
  swarms: z.array(societySwarm),
  trust: z.array(societyTrust),
});

/** The answer of `societyOf`: who is in a society. */
export type SocietyReport = z.infer<typeof societyReport>;
