/** The doors of a world: who is let in at the people's, and for which node a program speaks. Real processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { RepriseError } from '@reprise/contracts';
import { memory } from '@reprise/kernel';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { program } from '../../../../scripts/lib/program.js';
import { hasPty, openTerminal } from '../../../../scripts/lib/terminal.js';
import { relay } from '../../../reprise/src/external.js';
import { openWorld } from '../../../reprise/src/index.js';
import { trees } from '../../src/index.js';
import { askOwner, bridge, hasOwner, type PeopleDoor, peopleDoor } from '../../src/serve/index.js';
import { type Pass, readPass, sign } from '../../src/serve/pass.js';
import { caller, ownRuntime } from './stage.js';

process.env.CALLER_BRIDGE = await program(new URL('./bridge-program.ts', import.meta.url));
const ASKER = await program(new URL('./asker.ts', import.meta.url));
const HOSTILE = fileURLToPath(new URL('./hostile.mjs', import.meta.url));
const PTY = fileURLToPath(new URL('../../../../scripts/lib/pseudo-terminal.py', import.meta.url));
const isLinux = process.platform === 'linux';

let runtime = '';
let world = '';
const doors: PeopleDoor[] = [];
const refused: string[] = [];
const done: string[] = [];

beforeEach(() => {
  runtime = ownRuntime();
  world = path.join(runtime, 'w.db');
});

afterEach(async () => {
  for (const door of doors.splice(0)) await door.close();
  refused.length = 0;
  done.length = 0;
});

async function open(commands: (verb: string) => Promise<unknown> = async (verb) => verb): Promise<PeopleDoor> {
  const door = peopleDoor({
    world,
    commands: async (verb) => {
      done.push(verb);
      return (await commands(verb)) as never;
    },
    onRefused: ({ message }) => void refused.push(message),
  });
  doors.push(door);
  await door.listen();
  return door;
}

/** A process of its own session, and so without a terminal, that asks the owner. @returns what it was told */
async function asking(args: readonly string[] = [], env: NodeJS.ProcessEnv = process.env): Promise<unknown> {
  const child = spawn(process.execPath, [ASKER, `--world=${world}`, ...args], { detached: true, env });
  return JSON.parse(await outputOf(child));
}

async function outputOf(child: ChildProcess): Promise<string> {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (more) => {
    text += more;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return text;
}

const OK = { ok: true, value: 'stop' };
const DENIED = { ok: false, code: 'cap_denied', message: expect.stringContaining('was refused') };

describe('the people’s door of a world', () => {
  it('a command with the owner’s token is executed by the owner, and its refusal is told with its code [TREE-42]', async () => {
    expect(await askOwner(world, 'stop', { node: 3 })).toBeUndefined();
    const { token } = await open(async (verb) => {
      if (verb === 'break') throw new RepriseError('invalid_argument', 'no such node');
      if (verb === 'large') return 'x'.repeat(300_000);
      return verb === 'hang' ? new Promise(() => undefined) : { verb };
    });
    expect(await askOwner(world, 'stop', null, { token })).toEqual({ ok: true, value: { verb: 'stop' } });
    expect(await askOwner(world, 'break', null, { token })).toMatchObject({ ok: false, code: 'invalid_argument' });
    expect(await askOwner(world, 'large', null, { token })).toMatchObject({ ok: false, code: 'bound_exceeded' });
    await expect(askOwner(world, 'stop', 'x'.repeat(300_000), { token })).rejects.toThrow(/bound_exceeded/);
    const hanging = askOwner(world, 'hang', null, { token });
    const outcome = expect(hanging).rejects.toThrow(/world_closed/);
    await expect.poll(() => done.includes('hang')).toBe(true);
    await doors.pop()?.close();
    await outcome;
    expect(await askOwner(world, 'stop', null, { token })).toBeUndefined();
  });

  it('a process without a terminal and without the token is refused, and people are told [TREE-54]', async () => {
    const { token } = await open();
    expect(await asking()).toEqual(DENIED);
    expect(refused).toEqual([expect.stringMatching(/stop work\/#1 at the people’s door.*(terminal|person)/)]);
    expect(done).toEqual([]);
    expect(await asking([`--token=${token}`])).toEqual(OK);
    expect(refused).toHaveLength(1);
  });

  it.runIf(hasPty())('a process that a person starts at a terminal is let in with nothing to configure', async () => {
    await open();
    const tty = openTerminal(ASKER, [`--world=${world}`]);
    expect(await tty.ended).toBe(0);
    expect(JSON.parse(tty.out())).toEqual(OK);
    expect(refused).toEqual([]);
  });

  it.runIf(hasPty())('a process that carries the mark of programs is refused at a terminal, too', async () => {
    await open();
    const tty = openTerminal(ASKER, [`--world=${world}`], { env: { REPRISE_OWNER: '1-a-program' } });
    await tty.ended;
    expect(JSON.parse(tty.out())).toEqual(DENIED);
    expect(refused).toHaveLength(1);
    expect(done).toEqual([]);
  });

  it('a token that is forged, of another owner, or of one that has ended is refused [TREE-55]', async () => {
    const earlier = await open();
    await doors.pop()?.close();
    const { token } = await open();
    const [door, key] = token.split('.');
    const forged = `${door}.${'x'.repeat(43)}`;
    // The owner cannot prove itself to a key that it does not have: such a process gives it nothing.
    expect(await askOwner(world, 'stop', null, { token: forged })).toBeUndefined();
    expect(await askOwner(world, 'stop', null, { token: earlier.token })).toBeUndefined();
    await expect(askOwner(world, 'stop', null, { token: `${door}` })).rejects.toThrow(/no token of a tree/);
    await expect(askOwner(world, 'stop', null, { token: `${token}.${key}` })).rejects.toThrow(/no token of a tree/);
    const { socket } = passOf(world);
    const heard = await talk(socket, { hello: 'people', door, by: 'token', nonce: 'n' }, (said) => ({
      command: JSON.stringify({ coming: 'token', verb: 'stop', args: null }),
      signed: String(said.signed),
    }));
    expect(heard.at(-1)).toMatchObject({ refused: { code: 'cap_denied' } });
    const unknown = await talk(socket, { hello: 'people', door: '0123456789abcdef', by: 'pass', nonce: 'n' });
    expect(unknown).toEqual([{ refused: expect.objectContaining({ code: 'cap_denied' }) }]);
    expect(refused).toEqual([expect.stringMatching(/not signed/), expect.stringMatching(/not known/)]);
    expect(done).toEqual([]);
  });

  it('a command that was heard on one connection does nothing on another one [TREE-55]', async () => {
    const { token } = await open();
    const { socket, ...pass } = passOf(world);
    // A process between the two sides carries everything on, and keeps it.
    const kept: string[] = [];
    const away = `${socket}.away`;
    renameSync(socket, away);
    const between = createServer((near) => {
      const far = wireTo(away);
      near.on('data', (bytes) => {
        kept.push(String(bytes));
        far.write(bytes);
      });
      far.on('data', (bytes) => near.write(bytes));
      far.on('close', () => near.end());
      near.on('error', () => undefined).on('close', () => far.destroy());
    }).listen(socket);
    expect(await askOwner(world, 'stop', null, { token })).toEqual(OK);
    expect(kept.join('')).not.toContain(token.split('.')[1]);
    expect(kept.join('')).not.toContain(pass.key);
    between.close();
    const [hello = '{}', command = '{}'] = kept.join('').trim().split('\n');
    const heard = await talk(away, JSON.parse(hello), () => JSON.parse(command));
    expect(heard.at(-1)).toMatchObject({ refused: { code: 'cap_denied' } });
    expect(done).toEqual(['stop']);
  });

  it('a process that listens in the place of the owner is given no command [TREE-55]', async () => {
    const { token } = await open();
    const { socket } = passOf(world);
    rmSync(socket);
    const heard: string[] = [];
    const fake = createServer((wire) => {
      wire
        .on('error', () => undefined)
        .on('data', (bytes) => {
          heard.push(String(bytes));
          wire.write(`${JSON.stringify({ nonce: 'x', name: 'y', signed: 'z'.repeat(43) })}\n`);
        });
    }).listen(socket);
    expect(await askOwner(world, 'stop', null, { token })).toBeUndefined();
    expect(await hasOwner(world)).toBe(false);
    expect(heard).toHaveLength(2);
    expect(heard.join('')).not.toContain('stop');
    expect(heard.join('')).not.toContain(token.split('.')[1]);
    fake.close();
  });

  it('a door and its pass are open to this user only, end with their owner, and what a killed one left is removed [TREE-56]', async () => {
    const killed = await open();
    const left = passOf(world);
    doors.length = 0; // never closed, as if its process were killed
    await open();
    expect(existsSync(left.socket)).toBe(false);
    const { socket } = passOf(world);
    const file = path.join(
      runtime,
      'home',
      'reprise',
      'doors',
      readdirSync(path.join(runtime, 'home/reprise/doors'))[0] ?? '',
    );
    const modes = [file, socket, path.dirname(file), path.dirname(socket)].map((one) => statSync(one).mode & 0o777);
    expect(modes.map((mode) => mode.toString(8))).toEqual(['600', '600', '700', '700']);
    expect(await hasOwner(world)).toBe(true);
    await killed.close();
    expect(await hasOwner(world)).toBe(true);
    await doors.pop()?.close();
    expect([file, socket, path.dirname(socket)].filter((one) => existsSync(one))).toEqual([]);
  });

  it('without a home folder the token alone opens the door, and the owner is told so [TREE-54]', async () => {
    writeFileSync(path.join(runtime, 'home'), 'a file where the folder would be');
    const errors: string[] = [];
    const door = peopleDoor({
      world,
      commands: async (verb) => verb,
      onRefused: () => undefined,
      onError: (error) => void errors.push(String(error)),
    });
    doors.push(door);
    await door.listen();
    expect(errors).toEqual([expect.stringContaining('the pass for terminals cannot be written')]);
    expect(await askOwner(world, 'stop', null)).toBeUndefined();
    expect(await askOwner(world, 'stop', null, { token: door.token })).toEqual(OK);
  });

  it('the owner is told of the first attempts of a flood only [TREE-57]', async () => {
    await open();
    const { socket } = passOf(world);
    for (let i = 0; i < 40; i++) await talk(socket, { hello: 'people', door: 'x', by: 'pass', nonce: 'n' });
    expect(refused).toHaveLength(16);
  });
});

const SEED = 36_701;

/** Processes that know the key, and change one field of what they have signed. */
const ADVERSARIES = {
  'a process that claims another kind of connection': ['hello', 'hello'],
  'a process that names another door': ['hello', 'door'],
  'a process that comes by another way than its key': ['hello', 'by'],
  'a process that signs for another connection': ['hello', 'nonce'],
  'a process that signs another command': ['command', 'command'],
  'a process that signs otherwise': ['command', 'signed'],
} as const;

describe(`a command that was changed on its way (seed ${SEED})`, () => {
  it.each(Object.entries(ADVERSARIES))(
    '%s has nothing executed, and the owner goes on [TREE-55]',
    async (_, [line, field]) => {
      const { token } = await open();
      const key = token.split('.')[1] ?? '';
      const { socket, door } = passOf(world);
      const changed = fc.oneof(
        fc.jsonValue(),
        fc.constantFrom(
          'people',
          'pass',
          'token',
          door,
          key,
          'n',
          JSON.stringify({ coming: 'token', verb: 'pause', args: null }),
        ),
      );
      const command = JSON.stringify({ coming: 'token', verb: 'stop', args: null });
      const law = fc.asyncProperty(changed, async (value) => {
        const hello: Record<string, unknown> = { hello: 'people', door, by: 'token', nonce: 'n' };
        fc.pre(hello[field] !== value && command !== value);
        if (line === 'hello') hello[field] = value;
        await talk(socket, hello, ({ nonce }) => {
          const given = { command, signed: sign(key, ['command', 'n', String(nonce), command]) };
          return line === 'hello' ? given : { ...given, [field]: value };
        });
        expect(done).toEqual([]);
      });
      await fc.assert(law, { seed: SEED, numRuns: 60 / stepOf(4) });
      expect(await askOwner(world, 'stop', null, { token })).toEqual(OK);
    },
  );
});

const spawnNode = (goal: string, more: object = {}) => ({ call: 'spawn', args: { goal, prompt: `${goal}!`, ...more } });
const complete = (result: string) => ({ call: 'complete', args: { result } });

describe('the token of a program that is about to start', () => {
  it('a token counts for nobody before its program has started [TREE-59]', async () => {
    if (!isLinux) return; // other systems do not show what a process belongs to
    const errors: string[] = [];
    const link = bridge({ world, onError: (error) => void errors.push(String(error)) });
    const { signal } = new AbortController();
    const ctx = { session: { key: 'work/1' }, programEnded: signal, closing: signal } as never;
    await link.watch.starting(ctx);
    const [server] = await link.nodeTools(ctx);
    const run = JSON.parse(readFileSync(String(server && 'args' in server && server.args?.at(-1)), 'utf8'));
    const hello = { hello: 'program', token: run.token, start: 'aaaaaaaa' };
    const title = process.title;
    const heard = await talk(run.socket, hello, ({ name }) => {
      process.title = String(name); // this process is above all programs of the bridge
      return { named: true };
    });
    process.title = title;
    expect(heard.at(-1)).toEqual({ error: 'forbidden' });
    expect(errors).toEqual([
      expect.stringMatching(/the token of work\/1, to whose program process \d+ does not belong/),
    ]);
    await link.close();
  });
});

describe.runIf(isLinux && hasPty())('a hostile program of a tree', () => {
  it('a program is refused at the people’s door, as its sibling and as an ended node, finds no secret in what it is told of, and each attempt is told', async () => {
    const door = await open();
    const early = path.join(runtime, 'early');
    const victim = path.join(runtime, 'victim');
    const out = path.join(runtime, 'out');
    const ready = path.join(runtime, 'ready');
    const { XDG_STATE_HOME: home } = process.env;
    const tries = { world, home, sibling: victim, ended: early, asker: ASKER, pty: PTY, out };
    const plan = [
      [['node 1', 'Results of your children'], [complete('all')]],
      [['node 1'], [spawnNode('early'), spawnNode('victim'), spawnNode('hostile', { blocked_by: [2] })]],
      [['node 2'], [{ copy: early }, complete('early')]],
      [['node 3'], [{ list: true }, { copy: victim }, { until: ready }, complete('unharmed')]],
      [['node 4'], [{ until: victim }, { exec: [HOSTILE, JSON.stringify(tries)] }, complete('tried')]],
    ];
    const file = path.join(runtime, 'plan.json');
    writeFileSync(file, JSON.stringify(plan));
    const errors: string[] = [];
    const link = bridge({ world, onError: (error) => void errors.push(String(error)) });
    const agent = caller(link, 'caller', { CALLER_PLAN: file, RT: runtime });
    const part = trees({ agents: [agent], bridge: link });
    await using opened = await openWorld({ store: memory(), models: { relay: relay() }, parts: [part] });
    const tree = await opened.part(part).start('work', { goal: 'Do it', limits: { attempts: 1 } });
    await expect.poll(() => existsSync(out)).toBe(true);
    writeFileSync(ready, '');
    expect(await tree.result()).toMatchObject({ status: 'complete' });
    const noted = JSON.parse(readFileSync(out, 'utf8'));
    const pass = passOf(world);

    // It finds the people's door in the list of sockets, and none of its secrets.
    expect(noted.doors).toEqual([path.dirname(pass.socket)]);
    for (const secret of [pass.key, door.token, pass.door, 'reprise/doors'])
      expect({ secret, told: noted.told.includes(secret) }).toEqual({ secret, told: false });
    // Every attempt is refused.
    expect(noted.own).toEqual([]);
    expect(noted.forged.at(-1)).toMatchObject({ refused: { code: 'cap_denied' } });
    expect(noted.guessed).toEqual([{ refused: expect.objectContaining({ code: 'cap_denied' }) }]);
    expect(noted.asPerson).toEqual([DENIED, DENIED, DENIED]);
    expect(noted.asSibling.at(-1)).toEqual({ error: 'forbidden' });
    expect(noted.asEnded).toEqual([{ error: 'no_turn' }]);
    // Every attempt is told, and nothing was done.
    expect(refused).toEqual([
      expect.stringMatching(/not signed with the pass/),
      expect.stringMatching(/not known/),
      ...Array(3).fill(expect.stringMatching(/stop work\/#1 .*belongs to a program of agents/)),
    ]);
    expect(errors).toEqual([
      expect.stringMatching(/first line says nothing that is known/),
      expect.stringMatching(/the token of work\/\d+, to whose program process \d+ does not belong/),
      expect.stringMatching(/the program of its token has ended/),
    ]);
    expect(done).toEqual([]);
    expect((await tree.nodes()).map(({ n, status }) => `${n} ${status}`)).toEqual([
      '1 complete',
      '2 complete',
      '3 complete',
      '4 complete',
    ]);
    await link.close();
  });
});

function wireTo(socket: string): Socket {
  return connect(socket).on('error', () => undefined);
}

function passOf(file: string): Pass {
  const pass = readPass(file);
  if (pass === undefined) throw new Error('there is no pass');
  return pass;
}

/** Sends a first line and answers what comes first. @returns what was heard before the connection was closed */
function talk(
  socket: string,
  first: object,
  next?: (said: Record<string, unknown>) => object,
): Promise<Record<string, unknown>[]> {
  return new Promise((resolve) => {
    const heard: Record<string, unknown>[] = [];
    const wire = wireTo(socket);
    createInterface({ input: wire })
      .on('error', () => undefined)
      .on('line', (line) => {
        heard.push(JSON.parse(line));
        if (heard.at(-1)?.answer !== undefined) wire.destroy();
        if (heard.length === 1 && next !== undefined) wire.write(`${JSON.stringify(next(heard[0] ?? {}))}\n`);
      });
    wire.on('close', () => resolve(heard));
    wire.write(`${JSON.stringify(first)}\n`);
  });
}
