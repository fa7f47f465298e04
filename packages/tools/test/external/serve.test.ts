/** MCP servers for external agents, and what the programs use: real processes, and a relay as the model. */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { memory, readFrame, type Store, verifyStore } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { agentApp } from '../../../agent/src/index.js';
import { type ExternalAgentOptions, externalAgent, relay } from '../../../reprise/src/external.js';
import { type AgentWorld, openWorld } from '../../../reprise/src/index.js';

const fileOf = (name: string) => new URL(name, import.meta.url).pathname;
const TOKEN = 'tk-7f3a91c2d84be65019ac';
const SPENT = { tokens_in: 850, tokens_out: 150 };

/** A program that mounts a server, which is started with a token. */
function mounter(options: Partial<ExternalAgentOptions> = {}) {
  const home = mkdtempSync(path.join(tmpdir(), 'mounter-'));
  let turns = 0;
  const ends: AbortSignal[] = [];
  const agent = externalAgent({
    name: 'mounter',
    command: [process.execPath, fileOf('./mounter.mjs')],
    protocol: 'acp',
    env: { MOUNTER_HOME: home },
    serve: ({ session, programEnded }) => {
      ends.push(programEnded);
      const env = { TELL_TOKEN: TOKEN, TELL_TURN: `${session.key} ${++turns}` };
      return [{ name: 'tell', command: process.execPath, args: [fileOf('./tell-server.mjs')], env }];
    },
    ...options,
  });
  const notes = () => {
    const file = path.join(home, 'notes');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    return lines.map((line) => JSON.parse(line) as { how?: string; config: string; mode: string; argv: string[] });
  };
  return { agent, notes, ends };
}

type Program = ReturnType<typeof mounter>['agent'];

/**
 * Opens a world, acts and closes it; then replays it, and looks for the token in its records, content and errors.
 *
 * @returns the errors that the world reported
 */
async function within(
  agent: Program,
  act: (world: AgentWorld) => Promise<void>,
  store: Store = memory(),
): Promise<string> {
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const world = await openWorld({ store, agents: [agent], models: { relay: relay() }, recheckEvery: 1, onError });
  try {
    await act(world);
  } finally {
    await world.close();
  }
  const reader = await store.openReadonly();
  await verifyStore(reader, { app: agentApp });
  const texts: string[] = [errors.map(String).join()];
  for await (const { bytes, seq } of reader.journal.read(0)) texts.push(JSON.stringify(readFrame(bytes, seq).all));
  for await (const ref of reader.content.list()) {
    texts.push(new TextDecoder().decode(await reader.content.get(ref)));
  }
  expect(texts.length).toBeGreaterThan(10);
  expect(texts.filter((text) => text.includes(TOKEN))).toEqual([]);
  await reader.close();
  return errors.map(String).join();
}

describe('a program with MCP servers', () => {
  it('the program mounts its servers when its session is opened, and again when it is loaded after a restart [TOOL-43]', async () => {
    const { agent, notes, ends } = mounter();
    const store = memory();
    await within(
      agent,
      async (world) => {
        const session = world.session('s', agent);
        expect(await (await session.send('one')).text()).toBe('told one (s 1) with [secret]');
        expect(await (await session.send('two')).text()).toBe('told two (s 1) with [secret]');
        expect(ends.map(({ aborted }) => aborted)).toEqual([false, false]);
      },
      store,
    );
    await expect.poll(() => ends.every(({ aborted }) => aborted)).toBe(true);
    await within(
      agent,
      async (world) => {
        const text = await (await world.session('s', agent).send('three')).text();
        expect(text).toBe('told three (s 3) with [secret]');
      },
      store,
    );
    expect(notes().map(({ how }) => how)).toEqual(['new', 'load']);
  });

  it('a program that prints finds its servers in a file that only its user can read, and that is gone after the turn [TOOL-43]', async () => {
    const { agent, notes, ends } = mounter({
      protocol: 'stdout',
      command: [process.execPath, fileOf('./mounter.mjs'), '--mcp-config={mcp_config}'],
      read: (output) => {
        const { result, usage } = JSON.parse(output);
        return { text: result, usage: { tokens_in: usage.input_tokens, tokens_out: usage.output_tokens } };
      },
    });
    await within(agent, async (world) => {
      const run = await world.session('s', agent).send('go');
      expect(await run.text()).toBe('told from a file (s 1) with [secret]');
      expect((await run.result()).usage).toMatchObject({ tokens_in: 30, tokens_out: 7 });
    });
    const [{ config, mode, argv } = { config: '', mode: '', argv: [] }] = notes();
    expect(mode).toBe('600');
    expect(argv).toEqual([`--mcp-config=${config}`]);
    expect(existsSync(config)).toBe(false);
    expect(existsSync(path.dirname(config))).toBe(false);
    expect(ends[0]?.aborted).toBe(true);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('no server today')), 'no server today'],
    ['gives no list', () => [{ name: 'a b', command: 'x' }] as never, 'no valid list of MCP servers'],
    [
      'gives an address to a program that takes none',
      () => [{ name: 'a', type: 'http' as const, url: 'http://127.0.0.1:1/mcp' }],
      'no MCP servers over http',
    ],
  ])('a turn fails when serve %s', async (_, serve, why) => {
    const { agent } = mounter({ serve });
    await within(agent, async (world) => {
      const run = await world.session('s', agent).send('go');
      expect((await run.result()).stop).toMatchObject({ kind: 'Failed', code: 'adapter_error/turn' });
    }).then((errors) => expect(errors).toContain(why));
  });
});

describe('a program that is watched', () => {
  it.each(['acp', 'stdout'] as const)(
    'a program that speaks %s is announced before it is started, and told with its group when it is',
    async (protocol) => {
      const heard: string[] = [];
      const ended: boolean[] = [];
      const { agent } = mounter({
        ...(protocol === 'acp'
          ? { protocol, lives: 'turn' }
          : { protocol, command: [process.execPath, fileOf('./mounter.mjs'), '--mcp-config={mcp_config}'] }),
        watch: {
          starting: ({ session }) => void heard.push(`starting ${session.key}`),
          started: ({ session }, program) => {
            heard.push(`started ${session.key}`);
            process.kill(-program.group, 0);
            program.ended.addEventListener('abort', () => ended.push(true));
          },
        },
      });
      await within(agent, async (world) => {
        for (const text of ['one', 'two']) await (await world.session('s', agent).send(text)).text();
        expect(heard).toEqual(['starting s', 'started s', 'starting s', 'started s']);
        await expect.poll(() => ended.length).toBe(2);
      });
    },
  );

  it.each(['starting', 'started'] as const)('a program is not run when %s throws', async (which) => {
    let group = 0;
    const fail = () => {
      throw new Error('not today');
    };
    const { agent, notes } = mounter({
      watch: {
        starting: which === 'starting' ? fail : () => undefined,
        started: (_, program) => {
          ({ group } = program);
          if (which === 'started') fail();
        },
      },
    });
    await within(agent, async (world) => {
      const run = await world.session('s', agent).send('go');
      expect((await run.result()).stop).toMatchObject({ kind: 'Failed' });
      expect(notes()).toEqual([]);
      if (group !== 0) await expect.poll(() => isGone(group)).toBe(true);
    });
  });
});

function isGone(group: number): boolean {
  try {
    process.kill(-group, 0);
    return false;
  } catch {
    return true;
  }
}

describe('what a program uses', () => {
  it.each([
    ['go', SPENT],
    ['refuse', SPENT],
    ['odd', { tokens_in: 0, tokens_out: 0 }],
  ])('the tokens that a program reports count in the usage of the run: %s [TOOL-44]', async (text, usage) => {
    const { agent } = mounter();
    await within(agent, async (world) => {
      const run = await world.session('s', agent).send(text);
      expect((await run.result()).usage).toMatchObject(usage);
    });
  });

  it('the tokens that a program reports count against the limits of the run [TOOL-44]', async () => {
    const { agent } = mounter({ limits: { tokens: 900 } });
    await within(agent, async (world) => {
      const { stop, usage } = await (await world.session('s', agent).send('one')).result();
      expect(stop).toEqual({ kind: 'LimitsExceeded', limit: 'max_tokens' });
      expect(usage).toMatchObject(SPENT);
    });
  });

  it('a turn whose output cannot be read fails the run', async () => {
    const agent = externalAgent({
      name: 'odd',
      command: ['/bin/echo', 'no json'],
      protocol: 'stdout',
      read: (output) => JSON.parse(output),
    });
    await within(agent, async (world) => {
      const run = await world.session('s', agent).send('go');
      expect((await run.result()).stop).toMatchObject({ kind: 'Failed', code: 'adapter_error/turn' });
    });
  });
});

describe('an external agent with servers', () => {
  it.each<[string, Partial<ExternalAgentOptions>]>([
    ['serve without a place for the file', { serve: () => [], command: ['x'] }],
    ['a place for the file without serve', { command: ['x', '{mcp_config}'] }],
    ['a length of life that is unknown', { lives: 'day' as never }],
    ['a watch that cannot hear', { watch: {} as never }],
    ['read for a program that speaks the protocol', { protocol: 'acp', read: () => ({ text: '' }) }],
  ])('an external agent is refused: %s', (_, options) => {
    const valid = { name: 'a', command: ['x'] as const, protocol: 'stdout' as const };
    expect(() => externalAgent({ ...valid, ...options })).toThrow(/invalid external agent/);
  });
});
