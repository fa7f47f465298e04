/** A node as the tree stores it, and the entries of the tables around it. */
import { actor, capability, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { callPlace } from '@reprise/org/contracts';
import { used } from './limits.js';
import {
  ANSWER_TYPES,
  NODE_STATUSES,
  NODE_TYPES,
  ON_FAILURE,
  OPTION_LENGTH_MAX,
  OPTIONS_MAX,
  PHASES,
  RESULT_TYPES,
  VIEWS,
} from './names.js';

const count = z.int().min(0);

/** The number of a node: counted from 1, never used again. */
export const nodeNumber = z.int().min(1).max(9_999_999);

/** Content that a node gave: a text, a value, or a model's whole answer. `summary_ref` is what it gave as its summary. */
export const given = z.strictObject({
  ref: ref(),
  kind: z.enum(['text', 'value', 'llm_output']),
  bytes: z.nullable(count),
  summary_ref: z.exactOptional(ref()),
});

/** Content that a node gave. */
export type Given = z.infer<typeof given>;

/** The result of a run that has not ended: it may be without content, and may be unchecked, when the run made children. */
export const draft = z.strictObject({ given: z.nullable(given), checked: z.boolean() });

/** The result of a run that has not ended. */
export type Draft = z.infer<typeof draft>;

/** A draft as the table `drafts` holds it, with the time by which its run is to end; null when nothing is awaited of it. */
export const storedDraft = z.strictObject({ ...draft.shape, due: z.nullable(count) });

/** A draft as the table `drafts` holds it. */
export type StoredDraft = z.infer<typeof storedDraft>;

/** The states of a node's own run. */
export const RUNS = ['none', 'composing', 'live', 'waiting', 'checking', 'draining'] as const;

/** The runs that take a slot; one that waits for a person or another agent takes none. */
export const WITH_SLOT: readonly (typeof RUNS)[number][] = ['composing', 'live', 'draining'];

/** A node: an entry of the table `nodes`. */
export const nodeRow = z.strictObject({
  n: nodeNumber,
  type: z.enum(NODE_TYPES),
  parent: z.nullable(nodeNumber),
  depth: count,
  goal: z.string().min(1).max(500),
  /** Its whole instructions; null for a serial and a question. */
  prompt_ref: z.nullable(ref()),
  returns: z.enum(RESULT_TYPES),
  /** The JSON Schema of its result, as a value. */
  schema_ref: z.nullable(ref()),
  agent: z.string().max(64),
  priority: z.int().min(-1000).max(1000),
  status: z.enum(NODE_STATUSES),
  paused: z.boolean(),
  phase: z.enum(PHASES),
  /** How often it has been told to synthesize. */
  gen: count,
  /** The children made since its last launch for work or synthesis, those that it stopped itself not counted. */
  since: count,
  /** Its children that have not ended, questions not counted. */
  open: count,
  /** The nodes that it needs and that have not ended. */
  unmet: count,
  attempt: count,
  /** How often it was launched: what comes back under another number is late. */
  launch: count,
  session: z.nullable(z.string().max(256)),
  /** The inputs that this session has been sent: one run each. */
  runs: count,
  /** How many sessions it has had. */
  sessions: count,
  run: z.enum(RUNS),
  /** Whether its run answers questions of its children, and decides nothing about the node itself. */
  answering: z.boolean(),
  /** The plan that composes its prompt or checks its result; null without one. */
  plan: z.nullable(count),
  /** The questions that it asked. */
  asks: count,
  /** Why its last run ended without a result, for its next prompt. */
  unfinished: z.nullable(z.string().max(96)),
  result: z.nullable(given),
  code: z.nullable(z.string().max(96)),
  /** Who stopped it; absent for one that ended in another way, and for one that ended with a node above it. */
  stopped_by: z.exactOptional(actor),
  /** How often its result was wrong in this attempt. */
  wrong: count,
  /** What it may use, in the unit of the tree's budget; null without a bound. */
  budget: z.nullable(count),
  spent: used,
  /** What is set aside for its run, in the unit of the tree's budget. */
  reserved: count,
  timeout_ms: z.nullable(count),
  /** Of a serial: whether its result is the last step's, or a list of all. */
  serial: z.nullable(z.enum(['last', 'list'])),
});

/** A node as the tree stores it. */
export type NodeRow = z.infer<typeof nodeRow>;

/** An edge: one node needs another, and is shown its result. */
export const edge = z.strictObject({ view: z.enum(VIEWS), on_failure: z.enum(ON_FAILURE) });

/** An edge between a node and one that it needs. */
export type Edge = z.infer<typeof edge>;

/** The party that a question is for: people, the parent, the children, or one child by its number. */
export const askTarget = z.union([z.enum(['human', 'parent', 'children']), nodeNumber]);

/** The outcome of a question: an answer, its default, or that the time ran out. */
export const answered = z.strictObject({
  how: z.enum(['answered', 'default', 'timed_out', 'cancelled']),
  /** Who answered; null when nobody did: a default, the end of the time, the end of the asker. */
  by: z.nullable(actor),
  /** The answer when it is short: an option, yes or no. */
  picked: z.nullable(z.union([z.string().max(OPTION_LENGTH_MAX), z.boolean()])),
  text_ref: z.nullable(ref()),
});

/** An answer to a question. */
export type Answered = z.infer<typeof answered>;

/** A question: what stands beside its node. */
export const askRow = z.strictObject({
  /** The number of the asking node. */
  asker: nodeNumber,
  /** The call that waits for the answer; null when its program has gone on. */
  call: z.nullable(callPlace),
  target: askTarget,
  /** Whose answer is awaited now: nodes, or people when it is empty. */
  route: z.array(nodeNumber).max(64),
  /** The nodes of the route that have been told. */
  told: z.array(nodeNumber).max(64),
  /** The question as a value for people, and as a text for agents. */
  question_ref: ref(),
  text_ref: ref(),
  options: z.array(z.string().min(1).max(OPTION_LENGTH_MAX)).max(OPTIONS_MAX),
  returns: z.enum(ANSWER_TYPES),
  /** The default: its index among the options; null without one. */
  default: z.nullable(count),
  deadline: z.nullable(count),
  /** The plan that asks people; null when none does. */
  plan: z.nullable(count),
  answers: z.array(z.strictObject({ by: nodeNumber, text_ref: ref(), picked: answered.shape.picked })).max(64),
  /** The outcome, once there is one; `passed` says whether its asker has received it. */
  outcome: z.nullable(answered),
  passed: z.boolean(),
});

/** A question: an entry of the table `asks`. */
export type AskRow = z.infer<typeof askRow>;

/** Words for the next prompt of a node: an entry of the table `told`. */
export const toldWords = z.strictObject({
  text_ref: ref(),
  /** Who said them; null for the tree itself, which says what is wrong with a result. */
  by: z.nullable(actor),
});

/** What stands in a composed prompt besides the task: it counts as received once the run has begun. */
export const carried = z.strictObject({
  /** The nodes whose results it contains. */
  inputs: z.array(nodeNumber).max(256),
  /** The node's own questions whose outcomes it contains. */
  answers: z.array(nodeNumber).max(64),
  /** The questions of others that it contains. */
  questions: z.array(nodeNumber).max(256),
  /** The entries of the table `told` that it contains. */
  told: z.array(z.string().max(32)).max(64),
});

/** What stands in a composed prompt besides the task. */
export type Carried = z.infer<typeof carried>;

/** Rights in the form that is recorded: a capability of the kernel. */
export type RecordedRights = z.infer<typeof capability>;

/** A launch whose session is on its way to its rights: an entry of the table `launching`, by the number of its node. */
export const launchingNode = z.strictObject({
  launch: count,
  /** What is being set for the session. */
  rights: capability,
  text_ref: ref(),
  carries: carried,
});

/** What is still to be passed on. */
export const workItem = z.strictObject({
  do: z.enum(['ended', 'blocked', 'pause', 'resume', 'again', 'restrict']),
  n: nodeNumber,
  /** How far it has come. */
  stage: z.enum(['children', 'dependents', 'parent']),
  after: z.nullable(z.string().max(32)),
});

/** What is still to be passed on. */
export type WorkItem = z.infer<typeof workItem>;

/** What a plan of a tree is for: an entry of the table `plans`. */
export const treePurpose = z.union([
  /** Agents and texts of the part of the world. */
  z.strictObject({ of: z.literal('agents') }),
  /** The prompt of a launch. */
  z.strictObject({ of: z.literal('prompt'), n: nodeNumber, launch: count }),
  /** The verdict on a result; `call` waits for it, or is null. */
  z.strictObject({ of: z.literal('check'), n: nodeNumber, launch: count, call: z.nullable(callPlace) }),
  /** A question as its node reads it. */
  z.strictObject({ of: z.literal('question'), ask: nodeNumber, to: nodeNumber }),
  /** An answer of people. */
  z.strictObject({ of: z.literal('people'), ask: nodeNumber }),
]);
