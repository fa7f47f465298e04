/** The bridge between programs and the owner of their session: real processes and sockets. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { memory, readFrame, type Store, verifyStore } from '@reprise/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import { deep } from '../../../../conformance/part.js';
import { program } from '../../../../scripts/lib/program.js';
import { type AnyAgent, appOf } from '../../../agent/src/index.js';
import { relay } from '../../../reprise/src/external.js';
import { type AgentWorld, openWorld } from '../../../reprise/src/index.js';
import { type Bridge, type BridgeOptions, bridge } from '../../src/serve/index.js';
import { caller, type Owners, owners, ownRuntime, plainCaller, resident, TOOLS } from './stage.js';

process.env.CALLER_BRIDGE = await program(new URL('./bridge-program.ts', import.meta.url));

let runtime = '';

beforeEach(() => {
  runtime = ownRuntime();
});

interface Stage {
  readonly world: AgentWorld;
  readonly trees: Owners;
  readonly link: Bridge;
  readonly errors: readonly string[];
  /** A program that runs once for each turn, and one that lives as long as the world. */
  readonly once: AnyAgent;
  readonly living: AnyAgent;
  /** As the first, with the bridge from its sources. */
  readonly plain: AnyAgent;
  /** Plays a script, in a session of its own unless one is given. @returns what each step gave */
  readonly play: (script: readonly object[], agent?: AnyAgent, key?: string) => Promise<unknown[]>;
}

/** Opens a world, acts, closes it, and replays it without programs. @returns the errors that it reported */
async function within(
  act: (stage: Stage) => Promise<void>,
  options: BridgeOptions = {},
  store: Store = memory(),
): Promise<readonly string[]> {
  const errors: string[] = [];
  const link = bridge({ tools: () => TOOLS, ...options });
  const [once, living, plain] = [caller(link), resident(link), plainCaller(link)];
  const part = owners([once, living, plain]);
  const onError = (error: unknown) => void errors.push(String(error));
  const world = await openWorld({ store, models: { relay: relay() }, parts: [part], onError });
  const trees = world.part(part);
  try {
    const play = async (script: readonly object[], agent: AnyAgent = once, key?: string) => {
      const session = world.session(key ?? (await trees.start(agent)), agent);
      const run = await session.send(JSON.stringify(script));
      return JSON.parse(await run.text()) as unknown[];
    };
    await act({ world, trees, link, errors, once, living, plain, play });
  } finally {
    await world.close();
    await link.close();
  }
  const reader = await store.openReadonly();
  expect((await verifyStore(reader, { app: appOf([part]) })).unverified).toBe(0);
  await reader.close();
  return errors;
}

const spawn = (goal: string, more: object = {}) => ({ call: 'spawn', args: { goal }, ...more });

/** What a program noted of itself, and the file that it was given. */
async function noted(file: string) {
  // It is there before it is written.
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('}')).toBe(true);
  const note = JSON.parse(readFileSync(file, 'utf8')) as { runFile: string; pid: number; argv: string[] };
  const run = JSON.parse(readFileSync(note.runFile, 'utf8')) as { socket: string; token: string };
  return { ...note, ...run };
}

/** Sends lines to a socket, and reads what comes until it is closed, or until there are so many lines. */
function talk(socket: string, lines: readonly unknown[], until = 1): Promise<Record<string, unknown>[]> {
  return new Promise((resolve) => {
    const heard: Record<string, unknown>[] = [];
    const wire = connect(socket);
    createInterface({ input: wire })
      .on('error', () => undefined)
      .on('line', (line) => {
        heard.push(JSON.parse(line));
        if (heard.length === until) wire.destroy();
      });
    wire.on('error', () => undefined).on('close', () => resolve(heard));
    for (const line of lines) wire.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  });
}

const hello = (token: string, start = 'aaaaaaaa') => ({ hello: 'program', token, start });

deep('bridge: calls', () => {
  describe('a program with the tools of its owner', () => {
    it('a program lists the tools of its owner and calls one under the identity of its session', async () => {
      await within(async ({ play, trees }) => {
        expect(await play([{ list: true }, spawn('one'), spawn('two')])).toEqual([
          { tools: ['spawn', 'ask'] },
          { text: '{"node_id":1}' },
          { text: '{"node_id":2}' },
        ]);
        expect(await play([spawn('three')])).toEqual([{ text: '{"node_id":3}' }]);
        expect((await trees.state()).acts.map(({ session }) => session)).toEqual(['tree/1', 'tree/1', 'tree/2']);
      });
    });

    it('a program reaches its owner through the bridge that the owner names', async () => {
      await within(async ({ play, plain }) => {
        expect(await play([{ list: true }, spawn('one')], plain)).toEqual([
          { tools: ['spawn', 'ask'] },
          { text: '{"node_id":1}' },
        ]);
      });
    });

    it('a program that lives through several turns, and one that is started again, keep their tools', async () => {
      await within(async ({ play, trees, living, once }) => {
        for (const agent of [living, once]) {
          const key = await trees.start(agent);
          for (const goal of ['a', 'b', 'c']) {
            expect(await play([spawn(goal)], agent, key)).toEqual([
              { text: expect.stringMatching(/^{"node_id":\d}$/) },
            ]);
          }
        }
        expect((await trees.state()).acts).toHaveLength(6);
      });
    });

    it('a call that a program sends 1,000 times is one act, one after another or at once [TREE-38]', async () => {
      await within(async ({ play, trees }) => {
        const made = { text: '{"node_id":1}' };
        expect(await play([spawn('x', { id: 900, times: 1_000 })])).toEqual([made]);
        expect((await trees.state()).acts).toHaveLength(1);
        const atOnce = await play([spawn('y', { id: 'same', times: 1_000, atOnce: true })]);
        expect(atOnce).toEqual([{ text: '{"node_id":2}' }]);
        expect((await trees.state()).acts).toHaveLength(2);
      });
    });

    it('a call that is sent again in a later turn is not another act', async () => {
      await within(async ({ play, trees, living }) => {
        const key = await trees.start(living);
        const again = spawn('x', { id: 5, keep: true });
        for (const _ of [1, 2]) expect(await play([again], living, key)).toEqual([{ text: '{"node_id":1}' }]);
        expect(await play([spawn('y', { id: 6 })], living, key)).toEqual([{ text: '{"node_id":2}' }]);
        expect((await trees.state()).acts).toHaveLength(2);
      });
    });

    it('wrong arguments and unknown tools are answered in words, and do nothing', async () => {
      await within(async ({ play, trees }) => {
        const [wrong, extra, unknown, other, right] = await play([
          { call: 'spawn', args: { goal: 7 } },
          { call: 'spawn', args: { goal: 'x', more: 1 } },
          { call: 'stop', args: {} },
          spawn('x', { id: 5 }),
          spawn('y', { id: 5 }),
        ]);
        expect(wrong).toEqual({ refused: expect.stringMatching(/"code":"tool_args_invalid".*goal/) });
        expect(extra).toEqual({ refused: expect.stringMatching(/"code":"tool_args_invalid"/) });
        expect(unknown).toEqual({ error: 'Unknown tool: stop' });
        expect(other).toEqual({ text: '{"node_id":1}' });
        expect(right).toEqual({ text: '{"node_id":1}' });
        expect((await trees.state()).acts).toHaveLength(1);
      });
    });

    it('a call beyond the bound of a line is refused in words, and the program goes on', async () => {
      await within(async ({ play }) => {
        const [large, next] = await play([spawn('x'.repeat(300_000)), spawn('next')]);
        expect(large).toEqual({ refused: expect.stringContaining('"code":"too_large"') });
        expect(next).toEqual({ text: '{"node_id":1}' });
      });
    });

    it('a question is pending for a program that would give up, with notices before, and a repetition gets the answer [TREE-38]', async () => {
      const options = { withinMs: 1_500, progressMs: 400 };
      await within(async ({ play, trees }) => {
        const ask = { call: 'ask', args: { question: 'Keep it?' }, id: 77, notify: true };
        const playing = play([ask, { notices: true }, { wait: 1_000 }, ask]);
        await expect.poll(async () => (await trees.state()).waiting.length).toBe(1);
        setTimeout(() => void trees.answer('yes'), 1_700);
        const [pending, again, { notices }] = (await playing) as [unknown, unknown, { notices: string[] }];
        expect(pending).toEqual({ text: expect.stringMatching(/"status":"pending".*End your turn/) });
        expect(again).toEqual({ text: 'yes' });
        expect(notices.filter((method) => method === 'notifications/progress').length).toBeGreaterThanOrEqual(2);
        expect((await trees.state()).waiting).toEqual([]);
      }, options);
    });

    it('tools that change between two turns are told to a program that lives on', async () => {
      let tools = TOOLS;
      const options = { tools: () => tools };
      await within(async ({ play, trees, living }) => {
        const key = await trees.start(living);
        expect(await play([{ list: true, keep: true }], living, key)).toEqual([{ tools: ['spawn', 'ask'] }]);
        tools = TOOLS.slice(0, 1);
        expect(await play([{ list: true }], living, key)).toEqual([{ tools: ['spawn'] }]);
      }, options);
    });
  });
});

describe('the token of a program', () => {
  it('a token stands in a file of this user alone, for one program at a time, and ends with it [TREE-39]', async () => {
    const store = memory();
    let token = '';
    const errors = await within(
      async ({ play, trees, living }) => {
        const file = path.join(runtime, 'note');
        const key = await trees.start(living);
        const lateFile = path.join(runtime, 'late');
        const call = `${JSON.stringify({ call: 'n.1', name: 'spawn', args: { goal: 'late' } })}\n`;
        const late = {
          late: lateFile,
          after: 3_500,
          lines: [{ text: `${JSON.stringify(hello('{token}'))}\n` }, { text: call }],
        };
        const playing = play([{ list: true }, { note: file }, late, { wait: 1_500 }], living, key);
        const run = await noted(file);
        token = run.token;
        expect(Buffer.from(token, 'base64url')).toHaveLength(32);
        const modes = [run.runFile, run.socket, path.dirname(run.socket), path.dirname(run.runFile)];
        expect(modes.map((one) => (statSync(one).mode & 0o777).toString(8))).toEqual(['600', '600', '700', '700']);
        for (const pid of [run.pid, ...childrenOf(run.pid)]) expect(argvOf(pid)).not.toContain(token);
        expect(childrenOf(run.pid)).toHaveLength(1);
        expect(await talk(run.socket, [hello('x'.repeat(43))])).toEqual([{ error: 'forbidden' }]);
        await playing;
        // Between two turns the token is known, and no turn is under way.
        await expect.poll(() => existsSync(lateFile) && readFileSync(lateFile, 'utf8').endsWith(']')).toBe(true);
        expect(JSON.parse(readFileSync(lateFile, 'utf8'))[1]).toMatchObject({
          call: 'n.1',
          isError: true,
          texts: [expect.stringContaining('"code":"no_turn"')],
        });
        const printed = await play([{ raw: [{ text: `${JSON.stringify(hello('{token}x'))}\n` }] }], living, key);
        expect(printed).toEqual([[{ error: 'forbidden' }]]);
        process.kill(run.pid, 'SIGKILL');
        await expect.poll(async () => (await talk(run.socket, [hello(token)]))[0]?.error).toBe('no_turn');
        expect(existsSync(run.runFile)).toBe(false);
        expect((await trees.state()).acts).toEqual([]);
      },
      {},
      store,
    );
    const reader = await store.openReadonly();
    const texts = [errors.join()];
    for await (const { bytes, seq } of reader.journal.read(0)) texts.push(JSON.stringify(readFrame(bytes, seq).all));
    for await (const ref of reader.content.list()) texts.push(new TextDecoder().decode(await reader.content.get(ref)));
    await reader.close();
    expect(texts.length).toBeGreaterThan(10);
    expect(texts.filter((text) => text.includes(token))).toEqual([]);
    expect(filesIn(runtime).filter((name) => /run-|\.sock/.test(name))).toEqual([]);
  });

  deep('bridge: printed token', () => {
    it('a token that a program prints is removed from its answer', async () => {
      await within(async ({ world, trees, living }) => {
        const session = world.session(await trees.start(living), living);
        const file = path.join(runtime, 'note');
        const printing = session.send(JSON.stringify([{ list: true }, { note: file }, { wait: 800 }, { print: true }]));
        const { token } = await noted(file);
        const text = await (await printing).text();
        expect(text).toContain('[secret]');
        expect(text).not.toContain(token);
      });
    });
  });

  deep('bridge: second bridge', () => {
    it('a second bridge of one program is refused while the first is there', async () => {
      await within(async ({ play }) => {
        const [first, second, again] = await play([{ list: true }, { second: true }, spawn('still here')]);
        expect(first).toEqual({ tools: ['spawn', 'ask'] });
        expect(second).toEqual({ error: expect.stringContaining('in_use') });
        expect(again).toEqual({ text: '{"node_id":1}' });
      });
    });
  });

  deep('bridge: foreign token', () => {
    it('a program cannot call under the token of another one, nor outside of its own turn [TREE-30]', async () => {
      await within(async ({ play, trees, living, once }) => {
        const file = path.join(runtime, 'note');
        const playing = play([{ note: file }, { wait: 2_500 }], living);
        const run = await noted(file);
        const own = await play([spawn('mine')], once);
        expect(own).toEqual([{ text: '{"node_id":1}' }]);
        await playing;
        const state = await trees.state();
        expect(state.acts.map(({ session }) => session)).toEqual(['tree/2']);
        expect(run.socket).toContain(runtime);
      });
    });
  });
});

deep('bridge: hostile', () => {
  describe('hostile bridges', () => {
    const good = `${JSON.stringify({ hello: 'program', token: '{token}', start: 'bbbbbbbb' })}\n`;
    it.each<[string, readonly object[], RegExp | undefined]>([
      ['sends 1 GB without a line break', [{ text: good }, { flood: 1_024 }], /more than 262144 bytes/],
      ['sends 1 GB before it says who it is', [{ flood: 1_024 }], /more than 262144 bytes/],
      ['sends garbage', [{ text: good }, { text: 'GET / HTTP/1.1\r\n\r\n' }], /a line is no JSON/],
      ['sends a list', [{ text: good }, { text: '[1]\n' }], /a line is no object/],
      ['sends what nobody knows', [{ text: good }, { text: '{"shout":1}\n' }], /says nothing that is known/],
      [
        'names a call in an odd way',
        [{ text: good }, { text: '{"call":"../x","name":"spawn","args":{}}\n' }],
        /nothing that/,
      ],
      ['begins with garbage', [{ text: 'hello\n' }], /a line is no JSON/],
      ['begins as something unknown', [{ text: '{"hello":"root"}\n' }], /first line says nothing/],
      ['names no start', [{ text: `${JSON.stringify(hello('{token}', 'A B'))}\n` }], /names no start/],
    ])('a bridge that %s is closed with one report, and the program goes on', async (_, raw, report) => {
      const errors = await within(async ({ play }) => {
        // The script's own client has begun but has not called yet: the bridge connects with its first call.
        const gave = await play([{ raw }, spawn('after')]);
        expect(gave[1]).toEqual({ text: '{"node_id":1}' });
      });
      expect(errors).toEqual([expect.stringMatching(report ?? /./)]);
    });

    it('a bridge that goes on breaking the protocol loses its token', async () => {
      const raw = [{ text: good }, { text: 'garbage\n' }];
      const errors = await within(async ({ play, trees }) => {
        const gave = await play([...Array.from({ length: 12 }, () => ({ raw })), spawn('never')]);
        expect(gave.slice(8, 12)).toEqual(Array(4).fill([{ error: 'forbidden' }]));
        expect(gave[12]).toEqual({ error: expect.stringContaining('forbidden') });
        expect((await trees.state()).acts).toEqual([]);
      });
      expect(errors).toHaveLength(8);
    });

    it('connections that say nothing are closed, and do not keep others out', async () => {
      await within(async ({ play, link }) => {
        await link.listen();
        const socket = filesIn(runtime).find((name) => name.endsWith('.sock')) ?? '';
        const silent = Array.from({ length: 100 }, () =>
          connect(path.join(runtime, socket)).on('error', () => undefined),
        );
        const closed = Promise.all(silent.map((one) => new Promise((resolve) => one.once('close', resolve))));
        await closed;
        expect(await play([spawn('x')])).toEqual([{ text: '{"node_id":1}' }]);
      });
    });
  });
});

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' });
}

function argvOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}
