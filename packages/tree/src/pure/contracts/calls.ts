/** The calls of a node's tools, as the tree receives them: long texts are links. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { goalText, need, nodeAgentName, nodeSpec } from './commands.js';
import { ANSWER_TYPES, NEEDS_MAX, OPTION_LENGTH_MAX, OPTIONS_MAX, RESULT_TYPES, STEPS_MAX } from './names.js';
import { answered, askTarget, nodeNumber } from './node.js';

/** One step of a serial. */
const step = z.strictObject({
  goal: goalText,
  prompt_ref: ref(),
  returns: z.exactOptional(z.enum(RESULT_TYPES)),
  schema_ref: z.exactOptional(ref()),
  agent: z.exactOptional(nodeAgentName),
});

/** The arguments of each tool. */
export const nodeCalls = {
  read_tree: z.strictObject({
    root: z.exactOptional(nodeNumber),
    depth: z.exactOptional(z.int().min(1).max(12)),
    after: z.exactOptional(z.int().min(0)),
  }),
  read_node: z.strictObject({ node_id: nodeNumber }),
  spawn: nodeSpec,
  fork: nodeSpec,
  serial: z.strictObject({
    goal: goalText,
    steps: z.array(step).min(1).max(STEPS_MAX),
    blocked_by: z.exactOptional(z.array(need).max(NEEDS_MAX)),
    result: z.exactOptional(z.enum(['last', 'list'])),
  }),
  /** A text that is not blank is given as `text`, anything else as `value_ref`; neither when nothing was given. */
  complete: z.strictObject({
    text: z.exactOptional(z.strictObject({ ref: ref(), bytes: z.int().min(1) })),
    value_ref: z.exactOptional(ref()),
    summary_ref: z.exactOptional(ref()),
  }),
  ask: z.strictObject({
    question_ref: ref(),
    /** The question as agents read it. */
    text_ref: ref(),
    /** The beginning of the question, in one line. */
    goal: goalText,
    options: z.exactOptional(z.array(z.string().min(1).max(OPTION_LENGTH_MAX)).min(2).max(OPTIONS_MAX)),
    default: z.exactOptional(z.string().min(1).max(OPTION_LENGTH_MAX)),
    target: z.exactOptional(askTarget),
    returns: z.exactOptional(z.enum(ANSWER_TYPES)),
    deadline_seconds: z.exactOptional(
      z
        .int()
        .min(1)
        .max(366 * 86_400),
    ),
  }),
  answer: z.strictObject({ ask_id: nodeNumber, text_ref: ref(), picked: answered.shape.picked }),
  stop: z.strictObject({ node_id: nodeNumber }),
};

/** The arguments of a tool. */
export type CallOf<T extends keyof typeof nodeCalls> = z.infer<(typeof nodeCalls)[T]>;
