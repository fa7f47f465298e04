/** Ends of programs, bridges and owners: real processes, killed and stopped. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { memory } from '@reprise/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { program } from '../../../../scripts/lib/program.js';
import { relay } from '../../../reprise/src/external.js';
import { openWorld } from '../../../reprise/src/index.js';
import { sqlite } from '../../../reprise/src/sqlite.js';
import { bridge } from '../../src/serve/index.js';
import type { Line } from '../../src/serve/lines.js';
import { beganAt, orphanWatch } from '../../src/serve/orphans.js';
import { placeOf } from '../../src/serve/place.js';
import { OwnerSocket } from '../../src/serve/socket.js';
import { caller, owners, ownRuntime, resident, TOOLS } from './stage.js';

const BRIDGE = await program(new URL('./bridge-program.ts', import.meta.url));
process.env.CALLER_BRIDGE = BRIDGE;
const HOST = await program(new URL('./host.ts', import.meta.url));

const started = new Set<number>();
let runtime = '';

beforeEach(() => {
  runtime = ownRuntime();
});

afterEach(() => {
  for (const pid of started) kill(pid);
  started.clear();
});

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

const isAlive = (pid: number): boolean => beganAt(pid) !== undefined;

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

async function noted(file: string) {
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('}')).toBe(true);
  return JSON.parse(readFileSync(file, 'utf8')) as { readonly pid: number; readonly runFile: string };
}

/** How long a call waits for an owner that is gone, in milliseconds. */
const RECONNECT_MS = 2_000;

/** How often an owner that is gone is called again. */
const CALLS = 20;

/** A bridge as its own process, whose owner is a socket of this one. */
class Beside {
  readonly child: ChildProcess;
  readonly lines: { readonly call: string; readonly name: string }[] = [];
  readonly #answers = new Map<
    number,
    (answer: { result: { content: { text: string }[]; isError?: boolean } }) => void
  >();
  #next = 1;
  /** Whether the owner answers. */
  answers = true;

  constructor(readonly socket: OwnerSocket) {
    const run = path.join(runtime, `${randomUUID()}.json`);
    writeFileSync(
      run,
      JSON.stringify({ socket: socket.place.socket, token: 't', name: 'tree', reconnectMs: RECONNECT_MS }),
    );
    this.child = spawn(process.execPath, [BRIDGE, '--run', run], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    started.add(this.child.pid ?? 0);
    createInterface({ input: this.child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const message = JSON.parse(line);
      this.#answers.get(message.id)?.(message);
    });
  }

  /** Answers calls as an owner. */
  serve(socket: OwnerSocket): OwnerSocket {
    socket.welcome('program', (_hello, wire) => {
      wire.send({ ok: true });
      return {
        line: (line: Line) => {
          if (line.list !== undefined)
            return wire.send({
              list: line.list,
              tools: [{ name: 'spawn', description: '', inputSchema: { type: 'object' } }],
            });
          this.lines.push(line as never);
          if (this.answers) wire.send({ call: line.call, texts: [`answer ${this.lines.length}`], isError: false });
        },
        over: () => undefined,
      };
    });
    return socket;
  }

  send(message: object): void {
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async call(): Promise<string> {
    const id = this.#next++;
    const answer = new Promise<{ result: { content: { text: string }[]; isError?: boolean } }>((resolve) => {
      this.#answers.set(id, resolve);
    });
    this.send({ id, method: 'tools/call', params: { name: 'spawn', arguments: { goal: 'x' } } });
    const { result } = await answer;
    return `${result.isError === true ? 'refused ' : ''}${result.content[0]?.text}`;
  }
}

describe('an owner that is gone', () => {
  it('a call waits for an owner that comes back, is sent again under its name, and is told at last that the owner is gone', async () => {
    const world = path.join(runtime, 'w.db');
    const first = new OwnerSocket({ place: placeOf(world) });
    const beside = new Beside(first);
    beside.serve(first);
    await first.listen();
    expect(await beside.call()).toBe('answer 1');
    beside.answers = false;
    const waiting = beside.call();
    await expect.poll(() => beside.lines.length).toBe(2);
    await first.close();
    beside.answers = true;
    const second = beside.serve(new OwnerSocket({ place: placeOf(world) }));
    expect(second.place.socket).toBe(first.place.socket);
    await second.listen();
    expect(await waiting).toBe('answer 3');
    expect(beside.lines.map(({ call }) => call)).toEqual(['n.1', 'n.2', 'n.2']);
    await second.close();
    const since = Date.now();
    expect(await beside.call()).toMatch(/^refused .*"code":"owner_gone"/);
    expect(Date.now() - since).toBeGreaterThan(0.9 * RECONNECT_MS);
    // None of these waits again: together they are over before as many waits could be.
    const again = Date.now();
    for (let call = 0; call < CALLS; call++) expect(await beside.call()).toMatch(/"code":"owner_gone"/);
    expect(Date.now() - again).toBeLessThan(CALLS * RECONNECT_MS);
    const ended = new Promise((resolve) => beside.child.once('exit', resolve));
    beside.child.stdin?.end();
    expect(await ended).toBe(0);
  });

  it('a socket that a killed process left is replaced, and is removed at the end', async () => {
    const world = path.join(runtime, 'w.db');
    const [dead, living] = [new OwnerSocket({ place: placeOf(world) }), new OwnerSocket({ place: placeOf(world) })];
    await dead.listen(); // never closed, as if its process were killed
    await living.listen();
    await dead.close();
    expect(existsSync(living.place.socket)).toBe(true);
    await living.close();
    expect(existsSync(living.place.socket)).toBe(false);
  });

  it('a folder that is open to others is refused', async () => {
    const socket = new OwnerSocket({ place: placeOf(path.join(runtime, 'w.db')) });
    mkdirSync(path.dirname(socket.place.socket), { mode: 0o755 });
    await expect(socket.listen()).rejects.toThrow(/the folder for sockets is not safe to use.*mode 755/);
  });
});

describe('a program that is stopped', () => {
  it.each(['a program that prints', 'a program that speaks a protocol'])(
    '%s is gone with its bridge and all its group after a cancel',
    async (which) => {
      const link = bridge({ tools: () => TOOLS });
      const agent = which === 'a program that prints' ? caller(link) : resident(link, 'node', 'turn');
      const part = owners([agent]);
      const world = await openWorld({ store: memory(), models: { relay: relay() }, parts: [part] });
      const key = await world.part(part).start(agent);
      const session = world.session(key, agent);
      const file = path.join(runtime, 'note');
      const script = [{ call: 'spawn', args: { goal: 'x' } }, { note: file }, { call: 'ask', args: { question: '?' } }];
      const run = await session.send(JSON.stringify(script));
      const { pid, runFile } = await noted(file);
      const group = [pid, ...childrenOf(pid)];
      expect(group).toHaveLength(2);
      await session.cancel();
      expect((await run.result()).stop.kind).toBe('Cancelled');
      await expect.poll(() => group.filter(isAlive)).toEqual([]);
      expect(existsSync(runFile)).toBe(false);
      await world.part(part).answer('too late');
      expect((await world.part(part).state()).ended).toEqual(['Cancelled']);
      await world.close();
      await link.close();
    },
  );
});

describe('a program of a node', () => {
  it('a program is gone when its turn has ended, and its session goes on in another one [TREE-34]', async () => {
    const link = bridge({ tools: () => TOOLS });
    const agent = resident(link, 'node', 'turn');
    const part = owners([agent]);
    const world = await openWorld({ store: memory(), models: { relay: relay() }, parts: [part] });
    const session = world.session(await world.part(part).start(agent), agent);
    const pids = [];
    for (const goal of ['a', 'b']) {
      const file = path.join(runtime, goal);
      const run = await session.send(
        JSON.stringify([{ call: 'spawn', args: { goal } }, { note: file }, { how: true }]),
      );
      expect(await run.text()).toContain(goal === 'a' ? '"new"' : '"load"');
      pids.push((await noted(file)).pid);
      expect(isAlive(pids.at(-1) ?? 0)).toBe(false);
    }
    expect(new Set(pids).size).toBe(2);
    expect((await world.part(part).state()).acts).toHaveLength(2);
    await world.close();
    await link.close();
  });
});

describe('a program that an earlier process left', () => {
  const ctx = { session: { key: 'tree/1' } } as never;
  const program = async () => {
    const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    started.add(child.pid ?? 0);
    await expect.poll(() => beganAt(child.pid ?? 0)).toBeDefined();
    return child.pid ?? 0;
  };

  it('a recorded group is killed before a program of its session is started, and others are left alone [TREE-40]', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'orphans-'));
    const [one, other] = [await program(), await program()];
    const { signal } = new AbortController();
    const earlier = orphanWatch(() => folder);
    earlier.started(ctx, { group: one, ended: signal });
    earlier.started({ session: { key: 'tree/2' } } as never, { group: other, ended: signal });
    await orphanWatch(() => folder).starting(ctx);
    expect([one, other].map(isAlive)).toEqual([false, true]);
    await orphanWatch(() => folder).starting(ctx);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('a process that was given the id of a recorded program is left alone', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'orphans-'));
    const stranger = await program();
    orphanWatch(() => folder).started(ctx, { group: stranger, ended: new AbortController().signal });
    const [name = ''] = readdirSync(folder);
    const recorded = JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
    writeFileSync(path.join(folder, name), JSON.stringify({ ...recorded, began: `${recorded.began}1` }));
    await orphanWatch(() => folder).starting(ctx);
    expect(isAlive(stranger)).toBe(true);
    for (const odd of ['', '{}', '{"group":1,"began":"x"}', '{"group":-5,"began":"x"}']) {
      writeFileSync(path.join(folder, name), odd);
      await orphanWatch(() => folder).starting(ctx);
    }
  });

  it.runIf(process.platform === 'linux')(
    'a program of a killed owner is ended before its session starts another one, which goes on with the tools',
    async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'owner-'));
      const owner = spawn(process.execPath, [HOST, folder], { stdio: 'inherit' });
      started.add(owner.pid ?? 0);
      const { pid } = await noted(path.join(folder, 'note-1'));
      started.add(pid);
      // Without its warden nothing ends the program with its owner.
      for (const warden of wardensOf(owner.pid ?? 0)) kill(warden);
      owner.kill('SIGKILL');
      await new Promise((resolve) => owner.once('exit', resolve));
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(isAlive(pid)).toBe(true);

      const file = path.join(folder, 'world.db');
      const link = bridge({ tools: () => TOOLS, world: file });
      const living = resident(link);
      const part = owners([living]);
      const world = await openWorld({ store: sqlite(file), models: { relay: relay() }, parts: [part] });
      const { acts } = await world.part(part).state();
      expect(acts).toEqual([{ session: 'tree/1', name: 'spawn' }]);
      await expect.poll(async () => (await world.part(part).state()).ended).toEqual(['Failed']);
      expect(isAlive(pid)).toBe(true);
      const run = await world
        .session('tree/1', living)
        .send(JSON.stringify([{ call: 'spawn', args: { goal: 'y' } }, { note: path.join(folder, 'note-2') }]));
      expect(await run.text()).toBe('[{"text":"{\\"node_id\\":2}"}]');
      expect(isAlive(pid)).toBe(false);
      expect((await noted(path.join(folder, 'note-2'))).pid).not.toBe(pid);
      expect((await world.verify()).frames).toBeGreaterThan(5);
      await world.close();
      await link.close();
    },
  );
});

function wardensOf(owner: number): readonly number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const isWarden = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(`REPRISE_OWNER=${owner}-`);
    } catch {
      return false;
    }
  };
  return pids.filter(isWarden).map(Number);
}
