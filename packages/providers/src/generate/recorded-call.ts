/**
 * Reads the receipts of model calls as any build recorded them. Until receipts said whom a call `asked`, the payload of
 * an answer did, as `by`.
 */
import {
  type AskedModel,
  askedModel,
  fieldsOf,
  isFields,
  type LlmGenerateReceipt,
  llmGenerateReceipt,
  type Receipt,
} from '@reprise/contracts';

/** Whom a call asked; undefined when its receipt does not say. */
export function askedIn(receipt: Pick<Receipt, 'asked' | 'payload'>): AskedModel | undefined {
  if (receipt.asked !== undefined) return receipt.asked;
  const before = askedModel.safeParse(fieldsOf(receipt.payload).by);
  return before.success ? before.data : undefined;
}

/** The payload of an answered call; undefined when it has none, or one of a newer build. */
export function answerIn({ payload }: Pick<Receipt, 'payload'>): LlmGenerateReceipt | undefined {
  if (!isFields(payload)) return undefined;
  const { by: _, ...rest } = payload;
  const parsed = llmGenerateReceipt.safeParse(rest);
  return parsed.success ? parsed.data : undefined;
}
