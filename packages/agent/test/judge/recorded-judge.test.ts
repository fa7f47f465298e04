import { type LlmGenerateParams, llmToolCall, type Value } from '@reprise/contracts';
import { type ContentStore, decode, encode, getBytes, portableSha256, toHex } from '@reprise/kernel';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { cpuMsOf } from '../../../../scripts/lib/cpu.js';
import { type AskedCall, JUDGING_MS_MAX, recordedJudge } from '../../src/judge/index.js';
import { type Build, childTools, defineOwnerTool, defineTool, type Tool } from '../../src/tools/index.js';
import { buildWith, freshContent, modelCall, SESSION, textAt } from '../tools/calling.js';

let content: ContentStore;
beforeEach(async () => {
  content = await freshContent();
});

const args = z.strictObject({ order: z.string(), cents: z.int().default(5) });
const tool = (over: object = {}): Tool =>
  defineTool({ name: 'refund', description: '', args, run: () => 'x', ...over } as never) as never;

const asked = (over: Partial<AskedCall> = {}): AskedCall => ({
  callId: 'c1',
  tool: 'refund',
  args: { order: 'o-1' },
  ...over,
});

async function judged(
  calls: readonly AskedCall[],
  tools: readonly Tool[],
  over: { readonly build?: Build; readonly params?: Partial<LlmGenerateParams> } = {},
) {
  const params = { ...(await modelCall(content, tools)), ...over.params };
  const context = { params, content, signal: new AbortController().signal };
  const answers = await recordedJudge(over.build ?? buildWith(tools)).calls(calls, context);
  for (const answer of answers) expect(llmToolCall.parse(answer)).toEqual(answer);
  return answers;
}

const one = async (...given: Parameters<typeof judged>) => {
  const [first] = await judged(...given);
  if (first === undefined) throw new Error('nothing was judged');
  return first;
};

describe('judging a call', () => {
  it('a judged call links its arguments as the model gave them, and equal calls have equal keys [TOOL-4]', async () => {
    const call = await one([asked({ args: { cents: 7, order: 'o' } })], [tool()]);
    expect(decode(await getBytes(content, call.args_ref))).toEqual({ order: 'o', cents: 7 });
    const digest = portableSha256(encode(['refund', { order: 'o', cents: 7 }]));
    expect(call.signature).toBe(toHex(digest).slice(0, 16));
    const other = await one([asked({ args: { order: 'o', cents: 8 } })], [tool()]);
    expect(other.signature).not.toBe(call.signature);
    expect(call.issue).toBeUndefined();
  });

  it('a judged call states the terms of its tool where they differ from the defaults [TOOL-4]', async () => {
    const plain = tool();
    expect(await one([asked()], [plain])).toMatchObject({
      guarantee: 'at_most_once',
      fingerprint: plain.entry.fingerprint,
    });
    const all = { guarantee: 'idempotent', timeout: '2s', parallel: false, polling: true, onUnknown: 'fail' };
    const call = await one([asked()], [tool({ ...all, resource: ({ order }: { order: string }) => `order/${order}` })]);
    expect(call).toMatchObject({
      guarantee: 'idempotent',
      timeout_ms: 2_000,
      parallel: false,
      polling: true,
      on_unknown: 'fail',
      resource: 'order/o-1',
    });
    expect(Object.keys(await one([asked()], [plain])).sort()).toEqual(
      ['args_ref', 'call_id', 'fingerprint', 'guarantee', 'judged_ref', 'meaning', 'signature', 'tool'].sort(),
    );
  });

  it('a call with invalid arguments has a text that tells the model how to correct them [TOOL-5]', async () => {
    const call = await one([asked({ args: { order: 7 } })], [tool()]);
    expect(call.issue).toBe('args_invalid');
    expect(await textAt(content, call.issue_ref as never)).toMatch(
      /^The arguments do not fit the schema of refund; nothing was done\.\n- order: .*\nCall it again/,
    );
    const brokenSchema = {
      '~standard': { version: 1, vendor: 'x', validate: () => Promise.reject(new Error('boom')) },
    };
    const broken = tool({ args: brokenSchema, jsonSchema: { type: 'object' } });
    expect((await one([asked()], [broken])).issue).toBe('args_invalid');
  });

  it('a call is refused for arguments that are not JSON, not an object or not canonical, and for an unknown or unlisted tool [TOOL-3]', async () => {
    const cases: [Partial<AskedCall>, string, RegExp][] = [
      [{ args: '{"order":', issue: 'args_not_json' }, 'args_not_json', /are not JSON/],
      [{ args: '[1]', issue: 'args_not_object' }, 'args_not_object', /not a JSON object/],
      [{ args: [1] }, 'args_not_object', /not a JSON object/],
      [{ args: null }, 'args_not_object', /not a JSON object/],
      [{ args: { order: 'a\ud800' } }, 'args_invalid', /invalid_value/],
      [{ tool: 'nope' }, 'tool_not_found', /no tool nope; nothing was done\.\nThe tools are: refund\./],
      [{ tool: '' }, 'tool_not_found', /no tool unnamed/],
      [{ tool: 'spawn_agent' }, 'tool_disabled', /no tool spawn_agent/],
    ];
    const build = buildWith([tool(), ...childTools(['scout'])]);
    for (const [over, issue, text] of cases) {
      const call = await one([asked(over)], [tool()], { build });
      expect([over, call.issue]).toEqual([over, issue]);
      expect(await textAt(content, call.issue_ref as never)).toMatch(text);
      expect(call.fingerprint).toBeUndefined();
    }
  });

  it('an agent that lists no tools has none, whatever the build has [TOOL-3]', async () => {
    const call = await one([asked()], [], { build: buildWith([tool()]) });
    expect(call.issue).toBe('tool_disabled');
    expect(await textAt(content, call.issue_ref as never)).toMatch(/no tool refund; nothing was done/);
  });

  it('a tool without code in this build is left to the adapter: without an issue, and without a fingerprint', async () => {
    const call = await one([asked()], [tool({ approval: 'always', timeout: '3s' })], { build: buildWith([]) });
    expect(call).toMatchObject({ guarantee: 'at_most_once', timeout_ms: 3_000 });
    for (const absent of ['issue', 'approval', 'fingerprint'] as const) expect(call[absent]).toBeUndefined();
  });

  it('two calls with one id get different ids [TOOL-6]', async () => {
    const ids = async (...given: string[]) =>
      (
        await judged(
          given.map((callId) => asked({ callId })),
          [tool()],
        )
      ).map(({ call_id }) => call_id);
    expect(await ids('a', 'b')).toEqual(['a', 'b']);
    expect(await ids('a', 'a', 'a_2', 'a')).toEqual(['a', 'a_3', 'a_2', 'a_4']);
    expect(await ids('', '', 'x'.repeat(300))).toEqual(['call_1', 'call_2', 'x'.repeat(128)]);
    expect(await ids('ü', 'ü')).toEqual(['ü', 'call_2']);
  });

  it('a judgment fits the receipt whatever a model wrote (seed 11) [TOOL-6]', async () => {
    const tools = [tool({ resource: ({ order }: { order: string }) => order })];
    const params = await modelCall(content, tools);
    const judge = recordedJudge(buildWith(tools));
    const calls = fc.array(
      fc.record({
        callId: fc.string({ unit: 'binary', maxLength: 200, size: 'max' }),
        tool: fc.oneof(fc.constant('refund'), fc.string({ unit: 'binary', maxLength: 300, size: 'max' })),
        args: fc.oneof(
          fc.record({ order: fc.string({ unit: 'binary', maxLength: 400, size: 'max' }) }),
          fc.jsonValue() as fc.Arbitrary<never>,
        ) as fc.Arbitrary<Value>,
      }),
      { maxLength: 70, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(calls, async (given) => {
        const answers = await judge.calls(given, { params, content, signal: new AbortController().signal });
        for (const answer of answers) expect(llmToolCall.parse(answer)).toEqual(answer);
        expect(new Set(answers.map(({ call_id }) => call_id)).size).toBe(answers.length);
        expect(answers).toHaveLength(Math.min(given.length, 64));
        expect(() => encode(answers)).not.toThrow();
      }),
      { seed: 11, numRuns: 60 },
    );
  });
});

describe('the question whether a call needs approval', () => {
  const approvalBy = async (approval: unknown) => (await one([asked()], [tool({ approval })])).approval;
  const reason = async (approval: unknown) => textAt(content, (await approvalBy(approval))?.reason_ref as never);

  it('an approval rule sees the converted arguments and the session, and its decision counts', async () => {
    expect(await approvalBy('never')).toBeUndefined();
    expect(await approvalBy('always')).toEqual({});
    const seen: unknown[] = [];
    const rule = (call: { args: { cents: number } }) => {
      seen.push(call);
      return call.args.cents > 100;
    };
    expect(await approvalBy(rule)).toBeUndefined();
    expect(seen).toEqual([{ args: { order: 'o-1', cents: 5 }, ...SESSION }]);
    expect(await approvalBy(async () => true)).toEqual({});
    expect(await approvalBy(() => ({ reason: 'much money', to: 'human:ann' }))).toMatchObject({ to: 'human:ann' });
    expect(await reason(() => ({ reason: 'much money' }))).toBe('much money');
  });

  it('a call needs an approval when the rule fails, returns nonsense, or names an impossible principal [TOOL-7]', async () => {
    const failing = () => {
      throw new Error('no tariff');
    };
    expect(await reason(failing)).toBe('The approval rule of refund could not be asked: no tariff');
    expect(await reason(() => Promise.reject(new Error('no tariff')))).toContain('no tariff');
    for (const nonsense of [undefined, null, 'no', 0]) expect(await approvalBy(() => nonsense)).toEqual({});
    expect(await approvalBy(() => ({ reason: 'x', to: 'not a pattern' }))).not.toHaveProperty('to');
    expect(await reason(() => ({}))).toBe('undefined');
  });

  it('a call needs an approval when the rule does not answer in time [TOOL-7]', async () => {
    vi.useFakeTimers();
    try {
      const call = one([asked()], [tool({ approval: () => new Promise(() => {}) })]);
      await vi.advanceTimersByTimeAsync(JUDGING_MS_MAX);
      expect((await call).approval?.reason_ref).toBeDefined();
    } finally {
      vi.useRealTimers();
    }
  });

  it('every call needs an approval when the model call is stopped meanwhile, with one listener for all of them', async () => {
    const tools = [tool({ approval: () => new Promise(() => {}) })];
    const stop = new AbortController();
    const listen = vi.spyOn(stop.signal, 'addEventListener');
    const calls = Array.from({ length: 64 }, (_, n) => asked({ callId: `c${n}` }));
    const context = { params: await modelCall(content, tools), content, signal: stop.signal };
    const judging = recordedJudge(buildWith(tools)).calls(calls, context);
    setTimeout(() => stop.abort(), 20);
    expect((await judging).filter(({ approval }) => approval !== undefined)).toHaveLength(64);
    expect(listen).toHaveBeenCalledTimes(1);
  });

  it('a call runs alone when its resource cannot be determined [TOOL-11]', async () => {
    const failing = () => {
      throw new Error('x');
    };
    for (const resource of [failing, () => '', () => 7]) {
      const call = await one([asked()], [tool({ resource })]);
      expect([call.parallel, call.resource]).toEqual([false, undefined]);
    }
  });
});

describe('a call that the session answers itself', () => {
  const tools = childTools(['scout']);
  const opOf = async (name: string, given: Value) => (await one([asked({ tool: name, args: given })], tools)).session;

  it('a call that the session executes is judged as a session operation', async () => {
    const spawn = await opOf('spawn_agent', { agent: 'scout', task: 'Look.', max_tokens: 9, max_seconds: 2 });
    expect(spawn).toMatchObject({ op: 'spawn', agent: 'scout', max_tokens: 9, max_wall_ms: 2_000 });
    const [part] = spawn?.op === 'spawn' ? spawn.parts : [];
    expect(part?.kind === 'text' && (await textAt(content, part.text_ref))).toBe('Look.');
    expect(await opOf('send_input', { child: 'c1', text: 'More.' })).toMatchObject({ op: 'send_input', child: 'c1' });
    expect(await opOf('wait_agents', { children: ['c1', 'c2', 'c1'], max_seconds: 3 })).toEqual({
      op: 'wait',
      children: ['c1', 'c2'],
      mode: 'all',
      within_ms: 3_000,
    });
    expect(await opOf('close_agent', { child: 'c1' })).toEqual({ op: 'close', child: 'c1' });
  });

  it('a call of an owner tool that this build has in other versions only is made by the first whose arguments it fits', async () => {
    const owner = (description: string, more: object) =>
      defineOwnerTool({
        name: 'report',
        description,
        args: z.strictObject({ text: z.string(), ...more }),
        keep: ({ text }) => ({ kept: `${description}: ${text}` }),
      }) as Tool;
    const recorded = owner('first', {});
    const ask = (tools: readonly Tool[], given: Value = { text: 'a' }) => {
      const build = { tool: () => undefined, tools: () => tools, agent: () => undefined };
      return one([asked({ tool: 'report', args: given })], [recorded], { build });
    };
    const stricter = owner('stricter', { by: z.string() });
    const changed = owner('changed', {});
    expect(await ask([stricter, changed])).toMatchObject({ session: { op: 'owner', args: { kept: 'changed: a' } } });
    expect(await ask([stricter])).toMatchObject({ session: { args: { text: 'a' } } });
    expect(await ask([tool(), changed])).toMatchObject({ session: { args: { kept: 'changed: a' } } });
    expect(await ask([changed], { text: 1 })).toMatchObject({ issue: 'args_invalid' });
  });

  it('a call that the session executes is refused when it names an unlisted agent or an impossible child', async () => {
    for (const [name, given] of [
      ['spawn_agent', { agent: 'stranger', task: 'x' }],
      ['send_input', { child: 'session-7', text: 'x' }],
      ['wait_agents', { children: [] }],
    ] as const) {
      const call = await one([asked({ tool: name, args: given })], tools);
      expect([call.issue, call.session]).toEqual(['args_invalid', undefined]);
    }
  });
});

describe('judging a final answer', () => {
  const Verdict = z.strictObject({ ok: z.boolean(), note: z.string().default('none') });
  const judgedReturn = async (text: string, schema: z.ZodType | undefined = Verdict, recorded: object | null = {}) => {
    const params = await modelCall(content, [], recorded);
    const context = { params, content, signal: new AbortController().signal };
    return recordedJudge(buildWith([], schema === undefined ? {} : { returns: schema })).returns(text, context);
  };
  const value = async (...given: Parameters<typeof judgedReturn>) => {
    const said = await judgedReturn(...given);
    if (said === undefined || !('value_ref' in said)) throw new Error('it was refused');
    return decode(await getBytes(content, said.value_ref));
  };
  const issue = async (...given: Parameters<typeof judgedReturn>) => {
    const said = await judgedReturn(...given);
    if (said === undefined || !('issue_ref' in said)) throw new Error('it was taken');
    return textAt(content, said.issue_ref);
  };

  it('a final answer is accepted as JSON that fits, as the schema converts it, bare or in one fenced block', async () => {
    const expected = { ok: true, note: 'none' };
    for (const text of [
      '{"ok":true}',
      ' {"ok":true}\n',
      'Here:\n```json\n{"ok":true}\n```\nDone.',
      '```\n{"ok":true}```'.replace('}```', '}\n```'),
    ]) {
      expect(await value(text)).toEqual(expected);
    }
  });

  it('a final answer that does not fit is refused with the problems for the model', async () => {
    expect(await issue('yes')).toMatch(/not what is to be returned\.\n- it is not JSON\nAnswer again/);
    expect(await issue('```json\n{"ok":true}\n```\n```json\n{"ok":false}\n```')).toMatch(/not JSON/);
    expect(await issue('{"ok":1}')).toMatch(/- ok: /);
    expect(
      await issue(
        '"x"',
        z.string().transform(() => Number.NaN),
      ),
    ).toMatch(/invalid_value/);
  });

  it.each([
    ['openings of blocks that nothing closes', '```a\n'.repeat(400_000)],
    ['one block that nothing closes', `\`\`\`json\n${'x'.repeat(2_000_000)}`],
    ['closed blocks', '```\n1\n```\n'.repeat(200_000)],
    ['blanks', ' '.repeat(2_000_000)],
  ])('a final answer of two million characters is read in linear time: %s', async (_, answer) => {
    const cost = await cpuMsOf(async () => expect(await issue(answer)).toContain('it is not JSON'));
    expect(cost).toBeLessThan(5_000);
  });

  it('a final answer may be any text when the agent has no return schema', async () => {
    expect(await judgedReturn('x', Verdict, null)).toBeUndefined();
    const params = await modelCall(content, [], {});
    const nobody: Build = { tool: () => undefined, tools: () => [], agent: () => undefined };
    const context = { params, content, signal: new AbortController().signal };
    const noDef = { ...params, def_ref: params.system_ref };
    await expect(recordedJudge(nobody).returns('x', { ...context, params: noDef })).rejects.toThrow(/invalid_bytes/);
  });
});

describe('asking for context', () => {
  it('context sources give their texts in the order of their lanes, and a failed source states its failure', async () => {
    const sources = [
      { name: 'task', lane: 'task' as const, load: () => 'the task' },
      { name: 'who', lane: 'identity' as const, load: (session: { key: string }) => `for ${session.key}` },
      { name: 'memory', lane: 'memory' as const, load: () => Promise.reject(new Error('no disk')) },
    ];
    const params = await modelCall(content, []);
    const context = { params, content, signal: new AbortController().signal };
    const said = await recordedJudge(buildWith([], { context: sources })).context(context);
    const shown = await Promise.all(
      said.map(async ({ lane, name, text_ref }) => [lane, name, await textAt(content, text_ref)]),
    );
    expect(shown).toEqual([
      ['identity', 'who', 'for s-1'],
      ['memory', 'memory', '[the context source memory failed: no disk]'],
      ['task', 'task', 'the task'],
    ]);
    expect(await recordedJudge(buildWith([])).context(context)).toEqual([]);
  });
});
