import { llmGenerateParams, llmGenerateReceipt } from '@reprise/contracts';
import { defineEffect, effectOnUse } from '@reprise/kernel/define';

/**
 * `llm.generate@2`: one model call. It is idempotent for the kernel: a repetition after a crash costs tokens and
 * changes nothing outside.
 */
export const llmGenerate = effectOnUse('llm.generate@2', () =>
  defineEffect({
    kind: 'llm.generate@2',
    params: llmGenerateParams,
    receipt: llmGenerateReceipt,
    guarantee: 'idempotent',
  }),
);
