import { createHash } from 'node:crypto';
import { type AskedCall, putText, readLlmOutput, type TranscriptItem } from '@reprise/agent';
import { llmGenerateReceipt } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import { getValue, putValue } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { assembleRequest, type ScriptStep, script } from '../src/index.js';
import { MARKS_RULE } from '../src/prompt/system-text.js';
import { authorIn, listed, type Ran, run, said, trusting } from './harness.js';

function payloadOf({ outcome }: Ran) {
  if (outcome.status !== 'ok') throw new Error(`the outcome is ${JSON.stringify(outcome)}`);
  return llmGenerateReceipt.parse(outcome.payload);
}

const noted = (text: string) => async (content: ContentStore) => ({ value_ref: await putValue(content, text) });

describe('a model call', () => {
  it('the judge is called once for context, and the receipt stores the result', async () => {
    let asked = 0;
    const model = script({ text: 'Hi.' });
    const ran = await run(model, {
      judge: {
        context: async ({ content }) => {
          asked++;
          return [{ lane: 'memory', name: 'facts', text_ref: await putText(content, 'Ann likes tea.') }];
        },
      },
    });
    expect(asked).toBe(1);
    expect(model.requests[0]!.system).toBe(`Be brief.\n\n${MARKS_RULE}\n\n# memory: facts\n\nAnn likes tea.`);
    expect(payloadOf(ran).context).toMatchObject([{ lane: 'memory', name: 'facts' }]);
  });

  it('context in the parameters is used without calling the judge', async () => {
    const model = script({ text: 'Hi.' });
    const ran = await run(model, {
      params: { context: [] },
      judge: { context: () => Promise.reject(new Error('was asked')) },
    });
    expect(payloadOf(ran).context).toBeUndefined();
    expect(model.requests[0]!.system).toBe(`Be brief.\n\n${MARKS_RULE}`);
  });

  it('calls are judged, and the answer only when it has no calls [TOOL-4]', async () => {
    const seen: AskedCall[] = [];
    const judge = {
      calls: (...[asked, about]: Parameters<typeof trusting.calls>) => {
        seen.push(...asked);
        return trusting.calls(asked, about);
      },
      returns: (text: string, { content }: { content: ContentStore }) => noted(text)(content),
    };
    const calling = payloadOf(
      await run(script({ text: 'I add.', calls: [{ tool: 'add', args: { a: 1 } }] }), { judge }),
    );
    expect(seen).toEqual([{ callId: 'call_1_1', tool: 'add', args: { a: 1 } }]);
    expect(calling).toMatchObject({ finish_reason: 'tool_calls', tool_calls: [{ call_id: 'call_1_1' }] });
    expect(calling.returns).toBeUndefined();
    const ran = await run(script({ text: '42' }), { judge });
    expect(await getValue(ran.content, (payloadOf(ran).returns as { value_ref: never }).value_ref)).toBe('42');
  });

  it('calls are stored under the ids that the judge assigned', async () => {
    const ran = await run(script({ calls: [{ tool: 'add', args: {} }] }), {
      judge: {
        calls: async (asked, about) =>
          (await trusting.calls(asked, about)).map((call) => ({ ...call, call_id: `judged_${call.call_id}` })),
      },
    });
    const payload = payloadOf(ran);
    const output = await readLlmOutput(ran.content, payload.output_ref);
    expect(output.tool_calls.map(({ call_id }) => call_id)).toEqual(['judged_call_1_1']);
    expect(payload.tool_calls.map(({ call_id }) => call_id)).toEqual(['judged_call_1_1']);
  });

  it('the receipt names the model, the size of the request and its digest [MOD-15]', async () => {
    const ran = await run(script({ text: 'Hi.' }));
    const payload = payloadOf(ran);
    expect(ran.observed.asked).toEqual({ profile: 'script', model: 'script', provider: 'script' });
    const { content, params, items } = ran;
    const again = await assembleRequest(params, { content, client: script(), readContext: listed(items) }, payload);
    expect(again.digest).toBe(payload.request_digest);
    expect(again.prefixDigest).toBe(payload.prefix_digest);
    expect(again.written.body.length).toBe(payload.request_bytes);
  });

  it('the request changes when one byte of its linked content changes', async () => {
    const ran = await run(script({ text: 'Hi.' }));
    const { content, params, items } = ran;
    const system_ref = await putText(content, 'Be brief!');
    const sources = { content, client: script(), readContext: listed(items) };
    const again = await assembleRequest({ ...params, system_ref }, sources, payloadOf(ran));
    expect(again.digest).not.toBe(payloadOf(ran).request_digest);
  });

  it('a request begins with the bytes of the previous request, and its receipt proves it [MOD-14]', async () => {
    const first = await run(script({ text: 'One.' }));
    const { content, params, items } = first;
    const answer = payloadOf(first);
    const then: TranscriptItem[] = [
      ...items,
      { role: 'assistant', output_ref: answer.output_ref, by: authorIn(first), calls: [] },
      said(await putText(content, 'And?')),
    ];
    const { written } = await assembleRequest(params, { content, client: script(), readContext: listed(then) }, answer);
    const prefix = written.body.subarray(0, answer.request_bytes - 2);
    expect(createHash('sha256').update(prefix).digest('hex')).toBe(answer.prefix_digest);
  });

  it('tools are listed in the order of their names [MOD-19]', async () => {
    const { content, params } = await run(script({ text: 'x' }));
    const list = ['b', 'a', 'c'].map((name) => ({ name, description: '', schema: { type: 'object' } }));
    const tools_ref = await putValue(content, list);
    const sources = { content, client: script(), readContext: listed([]) };
    const { body } = await assembleRequest({ ...params, tools_ref }, sources);
    expect((body as { tools: { name: string }[] }).tools.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('tools of toolsets and other tools form one list', async () => {
    const { content, params } = await run(script({ text: 'x' }));
    const list = (...names: string[]) =>
      putValue(
        content,
        names.map((name) => ({ name, description: '', schema: { type: 'object' } })),
      );
    const [tools_ref, far, near] = [await list('m', 'b'), await list('n', 'c'), await list('a')];
    const sources = { content, client: script(), readContext: listed([]) };
    const { body } = await assembleRequest({ ...params, tools_ref, toolset_refs: [far, near] }, sources);
    expect((body as { tools: { name: string }[] }).tools.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'm', 'n']);
  });

  it('a call with an unknown version of the prompt assembly fails', async () => {
    const { outcome } = await run(script({ text: 'x' }), { params: { prompt: 'aos.agent/Prompt@9' } });
    expect(outcome).toMatchObject({ code: 'provider_error_terminal/unknown_prompt' });
  });
});

describe('stopping a model call', () => {
  const stopped = async (...steps: ScriptStep[]) => {
    const controller = new AbortController();
    const running = run(script(...steps), {
      context: {
        signal: controller.signal,
        progress: () => controller.abort(),
      },
    });
    setTimeout(() => controller.abort(), 20);
    return running;
  };

  it('a stopped call keeps its text, without calls and without unsigned reasoning [MOD-11]', async () => {
    const ran = await stopped({
      text: 'Once upon a time',
      reasoning: 'A tale.',
      calls: [{ tool: 'add', args: {} }],
      delayMs: Infinity,
    });
    const payload = payloadOf(ran);
    expect(payload).toMatchObject({ finish_reason: 'interrupted', tool_calls: [] });
    expect(payload.returns).toBeUndefined();
    expect(await readLlmOutput(ran.content, payload.output_ref)).toEqual({ text: 'Once upo', tool_calls: [] });
  });

  it('a stopped call without text is cancelled', async () => {
    expect((await stopped({ delayMs: Infinity })).outcome).toEqual({ status: 'cancelled' });
  });
});
