/** Bounds on what models and apps give to trees, each with its reason. */

/** The bytes of a prompt that a model writes for a child: many times what models write for one. */
export const PROMPT_BYTES_MAX = 100_000;

/** The bytes of a task that an app gives: below the bytes of a composed prompt, so that it is never cut there. */
export const TASK_BYTES_MAX = 300_000;

/** The bytes of a question: a person reads it. */
export const QUESTION_BYTES_MAX = 8_000;

/** The bytes of the JSON Schema of a result: it stands in the prompt. */
export const RESULT_SCHEMA_BYTES_MAX = 8 * 1024;

/** The bytes of the summary of a result: what a prompt shows of it. */
export const RESULT_SUMMARY_BYTES_MAX = 600;

/** The bytes of a file that is a result: a larger one is better named than carried. */
export const RESULT_FILE_BYTES_MAX = 16 * 1024 * 1024;

/** The bytes of an agent with its variants: an entry of a table holds it. */
export const TREE_AGENT_BYTES_MAX = 15 * 1024;

/** The bytes of the labels of a tree: each of its sessions has them, with two of its own. */
export const TREE_LABELS_BYTES_MAX = 1_536;

/** The agents of one tree: each is an entry of its table, and the event that starts it carries all of them. */
export const TREE_AGENTS_MAX = 32;

/** The bytes of what starts a tree, its agents included: just below the kernel's bound on the value of an event. */
export const TREE_START_BYTES_MAX = 65_000;
