/** Makes the outcome that an effect could have had from words of an operator: another answer, or a refusal. */
import { type LlmOutput, putText } from '@reprise/agent';
import { type Receipt, RepriseError, type Value } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import { type ContentStore, memory, type OtherOutcome, type ReadonlyStore } from '@reprise/kernel';
import { putValue, readFrame } from '@reprise/kernel/store';
import { EFFECTS } from '../names/reducers.js';

/** An effect that was settled, as its original recorded it. */
export interface SettledEffect {
  readonly effect: string;
  readonly name: string;
  readonly params: Value;
  readonly receipt: Receipt;
  /** The frame that emitted it. */
  readonly frame: number;
}

/** The outcome of an effect that a person did not approve. */
export const DENIED: OtherOutcome = { status: 'denied', code: 'policy_denied/not_approved' };

/**
 * Finds an effect and how it was settled.
 *
 * @param named its id, or at least the first 8 digits of it
 * @throws RepriseError `invalid_argument` when no effect, or several, begin with these digits, and for one that is open
 */
export async function settledEffect(store: ReadonlyStore, named: string, signal?: AbortSignal): Promise<SettledEffect> {
  const digits = /^[0-9a-f]{8,64}$/.test(named) ? named : undefined;
  const found = new Map<string, Omit<SettledEffect, 'effect' | 'receipt'> & { readonly receipt?: Receipt }>();
  if (digits !== undefined)
    for await (const { seq, bytes } of store.journal.read(0)) {
      signal?.throwIfAborted();
      for (const record of readFrame(bytes, seq).all) {
        if (record.kind === 'effect' && record.effect.startsWith(digits))
          found.set(record.effect, { name: record.name, params: record.params, frame: seq });
        if (record.kind !== 'receipt' && record.kind !== 'settled') continue;
        const known = found.get(record.effect);
        if (known !== undefined && known.receipt === undefined)
          found.set(record.effect, { ...known, receipt: receiptIn(record) });
      }
    }
  const [first, second] = [...found];
  if (first === undefined || second !== undefined)
    throw unmeant(named, second === undefined ? 'no effect begins with this' : 'several effects begin with this');
  const [effect, { receipt, ...rest }] = first;
  if (receipt === undefined) throw unmeant(named, 'the effect is open: it has no outcome yet');
  return { effect, receipt, ...rest };
}

function receiptIn(record: { readonly receipt: Receipt } | { readonly status: string }): Receipt {
  return 'receipt' in record
    ? record.receipt
    : ({ adapter: 'kernel', status: record.status, attempts: 0 } as unknown as Receipt);
}

function unmeant(actual: string, message: string): RepriseError {
  return new RepriseError('invalid_argument', message, {
    where: 'effect',
    expected: 'the id of an effect that has an outcome, or at least its first 8 digits',
    actual,
    hint: 'reprise tail prints the ids of effects; reprise prompt and reprise waiting name them too.',
  });
}

/**
 * The outcome that an effect gets when it is answered with a text: what the model says without calls, what a tool returns,
 * what a person answers. An effect of another kind takes its payload as JSON.
 *
 * @throws RepriseError `invalid_argument` for a text that is no JSON, for an effect of another kind, or for a model call without an answer
 */
export async function answeredWith({ name, receipt }: SettledEffect, said: string): Promise<OtherOutcome> {
  const kept = new KeptContent();
  const payload = await payloadOf(name, receipt, said, kept as unknown as ContentStore);
  return { status: 'ok', payload: payload as Value, contents: kept.contents };
}

async function payloadOf(name: string, receipt: Receipt, said: string, content: ContentStore): Promise<unknown> {
  switch (name) {
    case EFFECTS.model:
      return modelPayload(receipt, said, content);
    case EFFECTS.tool:
      return toolPayload(said, content);
    case EFFECTS.ask: {
      const answer = valueIn(said) ?? said;
      return { value_ref: await putValue(content, answer), text_ref: await putText(content, said) };
    }
    default: {
      const value = valueIn(said);
      if (value !== undefined) return value;
      throw new RepriseError('invalid_argument', `an effect ${name} takes its payload as JSON`, {
        where: 'answer',
        expected: 'JSON',
        actual: said,
      });
    }
  }
}

/** The payload of the recorded answer, with the text in place of its words and calls. */
async function modelPayload({ payload }: Receipt, text: string, content: ContentStore): Promise<unknown> {
  if (payload === undefined)
    throw new RepriseError('invalid_argument', 'the model call has no answer whose words could be others', {
      where: 'answer',
      expected: 'a model call that was answered',
      actual: 'a call that failed',
    });
  const { dropped_calls: _, blank: __, returns: ___, ...rest } = payload as Readonly<Record<string, Value>>;
  const output = await putValue(content, { text, tool_calls: [] } satisfies LlmOutput);
  return { ...rest, output_ref: output, raw_output_ref: output, finish_reason: 'stop', tool_calls: [] };
}

async function toolPayload(text: string, content: ContentStore): Promise<unknown> {
  const output = await putText(content, text);
  const bytes = new TextEncoder().encode(text).length;
  return {
    ...{ operator_output_ref: output, model_output_ref: output, is_error: false },
    truncation_meta: { original_bytes: bytes, bounded_bytes: bytes, truncated: false, policy_id: 'fork' },
  };
}

/** A text as a value; undefined when it is no JSON. */
function valueIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined; // words that are no JSON
  }
}

/** Content that is kept beside its links, to be handed to a fork. */
class KeptContent {
  readonly contents: Uint8Array[] = [];
  readonly #store = memory().open();

  async put(bytes: Uint8Array): ReturnType<ContentStore['put']> {
    this.contents.push(bytes);
    return (await this.#store).content.put(bytes);
  }
}
