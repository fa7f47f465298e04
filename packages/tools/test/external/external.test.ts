/** Sessions of external agents: real processes, and a relay as the model. */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { memory, type Store, verifyStore } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { agentApp } from '../../../agent/src/index.js';
import { type ExternalAgentOptions, externalAgent, relay } from '../../../reprise/src/external.js';
import { type AgentWorld, openWorld } from '../../../reprise/src/index.js';
import { verifyRequests } from '../../../reprise/src/providers.js';

const PARROT = new URL('./parrot.mjs', import.meta.url).pathname;

/** A parrot agent, with its notes. */
function parrot(options: Partial<ExternalAgentOptions> = {}, loads = true) {
  const folder = mkdtempSync(path.join(tmpdir(), 'parrot-'));
  const notes = path.join(folder, 'notes');
  const env = { PARROT_NOTES: notes, ...(loads ? { PARROT_HOME: folder } : {}) };
  const command = [process.execPath, PARROT] as const;
  const agent = externalAgent({ name: 'parrot', command, protocol: 'acp', env, ...options });
  const lines = () => (existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []);
  return {
    agent,
    lines,
    pids: () => lines().flatMap((line) => (line.startsWith('started') ? [Number(line.slice(8))] : [])),
  };
}

type Parrot = ReturnType<typeof parrot>['agent'];

/** Opens a world, acts and closes it; then replays it with only the app. */
async function within(
  agent: Parrot,
  act: (world: AgentWorld) => Promise<void>,
  store: Store = memory(),
): Promise<void> {
  const world = await openWorld({ store, agents: [agent], models: { relay: relay() }, recheckEvery: 1 });
  try {
    await act(world);
  } finally {
    await world.close();
  }
  const reader = await store.openReadonly();
  await verifyStore(reader, { app: agentApp });
  const { different } = await verifyRequests(reader, { relay: relay() });
  expect(different).toEqual([]);
  await reader.close();
}

describe('a program that speaks the Agent Client Protocol', () => {
  it('the program receives the input of the session, and its output is the answer, word by word', async () => {
    const { agent } = parrot();
    await within(agent, async (world) => {
      const run = await world.session('s', agent).send('all is well');
      const deltas: string[] = [];
      for await (const one of run.stream()) if (one.type === 'delta') deltas.push(one.text);
      expect(await run.text()).toBe('all is well');
      expect(deltas).toEqual(['all ', 'is ', 'well']);
    });
  });

  it('the program keeps its own session across turns', async () => {
    const { agent, lines } = parrot();
    await within(agent, async (world) => {
      const session = world.session('s', agent);
      await (await session.send('one')).result();
      await (await session.send('two')).result();
      expect(await (await session.send('recall')).text()).toBe('I know: one | two');
      expect(lines().filter((line) => line.startsWith('new'))).toHaveLength(1);
    });
  });

  it.each([
    ['yes', { answer: 'yes' }, '[Write a.txt: completed]\nLeave: yes.'],
    ['no', { answer: 'no' }, '[Write a.txt: failed]\nLeave: no.'],
  ])('a permission request is answered by a person: %s', async (_, answer, said) => {
    const { agent } = parrot();
    await within(agent, async (world) => {
      const run = await world.session('s', agent).send('write it');
      await expect.poll(() => world.pending()).toHaveLength(1);
      const [item] = await world.pending();
      expect(item).toMatchObject({
        kind: 'question',
        question: { question: 'parrot asks for permission: Write a.txt' },
      });
      await world.decide(item ?? '', answer, { as: 'human:ann' });
      expect(await run.text()).toBe(said);
    });
  });

  it.each([
    ['allow', '[Write a.txt: completed]\nLeave: yes.'],
    ['deny', '[Write a.txt: failed]\nLeave: no.'],
  ] as const)('a permission request is answered by a rule: %s', async (permissions, said) => {
    const { agent } = parrot({ permissions });
    await within(agent, async (world) => {
      expect(await (await world.session('s', agent).send('write it')).text()).toBe(said);
    });
  });

  it('a cancelled turn is announced to the program, which then takes the next turn', async () => {
    const { agent, lines, pids } = parrot();
    await within(agent, async (world) => {
      const session = world.session('s', agent);
      const run = await session.send('wait for it');
      await expect.poll(lines).toContain('waiting');
      await session.cancel();
      expect((await run.result()).stop).toEqual({ kind: 'Cancelled' });
      expect(lines()).toContain('cancelled');
      expect(await (await session.send('hello')).text()).toContain('hello');
      expect(pids()).toHaveLength(1);
    });
  });

  it('a program that ignores the cancellation is killed', async () => {
    const { agent, lines, pids } = parrot();
    await within(agent, async (world) => {
      const session = world.session('s', agent);
      const run = await session.send('wait, stubborn');
      await expect.poll(lines).toContain('waiting');
      await session.cancel();
      expect((await run.result()).stop).toEqual({ kind: 'Cancelled' });
      await expect.poll(() => pids().filter(isRunning)).toEqual([]);
    });
  });

  it('a reopened world resumes the recorded session of the program', async () => {
    const { agent, lines, pids } = parrot();
    const store = memory();
    await within(agent, async (world) => void (await (await world.session('s', agent).send('one')).result()), store);
    await expect.poll(() => pids().filter(isRunning)).toEqual([]);
    await within(
      agent,
      async (world) => {
        expect(await (await world.session('s', agent).send('recall')).text()).toBe('I know: one');
      },
      store,
    );
    expect(lines().filter((line) => line.startsWith('loaded'))).toHaveLength(1);
  });

  it('a program that cannot resume a session receives the earlier conversation', async () => {
    const { agent } = parrot({}, false);
    const store = memory();
    await within(agent, async (world) => void (await (await world.session('s', agent).send('one')).result()), store);
    await within(
      agent,
      async (world) => {
        const said = await (await world.session('s', agent).send('two')).text();
        expect(said).toBe('The conversation so far:\n\nUser: one\n\nYou: one\n\nThe new message:\n\ntwo');
      },
      store,
    );
  });

  it('a program that dies in a turn fails the run, and the next turn starts another program [TOOL-40]', async () => {
    const { agent, pids } = parrot();
    await within(agent, async (world) => {
      const session = world.session('s', agent);
      expect((await (await session.send('die')).result()).stop).toEqual(FAILED);
      expect(await (await session.send('again')).text()).toContain('again');
      expect(pids()).toHaveLength(2);
    });
  });

  it('a program that refuses, or that does not exist, fails the run [TOOL-40]', async () => {
    const { agent } = parrot();
    await within(agent, async (world) => {
      expect((await (await world.session('s', agent).send('refuse')).result()).stop).toEqual(FAILED);
    });
    const gone = externalAgent({ name: 'gone', command: ['/no/such/program'], protocol: 'acp' });
    await within(gone, async (world) => {
      expect((await (await world.session('s', gone).send('hello')).result()).stop).toEqual(FAILED);
    });
  });
});

const FAILED = expect.objectContaining({ kind: 'Failed', code: 'adapter_error/turn' });

describe('a program that prints its answer', () => {
  const shell = (script: string) =>
    externalAgent({ name: 'shell', command: ['/bin/sh', '-c', script], protocol: 'stdout' });

  it('the program reads the prompt and prints the answer, and the next turn receives the earlier conversation', async () => {
    const agent = shell('printf "heard: "; cat');
    await within(agent, async (world) => {
      const session = world.session('s', agent);
      expect(await (await session.send('one')).text()).toBe('heard: one');
      expect(await (await session.send('two')).text()).toContain(
        'User: one\n\nYou: heard: one\n\nThe new message:\n\ntwo',
      );
    });
  });

  it('a program that fails fails the run, even if it printed something before [TOOL-40]', async () => {
    const agent = shell('echo half; echo "no paper" >&2; exit 3');
    await within(agent, async (world) => {
      const session = world.session('s', agent);
      expect((await (await session.send('go')).result()).stop).toEqual(FAILED);
    });
  });

  it('a program and its children are killed when its turn is cancelled', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'shell-')), 'pid');
    const agent = shell(`sleep 60 & echo $! > ${file}; wait`);
    await within(agent, async (world) => {
      const session = world.session('s', agent);
      const run = await session.send('go');
      await expect.poll(() => existsSync(file)).toBe(true);
      await session.cancel();
      expect((await run.result()).stop).toEqual({ kind: 'Cancelled' });
    });
    await expect.poll(() => isRunning(Number(readFileSync(file, 'utf8')))).toBe(false);
  });
});

describe('an external agent', () => {
  it('an invalid external agent is refused', () => {
    const valid = { name: 'a', command: ['x'] as const, protocol: 'acp' as const };
    for (const wrong of [
      { name: 'a b' },
      { name: 'x'.repeat(60) },
      { command: [] },
      { protocol: 'tcp' },
      { permissions: 'some' },
    ]) {
      expect(() => externalAgent({ ...valid, ...wrong } as never)).toThrow(/invalid external agent/);
    }
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
