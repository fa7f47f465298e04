import { readLlmOutput } from '@reprise/agent';
import { isRepriseError, llmGenerateReceipt } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { script, scriptBy } from '../src/index.js';
import { MARKS_RULE } from '../src/prompt/system-text.js';
import { type Ran, run } from './harness.js';

async function outputOf({ outcome, content }: Ran) {
  if (outcome.status !== 'ok') throw new Error(`the outcome is ${JSON.stringify(outcome)}`);
  return readLlmOutput(content, llmGenerateReceipt.parse(outcome.payload).output_ref);
}

describe('a scripted model', () => {
  it('a script answers its steps in order: texts, data, calls, reasoning, or the result of a function', async () => {
    const model = script(
      { text: 'One.', reasoning: 'hm' },
      { json: { a: 1 } },
      { calls: [{ tool: 'add', args: { a: 1 } }] },
      ({ last }) => ({ text: `You said ${last}` }),
    );
    expect(await outputOf(await run(model))).toMatchObject({
      text: 'One.',
      opaque: [{ kind: 'reasoning', text: 'hm' }],
    });
    expect((await outputOf(await run(model))).text).toBe('{"a":1}');
    expect((await outputOf(await run(model))).tool_calls).toMatchObject([{ tool: 'add', args: { a: 1 } }]);
    expect((await outputOf(await run(model))).text).toBe('You said Hello');
    expect(model.requests[3]).toMatchObject({
      system: `Be brief.\n\n${MARKS_RULE}`,
      messages: [{ role: 'user', text: 'Hello' }],
      tools: [],
      last: 'Hello',
    });
    model.done();
  });

  it('unused steps are listed in the error', async () => {
    const model = script({ text: 'One.' }, { text: 'Two.' });
    await run(model);
    expect(() => model.done()).toThrow(
      expect.toSatisfy(
        (error) =>
          isRepriseError(error, 'invalid_argument') && String(error).includes('Step 2 was not used: {"text":"Two."}'),
      ),
    );
  });

  it('a request after the last step ends the loop, and the error shows the request', async () => {
    const model = script({ text: 'One.' });
    await run(model);
    const { outcome } = await run(model);
    expect(outcome).toMatchObject({ code: 'provider_error_terminal/script_ended', retryable: false });
    expect(() => model.done()).toThrow('Request 2 has no step; it ends with: Hello');
  });

  it('a script streams in pieces, and breaks off where a step says so', async () => {
    const { notes } = await run(script({ text: 'Done.', cut: 2 }));
    expect(notes).toEqual([
      { type: 'delta', channel: 'text', index: 0, text: 'Do' },
      { type: 'delta.reset' },
      expect.objectContaining({ type: 'retry' }),
      { type: 'delta', channel: 'text', index: 0, text: 'Don' },
      { type: 'delta', channel: 'text', index: 0, text: 'e.' },
    ]);
  });

  it.each([
    ['provider_error_retryable/rate_limited', true],
    ['provider_error_terminal/refusal', false],
  ] as const)('a step fails with %s', async (fail, retryable) => {
    const { outcome } = await run(script({ fail, usage: { tokens_in: 3 } }));
    expect(outcome).toEqual({ status: 'error', code: fail, retryable, usage: { tokens_in: 3 } });
  });

  it('usage of a step is counted', async () => {
    const { outcome } = await run(script({ text: 'x', usage: { tokens_in: 5, tokens_out: 2, micro_money: 7 } }));
    expect(outcome).toMatchObject({ usage: { calls: 1, tokens_in: 5, tokens_out: 2, micro_money: 7 } });
  });

  it('a function can answer every request until it returns undefined', async () => {
    const model = scriptBy(({ last }, number) => (number < 3 ? { text: `${number} ${last}` } : undefined));
    expect((await outputOf(await run(model))).text).toBe('1 Hello');
    expect((await outputOf(await run(model))).text).toBe('2 Hello');
    expect((await run(model)).outcome).toMatchObject({ code: 'provider_error_terminal/script_ended' });
  });
});
