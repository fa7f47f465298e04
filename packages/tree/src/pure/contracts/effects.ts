/** The effects of a tree itself: whether a result is of its node's type, and what the part of a world supplies. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { defineEffect } from '@reprise/kernel/define';
import { treeSupplies } from './commands.js';
import { RESULT_TYPES } from './names.js';
import { given } from './node.js';

/** What is checked: a value or a text from a call, a last answer, or the results of the steps of a serial, which make a list. */
export const treeCheckParams = z.strictObject({
  returns: z.enum(RESULT_TYPES),
  schema_ref: z.nullable(ref()),
  from: z.union([
    z.strictObject({ value_ref: ref() }),
    z.strictObject({ text_ref: ref() }),
    z.strictObject({ output_ref: ref() }),
    z.strictObject({ list: z.array(given).max(64) }),
  ]),
  summary_ref: z.nullable(ref()),
  /** The tree, in whose folder a file must stand. */
  tree: z.string().max(128),
});

/** What a check found: the content that counts, or what is wrong, as a text. */
export const treeCheckReceipt = z.union([z.strictObject({ given }), z.strictObject({ problems_ref: ref() })]);

/** The effect of checking a result. */
export const treeCheck = defineEffect({
  kind: 'tree.check@1',
  params: treeCheckParams,
  receipt: treeCheckReceipt,
  guarantee: 'idempotent',
});

/** `tree.agents@1`: the agents and texts that the part of a world supplies. It reads and writes content only. */
export const treeAgents = defineEffect({
  kind: 'tree.agents@1',
  params: z.strictObject({ memory: z.exactOptional(z.enum(['read', 'write'])) }),
  receipt: treeSupplies,
  guarantee: 'idempotent',
});

/** A result to be checked: the parameters of `tree.check@1`. */
export type TreeCheckParams = z.infer<typeof treeCheckParams>;

/** The verdict on a result: the receipt of `tree.check@1`. */
export type TreeChecked = z.infer<typeof treeCheckReceipt>;
