/** What decides, answers, settles, cancels, commands and asks for rights is held to what it means, whatever it is given. */
import { describe, expect, it } from 'vitest';
import { openKernelWorld, type World } from '../../../../src/index.js';
import { crashable } from '../../../support/crashable-store.js';
import { closeSound } from '../../../support/judge.js';
import { ask, lab, once, seen, start, tellCell } from '../../../support/lab.js';
import { ok, outside } from '../../../support/outside.js';
import { JUNK, verdictOn } from './junk.js';

const { app } = lab({
  *work(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'work', status);
  },
});

const fails = (): never => {
  throw new Error('it looks back');
};

/** Objects that run the caller's code when they are inspected. */
const HOSTILE: readonly (readonly [string, unknown])[] = [
  ['accessors that throw', Object.defineProperties({}, { id: { get: fails, enumerable: true }, as: { get: fails } })],
  ['a proxy that throws', new Proxy({}, { get: fails, has: fails, ownKeys: fails, getPrototypeOf: fails })],
  ['a proxy of a list that throws', new Proxy([], { get: fails, ownKeys: fails })],
  ['a proxy of a function that throws', new Proxy(fails, { get: fails, ownKeys: fails })],
  ['text that throws', { toString: fails, valueOf: fails, [Symbol.toPrimitive]: fails, toJSON: fails }],
  ['an error that throws', Object.defineProperty(new Error('x'), 'message', { get: fails })],
  ['a revoked proxy', revoked()],
];

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

type Call = (junk: never, world: World, id: string) => unknown;

const OUTCOME = { status: 'ok', payload: { got: 1 } } as const;
const RIGHTS = { holder: 'human:ann' } as const;
const ACCOUNT = { account: 'a', parent: null, limits: {} } as const;

/** Where something else than is meant may stand. */
const PLACES: readonly (readonly [place: string, call: Call])[] = [
  ['decide: item', (junk, world) => world.decide(junk, { approve: false })],
  ['decide: id', (junk, world) => world.decide({ id: junk } as never, { approve: false })],
  ['decide: digest', (junk, world, id) => world.decide({ id, digest: junk } as never, { approve: true })],
  ['decide: decision', (junk, world, id) => world.decide(id, junk)],
  ['decide: approve', (junk, world, id) => world.decide(id, { approve: junk })],
  ['decide: remember', (junk, world, id) => world.decide(id, { approve: true, remember: junk })],
  ['decide: options', (junk, world, id) => world.decide(id, { approve: false }, junk)],
  ['answer: item', (junk, world) => world.answer(junk, 1)],
  ['answer: id', (junk, world) => world.answer({ id: junk } as never, 1)],
  ['answer: options', (junk, world, id) => world.answer(`${id}.0`, 1, junk)],
  ['settle: effect', (junk, world) => world.settle(junk, OUTCOME)],
  ['settle: outcome', (junk, world, id) => world.settle(id, junk)],
  ['settle: status', (junk, world, id) => world.settle(id, { status: junk, payload: 1 })],
  ['settle: usage', (junk, world, id) => world.settle(id, { ...OUTCOME, usage: { tokens_in: junk } })],
  ['cancel: effect', (junk, world) => world.cancel(junk)],
  ['cancel: options', (junk, world, id) => world.cancel(id, junk)],
  ['cancel: graceMs', (junk, world, id) => world.cancel(id, { graceMs: junk })],
  ['cancel: as', (junk, world, id) => world.cancel(id, { as: junk })],
  ['rights: holder', (junk, world) => world.rights(junk)],
  ['account: name', (junk, world) => world.account(junk)],
  ['as: principal', (junk, world) => world.as(junk)],
  ['command: name', (junk, world) => world.command(junk, {} as never)],
  ['command: value', (junk, world) => world.command('sys/SetRights@1', junk)],
  ['command: holder', (junk, world) => world.command('sys/SetRights@1', { holder: junk })],
  ['command: exercise', (junk, world) => world.command('sys/SetRights@1', { ...RIGHTS, exercise: junk })],
  ['command: patterns', (junk, world) => world.command('sys/SetRights@1', { ...RIGHTS, grant: { may: { x: junk } } })],
  ['command: revision', (junk, world) => world.command('sys/SetRights@1', { ...RIGHTS, revision: junk })],
  ['command: limits', (junk, world) => world.command('sys/SetAccount@1', { ...ACCOUNT, limits: junk })],
  ['command: a limit', (junk, world) => world.command('sys/SetAccount@1', { ...ACCOUNT, limits: { x: junk } })],
  ['command: parent', (junk, world) => world.command('sys/SetAccount@1', { ...ACCOUNT, parent: junk })],
];

/** An effect that waits for approval, and how to make another when a call took it. */
async function given() {
  const store = crashable();
  const adapter = outside(once);
  adapter.answerAll(() => ok(1));
  const policy = [{ effect: '*', decision: 'require_approval' } as const, { send: '*', decision: 'allow' } as const];
  const world = await openKernelWorld({ store, app, policy, adapters: [adapter], recheckEvery: 1 });
  await ask(world, 'x', [start('work')]);
  const [item] = await world.pending();
  return { store, world, id: item?.id as string };
}

describe.each(PLACES)('given an invalid argument: %s', (place, call) => {
  it('an argument of another kind, or with getters, is refused by its name or accepted, and nothing is lost', async () => {
    const { store, world, id } = await given();
    const taken: string[] = [];
    for (const [name, junk] of [...JUNK, ...HOSTILE]) {
      const { head } = world;
      const verdict = await verdictOn(() => call(junk as never, world, id), `${place} given ${name}`);
      if (verdict.startsWith('accepted')) taken.push(name);
      else expect(world.head, `${place} given ${name}`).toEqual(head);
    }
    for (const [name] of HOSTILE) expect(taken, place).not.toContain(name);
    expect(world.closedBy).toBeUndefined();
    await world.pump();
    const waits = (await world.pending()).length;
    expect(waits + ((await seen(world, 'x'))?.length ?? 0), 'the effect waits, or its plan was told').toBe(1);
    await closeSound(world, store, app);
  });
});
